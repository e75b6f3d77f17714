from __future__ import annotations

import subprocess

import pytest

from lastro.errors import CampaignInvalid
from lastro.export.keys import (
    config_without_keys,
    refuse_keys,
    variables_in,
    without_keys,
    words_without_keys,
)

KEY = "hf_" + "Canary0" * 5


@pytest.mark.parametrize(
    ("text", "left"),
    [
        (f"HF_TOKEN={KEY} pip install x", 'HF_TOKEN="${HF_TOKEN:?set it}" pip install x'),
        ("DB_PASSWORD='correct horse 1' x", 'DB_PASSWORD="${DB_PASSWORD:?set it}" x'),
        (f"x --token={KEY}", 'x --token="${TOKEN:?set it}"'),
        (f'WHATEVER="{KEY}" x', 'WHATEVER="${WHATEVER:?set it}" x'),
        ("HF_TOKEN=$MY_TOKEN x", "HF_TOKEN=$MY_TOKEN x"),
        ("EPOCHS=12 TOKEN=on x", "EPOCHS=12 TOKEN=on x"),
        ("tokenizer=bert-base-uncased-1", "tokenizer=bert-base-uncased-1"),
    ],
)
def test_a_key_that_is_assigned_leaves_its_name(text: str, left: str) -> None:
    assert without_keys(text) == left


@pytest.mark.parametrize(
    ("command", "shown"),
    [
        ("printf %s {api_key}", "the key"),
        ("printf %s 'Bearer '{api_key}", "Bearer the key"),
        ("printf %s {api_key} | cat", "the key"),
        ("printf %s {plain}", "it's plain"),
        ("printf '%s;' 'a {api_key} b' | cat", "a the key b;"),
        ("printf '%s;' \"a {api_key} b\" \\'{api_key} | cat", "a the key b;'the key;"),
        ("printf '%s;' 'a\\' {api_key} | cat", "a\\;the key;"),
    ],
)
def test_a_command_gets_a_key_from_its_environment(command: str, shown: str) -> None:
    """The words are read by a shell, as they are in an export."""
    words = words_without_keys(command, {"api_key": KEY, "plain": "it's plain"})

    assert KEY not in " ".join(words)
    done = subprocess.run(
        ["sh", "-c", " ".join(words)], env={"API_KEY": "the key", "PATH": "/usr/bin:/bin"},
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert done.stdout == shown


def test_without_it_the_shell_says_what_to_do() -> None:
    words = words_without_keys("printf %s {api_key}", {"api_key": KEY})

    done = subprocess.run(["sh", "-c", " ".join(words)], env={}, capture_output=True, text=True, check=False)

    assert done.returncode != 0
    assert "API_KEY: set it" in done.stderr


def test_a_configuration_has_the_name_in_its_place() -> None:
    assert config_without_keys({"api_key": KEY, "width": 3}) == {"api_key": "${API_KEY:?set it}", "width": 3}


def test_only_variables_that_hold_keys_have_to_be_set() -> None:
    used = variables_in(['x "${HF_TOKEN:?set it}" $HOME', "$AWS_SECRET_ACCESS_KEY ${STEPS}"])

    assert used == ("AWS_SECRET_ACCESS_KEY", "HF_TOKEN")


def test_a_key_that_is_left_is_refused_by_file_and_line() -> None:
    with pytest.raises(CampaignInvalid, match=r"start.sh:2: .*Hugging Face token") as refused:
        refuse_keys("start.sh", f"one\ntwo {KEY}\n")

    assert KEY not in refused.value.message

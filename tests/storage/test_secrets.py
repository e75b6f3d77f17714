"""What is taken for a secret, what is not, and what is left of a text. Every key is made up on the spot."""

from __future__ import annotations

from pathlib import Path

import pytest

from lastro.storage.secrets import (
    all_redacted,
    find,
    find_in_file,
    is_secret_name,
    redacted,
    secret_values,
)

#: Put together here, so that no file of the project holds what it looks for.
KEYS = {
    "an AWS access key": "AKIA" + "Q3EGZ7PLWM2XDN4T",
    "a Hugging Face token": "hf_" + "QwErTyUiOpAsDfGhJkLzXcVbNm12345678",
    "an API key that begins with sk-": "sk-" + "proj-" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6",
    "a GitHub token": "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8",
    "a Google API key": "AIza" + "SyD-a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P",
    "a Slack token": "xoxb" + "-123456789012-abcdefghijkl",
    "a private key": "-----BEGIN RSA " + "PRIVATE KEY-----\n" + "MIIEpAIBAAKCAQEA7bq9\n" * 8,
    "a signed web token (JWT)": "eyJ"
    + "hbGciOiJIUzI1NiJ9."
    + "eyJ"
    + "zdWIiOiIxMjM0In0."
    + "c2lnbmF0dXJlLWhlcmU",
}


@pytest.mark.parametrize("what", KEYS)
def test_a_key_is_known_by_its_shape_and_nothing_of_it_is_left(what: str) -> None:
    text = f"failed with {KEYS[what]} at step 3"

    assert next(item.what for item in find(text, {})) == what
    assert KEYS[what][8:40] not in redacted(text, {})
    assert redacted(text, {}).startswith("failed with [secret]")


def test_an_aws_secret_key_is_known_by_what_stands_before_it() -> None:
    text = "aws_secret_access_key = " + "wJalrXUtnFEMI/K7MDENG/bPxRfiCYzzzzzzKEYa"

    assert redacted(text, {}) == "[secret]"


@pytest.mark.parametrize(
    "text",
    [
        "AKIA" + "IOSFODNN7EXAMPLE",  # the specimen of AWS's own documentation
        "sk-learn and sk-toggleable__label-arrow-before-the-label-of-the-estimator",  # class names of a page
        "hf_hub_download and hf_transfer_is_enabled",
        "-----BEGIN PRIVATE KEY----- is how such a file begins",
        "eyJ is how base64 of a brace begins",
        "loss 0.25 at step 1200, 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
    ],
)
def test_what_only_resembles_a_key_is_left_alone(text: str) -> None:
    assert find(text, {}) == []
    assert redacted(text, {}) is text


@pytest.mark.parametrize(
    ("name", "secret"),
    [
        ("HF_TOKEN", True), ("AWS_SECRET_ACCESS_KEY", True), ("OPENAI_API_KEY", True), ("DB_PASSWORD", True),
        ("GH_PAT", True), ("wandb_api_key", True), ("TOKENIZERS_PARALLELISM", False), ("PATH", False),
        ("KEYBOARD", False), ("MONKEY", False), ("GNOME_KEYRING_CONTROL", False),
    ],
)  # fmt: skip
def test_a_variable_is_a_secret_by_a_part_of_its_name(name: str, secret: bool) -> None:
    assert is_secret_name(name) is secret


def test_values_that_are_words_switches_or_paths_are_no_secrets(tmp_path: Path) -> None:
    file = tmp_path / "credentials.json"
    file.touch()
    environment = {
        "A_TOKEN": "correct-horse", "B_TOKEN": "true", "C_TOKEN": "training", "D_KEY": "12345678",
        "E_CREDENTIALS": str(file), "F_PASSWORD": "allsmallletters", "G_PASSWORD": "allsmallletterslong",
        "OTHER": "Tr0ub4dor&3",
    }  # fmt: skip

    assert sorted(secret_values(environment)) == ["A_TOKEN", "G_PASSWORD"]


def test_values_are_replaced_wherever_they_stand_also_twice_and_inside_each_other() -> None:
    values = {"A_TOKEN": "correct-horse", "B_TOKEN": "horse-staple"}

    assert redacted("x correct-horse-staple y correct-horse", values) == "x [secret] y [secret]"


def test_keys_and_values_of_nested_facts_are_redacted_and_other_things_kept() -> None:
    values = {"A_TOKEN": "correct-horse"}

    facts = {"why": "no correct-horse", "n": 3, "list": ["correct-horse", None, 0.5], "correct-horse": True}

    assert all_redacted(facts, values) == {
        "why": "no [secret]", "n": 3, "list": ["[secret]", None, 0.5], "[secret]": True,
    }  # fmt: skip


def test_a_file_is_searched_to_its_end_in_pieces_and_the_line_is_told(tmp_path: Path) -> None:
    path = tmp_path / "big.bin"
    token = KEYS["a Hugging Face token"]
    piece = 1 << 22
    # Across the border of two pieces, among bytes that are no text.
    before = b"\xff\n" * ((piece - 16) // 2)
    path.write_bytes(before + b"xxx " + token.encode() + b"\n" + b"\0" * 100)

    assert find_in_file(path, {}) == ("a Hugging Face token", 1 + before.count(b"\n"))
    path.write_bytes(b"\xff\n" * piece)
    assert find_in_file(path, {}) is None


def test_a_value_that_is_no_ascii_is_found_in_a_file_too(tmp_path: Path) -> None:
    path = tmp_path / "a.py"
    path.write_text("first\npassword = 'Übergrößenträger'\n")

    assert find_in_file(path, {"A_PASSWORD": "Übergrößenträger"}) == (
        "the value of the variable A_PASSWORD",
        2,
    )

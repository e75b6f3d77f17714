from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lastro.errors import CampaignInvalid
from lastro.spec.load import load_campaign, load_faults, load_offers

from .conftest import LEAST

Refused = Callable[[str], CampaignInvalid]


@pytest.mark.parametrize(
    ("text", "line", "says"),
    [
        ("", None, "the file is empty"),
        ("# only a comment\n", None, "the file is empty"),
        ("- a\n- b\n", 1, "a list stands here"),
        ("just words\n", 1, "'just words' stands here"),
        ("a: 1\na: 2\n", 2, "the key 'a' was given before, in line 1"),
        ("a: [1\n", 2, "this is not YAML"),
        ("a: .nan\n", 1, ".nan is not a finite number"),
        ("a: -.inf\n", 1, "-.inf is not a finite number"),
        ("a: 1e999\n", 1, "1e999 is not a finite number"),
        ("a: !!python/object:os.system x\n", 1, "the tag"),
        ("a: *b\n", 1, "*b stands for nothing"),
        ("a: &b [*b]\n", 1, "*b stands for nothing"),
        ("<<: {a: 1}\n", 1, "merge key"),
        ("1: a\n", 1, "the key 1 is not a text"),
        ("? [a]\n: b\n", 1, "cannot be a key"),
        ("a: 1\n---\nb: 2\n", 2, "second document"),
        ("%YAML 1.1\n---\na: 1\n", None, "%YAML 1.1"),
        ("a: " + "[" * 40 + "]" * 40, 1, "nested more than 32 deep"),
        ("a: [" + "1, " * 10_001 + "]", 1, "more than 10000 values"),
        ("a: " + "9" * 5000, 1, "a number of 5000 digits"),
        ("\ta: 1\n", 1, "this is not YAML"),
    ],
)
def test_text_that_is_no_campaign_is_refused_with_its_place(
    refused: Refused, text: str, line: int | None, says: str
) -> None:
    error = refused(text)

    assert says in str(error)
    if line is not None:
        assert error.line == line


def test_aliases_cannot_blow_a_file_up(refused: Refused) -> None:
    bomb = "a0: &a0 [1, 1, 1, 1, 1, 1, 1, 1, 1, 1]\n" + "".join(
        f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]\n" for n in range(1, 9)
    )

    assert "more than 10000 values" in str(refused(bomb))


def test_yes_no_and_on_are_texts_and_010_is_ten(tmp_path: Path) -> None:
    path = tmp_path / "campaign.yaml"
    path.write_text(
        "campaign: c\ncommand: t\ncontrol: {a: yes, b: no, c: on, d: 010, e: 0x1F, f: true, g: 1_0}\n"
    )

    assert load_campaign(path).spec.control == {
        "a": "yes", "b": "no", "c": "on", "d": 10, "e": 31, "f": True, "g": "1_0",
    }  # fmt: skip


def test_an_alias_repeats_a_value(tmp_path: Path) -> None:
    path = tmp_path / "campaign.yaml"
    path.write_text("campaign: &n one\ncommand: t\ncontrol: {name: *n}\n")

    assert load_campaign(path).spec.control == {"name": "one"}


def test_a_file_that_is_not_there_is_told_as_such(tmp_path: Path) -> None:
    with pytest.raises(CampaignInvalid, match="there is no such file") as caught:
        load_campaign(tmp_path / "no.yaml")
    assert caught.value.hint is not None and "lastro init" in caught.value.hint


def test_a_folder_is_not_a_file(tmp_path: Path) -> None:
    with pytest.raises(CampaignInvalid, match="this is a folder"):
        load_campaign(tmp_path)


def test_binary_garbage_is_told_as_such(tmp_path: Path) -> None:
    path = tmp_path / "campaign.yaml"
    path.write_bytes(b"\x93NUMPY\xff\xfe")

    with pytest.raises(CampaignInvalid, match="no text in UTF-8"):
        load_campaign(path)


def test_a_huge_file_is_not_even_read(tmp_path: Path) -> None:
    path = tmp_path / "campaign.yaml"
    path.write_bytes(b"#" * (2**18 + 1))

    with pytest.raises(CampaignInvalid, match="larger than 256 KiB"):
        load_campaign(path)


def test_a_byte_order_mark_and_windows_line_ends_do_no_harm(tmp_path: Path) -> None:
    path = tmp_path / "campaign.yaml"
    path.write_bytes(b"\xef\xbb\xbf" + LEAST.replace("\n", "\r\n").encode())

    assert load_campaign(path).spec.campaign == "tiny"


def test_what_is_not_code_is_left_out_by_its_relative_path(tmp_path: Path) -> None:
    path = tmp_path / "campaign.yaml"
    path.write_text(
        LEAST + "disk: ./disk\noffers: prices/offers.yaml\ncorpus: {path: data/d.npz}\n"
        "deliverables: {m: {path: model.safetensors}}\n"
    )

    left_out = load_campaign(path).left_out(tmp_path / "other-disk", Path("/elsewhere"), None)

    assert left_out == (
        "campaign.yaml", "checklist.yaml", "data/d.npz", "disk",
        "export/container", "export/shell", "export/skypilot", "export/slurm", "faults.yaml", "lastro.lock",
        "model.safetensors", "other-disk", "prices/offers.yaml",
    )  # fmt: skip


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=150)
@given(data=st.binary(max_size=200))
def test_no_bytes_make_anything_but_a_clear_error(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "campaign.yaml"
    path.write_bytes(data)
    for load in (load_campaign, load_offers, load_faults):
        with pytest.raises(CampaignInvalid):
            load(path)


_SCALARS = st.sampled_from(
    ["1", "-1", "0.5", "true", "null", "~", "''", "'x'", "control", "72h", "60 USD", "10 %", "{}", "[]",
     "{a: 1}", "[1, 2, 3]", "[[]]", "{x: {y: z}}", "/etc", "'{a}'", "9" * 30, "*a",
     "&a 1", "2026-01-01", "auto"]
)  # fmt: skip
KEYS = st.sampled_from(
    ["campaign", "question", "window", "budget", "provider", "machines", "disk", "offers", "corpus", "setup",
     "command", "resume", "seed", "control", "variants", "stages", "stop", "checkpoint", "deliverables",
     "decision", "want", "jurisdictions", "faults", "x"]
)  # fmt: skip
_INNER = st.sampled_from(
    ["path", "rows", "changes", "priority", "person", "hours", "part", "run", "each", "after", "metric",
     "truth", "reload", "compare", "every", "keep", "better",
     "adopt_if", "name", "kind", "price", "step", "notice"]
)  # fmt: skip
FLOW = st.recursive(
    _SCALARS,
    lambda inner: (
        st.dictionaries(_INNER, inner, max_size=4).map(
            lambda items: "{" + ", ".join(f"{key}: {value}" for key, value in items.items()) + "}"
        )
        | st.lists(inner, max_size=3).map(lambda items: "[" + ", ".join(items) + "]")
    ),
    max_leaves=6,
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=300)
@given(items=st.dictionaries(KEYS, FLOW, max_size=8))
def test_no_combination_of_keys_and_values_makes_anything_but_a_campaign_or_a_clear_error(
    tmp_path: Path, items: dict[str, str]
) -> None:
    path = tmp_path / "campaign.yaml"
    path.write_text("".join(f"{key}: {value}\n" for key, value in items.items()))
    for load in (load_campaign, load_offers, load_faults):
        try:
            load(path)
        except CampaignInvalid as error:
            assert str(error).startswith(str(path))

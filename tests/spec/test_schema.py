"""The published JSON Schemas: made from the models, true of every example, and no stricter than lastro."""

from __future__ import annotations

import json
import re
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from lastro.cli import cli
from lastro.errors import CampaignInvalid
from lastro.spec import tree
from lastro.spec.load import load_campaign, load_faults, load_offers
from tests.spec.test_load import FLOW, KEYS
from tools.schema import FOLDER, MODELS, text_of

ROOT = Path(__file__).resolve().parents[2]
_HINT = "run: .venv/bin/python tools/schema.py"


@cache
def _validator(name: str) -> Draft202012Validator:
    schema = json.loads((FOLDER / f"{name}.json").read_text())
    Draft202012Validator.check_schema(schema)
    return Draft202012Validator(schema)


def _problems(name: str, value: Any) -> list[str]:
    return [f"{list(error.absolute_path)}: {error.message}" for error in _validator(name).iter_errors(value)]


@pytest.mark.parametrize("name", MODELS)
def test_what_is_published_is_what_the_models_say(name: str) -> None:
    assert (FOLDER / f"{name}.json").read_text(encoding="utf-8") == text_of(name), _HINT


def _files(name: str) -> list[Path]:
    return sorted([*ROOT.glob(f"examples/*/{name}*.yaml"), *ROOT.glob(f"tests/spec/*{name}.yaml")])


@pytest.mark.parametrize("name", MODELS)
def test_every_example_is_valid(name: str) -> None:
    files = _files(name)
    assert files
    for path in files:
        assert _problems(name, tree.parse(path.read_text(), str(path)).value) == [], path


def test_what_lastro_init_writes_is_valid(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "train.py").touch()
    assert CliRunner().invoke(cli, ["init"]).exit_code == 0

    written = tmp_path / "campaign.yaml"
    assert _problems("campaign", tree.parse(written.read_text(), "campaign.yaml").value) == []


def test_every_key_that_the_documentation_shows_is_known_and_valid() -> None:
    text = (ROOT / "docs/campaign-file.md").read_text()
    shown = 0
    for block in re.findall(r"```yaml\n(.*?)```", text, re.S):
        value = tree.parse(block, "docs").value
        for name, key in (("offers", "offers"), ("faults", "faults")):
            if isinstance(value.get(key), list):
                assert _problems(name, value) == [], block
        if not any(isinstance(value.get(key), list) for key in ("offers", "faults")):
            whole = {"campaign": "c", "command": "t", "control": {}, **value}
            assert _problems("campaign", whole) == [], block
        shown += 1
    assert shown > 20


def test_every_key_of_a_campaign_is_described() -> None:
    schema = json.loads((FOLDER / "campaign.json").read_text())

    assert [key for key, value in schema["properties"].items() if "description" not in value] == []


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("campaign", {"campaign": "c", "command": "t"}),
        ("campaign", {"campaign": "c", "command": "t", "control": {}, "windw": "72h"}),
        ("campaign", {"campaign": "a/b", "command": "t", "control": {}}),
        ("campaign", {"campaign": "c", "command": "t", "control": {}, "window": 72}),
        ("campaign", {"campaign": "c", "command": "t", "control": {}, "budget": "60 dollars"}),
        ("campaign", {"campaign": "c", "command": "t", "control": {}, "stop": [{"flor": 1}]}),
        ("campaign", {"campaign": "c", "command": "t", "control": {}, "machines": 0}),
        ("campaign", {"campaign": "c", "command": "t", "control": {}, "stages": {"run": {"hours": [1, 2]}}}),
        ("offers", {"offers": [{"name": "x", "kind": "monthly", "price": "1 USD"}]}),
        ("faults", {"faults": [{"run": "control", "step": -1}]}),
    ],
)
def test_an_editor_sees_common_mistakes(name: str, value: dict[str, Any]) -> None:
    assert len(_problems(name, value)) == 1


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=200)
@given(items=st.dictionaries(KEYS, FLOW, max_size=8))
def test_whatever_lastro_takes_the_schema_takes(tmp_path: Path, items: dict[str, str]) -> None:
    """A schema that refuses what lastro accepts would send people away from what works."""
    path = tmp_path / "file.yaml"
    text = "".join(f"{key}: {value}\n" for key, value in items.items())
    least = "".join(
        f"{key}: {value}\n"
        for key, value in {"campaign": "c", "command": "t", "control": "{}"}.items()
        if key not in items
    )
    for name, load in (("campaign", load_campaign), ("offers", load_offers), ("faults", load_faults)):
        path.write_text(text + (least if name == "campaign" else ""))
        try:
            load(path)
        except CampaignInvalid:
            continue
        assert _problems(name, tree.parse(path.read_text(), "file").value) == []

"""docs/plan-page.md shows what the program shows of examples/lots, on a day that does not move."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tools.sample_plan import LOTS, PAGE, paste, sample_plan, session

TEXT = PAGE.read_text(encoding="utf-8")


@pytest.fixture(autouse=True)
def _own_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What was measured in other campaigns changes a plan: it is not this home's."""
    monkeypatch.setenv("LASTRO_HOME", str(tmp_path / "home"))


EXAMPLES = sorted(file.stem for file in LOTS.glob("*.yaml") if not file.name.startswith("offers"))


@pytest.mark.parametrize("name", EXAMPLES)
def test_the_pasted_session_is_the_real_one(name: str) -> None:
    pytest.importorskip("highspy", reason="the bounds that are pasted are those of the extra `plan`")
    pasted = re.findall(rf"^```text\n(\$ lastro plan {name}\.yaml\n.*?)^```$", TEXT, re.M | re.S)

    assert pasted == [session(name)], "run: python tools/sample_plan.py --paste"


def test_a_session_that_is_out_of_date_would_be_replaced() -> None:
    old = "```text\n$ lastro plan late.yaml\nof yesterday\n```\n\n```sh\nlastro plan late.yaml\n```\n"

    new = paste(old)

    assert "of yesterday" not in new and session("late") in new
    assert new.endswith("```sh\nlastro plan late.yaml\n```\n")


def test_the_examples_are_the_numbers_of_the_article() -> None:
    """48 h of 72 leave 24; 30 h more make 78, and 6 too many."""
    assert sample_plan("campaign").slack_hours == 24
    assert sample_plan("late").slack_hours == -6

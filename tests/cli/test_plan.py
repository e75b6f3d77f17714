from __future__ import annotations

import io
import shutil
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from lastro import strictjson
from lastro.cli import main
from lastro.cli.plan_text import plan_text
from tests.plan.planning import ARTICLE, BASE, LOTS, VARIANTS, plan


@pytest.fixture(autouse=True)
def _own_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LASTRO_HOME", str(tmp_path / "home"))


@pytest.fixture
def campaign(tmp_path: Path) -> Path:
    folder = tmp_path / "work"
    folder.mkdir()
    (folder / "train.py").write_text("print(1)\n")
    (folder / "offers.yaml").write_text(LOTS)
    (folder / "campaign.yaml").write_text(BASE + ARTICLE + VARIANTS + "budget: 60 USD\noffers: offers.yaml\n")
    return folder / "campaign.yaml"


def lastro(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, dict[str, Any]]:
    with pytest.raises(SystemExit) as left:
        main([*arguments, "--json"])
    return int(left.value.code or 0), strictjson.loads(capsys.readouterr().out)


def test_a_plan_is_shown_and_nothing_is_written(campaign: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = sorted(campaign.parent.rglob("*"))

    code, shown = lastro(capsys, "plan", str(campaign))

    assert (code, shown["frozen"], shown["possible"]) == (0, False, True)
    assert shown["plan"]["total_hours"] == {"low": 35.0, "likely": 48.0, "high": 63.0}
    assert shown["plan"]["options"][0]["cost"] == {"amount": "47.14", "currency": "USD"}
    assert sorted(campaign.parent.rglob("*")) == before


def test_a_frozen_plan_lies_on_the_disk_and_freezes_once(
    campaign: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    _code, first = lastro(capsys, "plan", str(campaign), "--freeze")
    code, second = lastro(capsys, "plan", str(campaign), "--freeze")

    assert code == 0 and first["frozen"]
    assert second["digest"] == first["digest"], "the same plan is not frozen again with another date"
    assert (
        strictjson.read(campaign.parent / "lastro-disk" / "campaigns" / "tiny" / "plan.json") == first["plan"]
    )


def test_an_impossible_plan_is_shown_with_code_5_and_not_frozen(
    campaign: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    campaign.write_text(campaign.read_text().replace("60 USD", "40 USD"))

    shown = lastro(capsys, "plan", str(campaign))
    frozen = lastro(capsys, "plan", str(campaign), "--freeze")

    assert (shown[0], shown[1]["possible"]) == (5, False)
    assert (frozen[0], frozen[1]["error"]["kind"]) == (5, "PlanError")
    assert not (campaign.parent / "lastro-disk").exists()


def test_the_default_disk_is_no_part_of_the_code(campaign: Path, capsys: pytest.CaptureFixture[str]) -> None:
    _code, before = lastro(capsys, "plan", str(campaign), "--freeze")
    _code, after = lastro(capsys, "plan", str(campaign))

    assert after["plan"]["code_digest"] == before["plan"]["code_digest"]
    shutil.rmtree(campaign.parent / "lastro-disk")


def text_of(renderable: object) -> str:
    out = io.StringIO()
    Console(file=out, width=80, force_terminal=False).print(renderable)
    return out.getvalue()


def test_a_plan_fits_a_terminal_of_80_columns(tmp_path: Path) -> None:
    made = plan(tmp_path, ARTICLE + VARIANTS + "budget: 60 USD\n", LOTS)

    text = text_of(plan_text(made, [], frozen=False))

    assert max(len(line.rstrip()) for line in text.splitlines()) <= 80
    bars = [line for line in text.splitlines() if "█" in line]
    assert len(bars) == 7
    assert bars[1].index("█") > bars[0].rindex("█"), "the pilot begins when the preparation has ended"
    words = " ".join(text.split())
    assert "47.14 USD" in words and "← taken" in words and "not committed in the window: 24 h" in words


def test_an_unknown_duration_is_said_and_never_shown_as_zero(tmp_path: Path) -> None:
    text = text_of(plan_text(plan(tmp_path, VARIANTS, LOTS), [], frozen=True))

    assert "the duration is unknown" in text
    assert text.count("unknown") >= 4
    assert "0.00 USD" not in text and "0.0 s" not in text

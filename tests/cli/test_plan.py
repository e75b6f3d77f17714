from __future__ import annotations

import io
import re
import shutil
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from lastro import strictjson
from lastro.cli import main
from lastro.cli.plan_text import plan_text
from lastro.plan.model import Plan
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
    assert shown["options"][0]["cost"]["total"] == {"amount": "47.14", "currency": "USD"}
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


def test_a_reason_for_a_change_is_refused_where_nothing_is_frozen(
    campaign: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, shown = lastro(capsys, "plan", str(campaign), "--revise", "more time")

    assert (code, shown["error"]["next"]) == (2, "add --freeze, or leave --revise out")


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


def text_of(made: Plan, width: int = 80, **how: Any) -> str:
    out = io.StringIO()
    shown = plan_text(made, [], frozen=False, width=width, **how)
    Console(file=out, width=width, force_terminal=False).print(shown)
    return "\n".join(line.rstrip() for line in out.getvalue().splitlines())


@pytest.mark.parametrize("width", [36, 44, 60, 80, 140])
def test_a_plan_fits_its_terminal(tmp_path: Path, width: int) -> None:
    made = plan(tmp_path, ARTICLE + VARIANTS + "budget: 60 USD\n", LOTS)

    text = text_of(made, width)

    assert max(len(line) for line in text.splitlines()) <= min(width, 100)
    bars = [line for line in text.splitlines() if re.search("█.*[0-9]$", line)]
    assert len(bars) == 7, "a bar for each stage, however narrow it is"
    words = " ".join(text.split())
    assert "47.14 USD" in words and "three days" in words


def test_the_calendar_and_the_options_are_told_in_80_columns(tmp_path: Path) -> None:
    made = plan(tmp_path, ARTICLE + VARIANTS + "budget: 60 USD\n", LOTS)

    text = text_of(made)

    lines = text.splitlines()
    bars = {line.split("█")[0].strip(" ·"): line for line in lines if "█" in line}
    assert bars["pilot"].index("█") > bars["prepare"].rindex("█"), "it begins when the preparation has ended"
    assert re.search(r"run control .*█.*▒.* 4 +14 +0", bars["run control"])
    assert bars["prepare"].count("│") == 1, "the window's end"
    assert any(re.match(r"→ three days +47.14 USD +48 h +24 h", line) for line in lines)
    words = " ".join(text.split())
    assert "not committed in the window: 24 h" in words
    assert "fits · taken · cheapest that fits" in words
    assert "a month: it costs 390.00 USD, 330.00 USD more than the budget" in words
    assert words.index("lots in parallel") < words.index("Refused")
    assert "machine three days, 1 × 3 d 0 h 47.14 USD 47.14 USD a lot" in words


def test_a_campaign_of_which_little_is_known_is_told_in_few_lines(tmp_path: Path) -> None:
    """Seven of head and runs, two of calendar and cost, findings, two of preflight, three of what is next."""
    made = plan(tmp_path)

    lines = text_of(made).splitlines()

    assert len(lines) == 16 + len(made.findings)
    assert "Options" not in lines and not any(line.startswith("Disk") for line in lines)


def test_an_unknown_duration_is_said_and_never_shown_as_zero(tmp_path: Path) -> None:
    text = text_of(plan(tmp_path, VARIANTS, LOTS))

    assert "the duration is unknown" in text
    assert text.count("unknown") >= 4
    assert "0.00 USD" not in text and "0.0 s" not in text


def test_ten_refused_offers_are_shown_and_all_of_them_on_request(tmp_path: Path) -> None:
    many = "".join(
        f"  - {{name: dear {number:02}, kind: lot, price: 9{number:02} USD, term: 3d, gpu: X, source: s}}\n"
        for number in range(12)
    )
    made = plan(tmp_path, ARTICLE + VARIANTS + "budget: 60 USD\n", LOTS + many)
    count = sum(not option.offered for option in made.options)

    text, whole = text_of(made), text_of(made, show_all=True)

    assert count >= 12
    assert f"and {count - 10} more: --all shows them" in text
    assert "more: --all" not in whole
    assert all(f"{option.name}: " in whole for option in made.options if not option.offered)


def test_the_page_is_one_file_where_it_was_asked_for(
    campaign: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    page = tmp_path / "new" / "plan.html"

    code, shown = lastro(capsys, "plan", str(campaign), "--page", str(page))

    assert (code, shown["page"]) == (0, str(page))
    text = page.read_text(encoding="utf-8")
    assert text.startswith("<!doctype html>") and shown["digest"] in text
    assert sorted(path.name for path in page.parent.iterdir()) == ["plan.html"]


def test_a_page_that_cannot_be_written_is_refused_by_its_path(
    campaign: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "file").touch()

    code, told = lastro(capsys, "plan", str(campaign), "--page", str(tmp_path / "file" / "plan.html"))

    assert code == 8
    assert str(tmp_path / "file") in told["error"]["message"]

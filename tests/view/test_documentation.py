"""docs/report.md shows what the program shows, and names every key of its JSON."""

from __future__ import annotations

import io
import re
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console, RenderableType

from lastro.paths import CampaignFolder
from lastro.view.as_json import page_json
from lastro.view.model import with_report
from lastro.view.terminal import status, summary
from tools.sample_report import sample_page

TEXT = (Path(__file__).parents[2] / "docs" / "report.md").read_text(encoding="utf-8")


def shown(content: RenderableType) -> str:
    out = io.StringIO()
    Console(file=out, width=80, highlight=False).print(content)
    return "\n".join(line.rstrip() for line in out.getvalue().splitlines()) + "\n"


@pytest.mark.parametrize("running", [False, True])
def test_the_pasted_texts_are_what_the_terminal_shows(tmp_path: Path, running: bool) -> None:
    page = sample_page(CampaignFolder(tmp_path), running=running)
    page = with_report(page, "/disk/campaigns/digits/close/report.html")
    pasted = re.findall(r"```text\n(.*?)```", TEXT, re.S)
    assert pasted[running] == shown(status(page) if running else summary(page))


def test_every_key_is_documented(tmp_path: Path) -> None:
    value = page_json(sample_page(CampaignFolder(tmp_path), running=True))
    named = set(re.findall(r"`(\w+)`", TEXT[TEXT.index("## JSON") :]))
    groups: list[dict[str, Any]] = [value, value["decision"], value["cost"], value["plan"]]
    groups += [value[name][0] for name in ("runs", "deliverables", "interruptions", "machines", "now")]
    groups.append(value["runs"][0]["attempts"][0])
    assert {key for group in groups for key in group} - named == set()

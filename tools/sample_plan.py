"""Draw up the plans of examples/lots as on one fixed day, so that anybody can look at them, and paste them.

usage: python tools/sample_plan.py FOLDER     write a page for each example into FOLDER
       python tools/sample_plan.py --paste    put the sessions into docs/plan-page.md

The day is fixed, since a price grows old and a plan says so; a test compares the page with the program.
"""

from __future__ import annotations

import argparse
import io
import re
import sys
from datetime import datetime, timezone
from pathlib import Path

from rich.console import Console

from lastro.cli.plan_text import plan_text
from lastro.clock import ManualClock
from lastro.flow.freeze import draw_up
from lastro.plan.model import Plan
from lastro.view.plan_html import render_plan

ROOT = Path(__file__).resolve().parent.parent
LOTS = ROOT / "examples" / "lots"
PAGE = ROOT / "docs" / "plan-page.md"
DAY = datetime(2026, 11, 30, 12, 0, tzinfo=timezone.utc)
WIDTH = 80

_PASTED = re.compile(r"(?<=^```text\n)\$ lastro plan (\S+)\.yaml\n.*?(?=^```$)", re.M | re.S)


def sample_plan(name: str) -> Plan:
    """Return the plan of examples/lots/NAME.yaml as it is on the fixed day."""
    return draw_up(LOTS / f"{name}.yaml", ManualClock(DAY)).plan


def session(name: str) -> str:
    """Return what a terminal of 80 columns shows of it."""
    out = io.StringIO()
    shown = plan_text(sample_plan(name), [], frozen=False, width=WIDTH)
    Console(file=out, width=WIDTH, highlight=False).print(shown)
    lines = [line.rstrip() for line in out.getvalue().splitlines()]
    return "\n".join([f"$ lastro plan {name}.yaml", *lines]) + "\n"


def paste(text: str) -> str:
    """Return a page with each session as it is now."""
    return _PASTED.sub(lambda match: session(match[1]), text)


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("folder", type=Path, nargs="?")
    parser.add_argument("--paste", action="store_true", help="rewrite the sessions of docs/plan-page.md")
    options = parser.parse_args()
    if options.folder is not None:
        options.folder.mkdir(parents=True, exist_ok=True)
        for file in sorted(LOTS.glob("*.yaml")):
            if not file.name.startswith("offers"):
                page = options.folder / f"{file.stem}.html"
                page.write_text(render_plan(sample_plan(file.stem), [], frozen=False), encoding="utf-8")
                print(page)
    if options.paste:
        before = PAGE.read_text(encoding="utf-8")
        after = paste(before)
        PAGE.write_text(after, encoding="utf-8")
        print("docs/plan-page.md:", "unchanged" if after == before else "written")
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""Writes a page beside what it tells of: report.html for people, report.json for programs."""

from __future__ import annotations

from pathlib import Path

from lastro import atomic, strictjson
from lastro.paths import CampaignFolder
from lastro.view.as_json import page_json
from lastro.view.html import render
from lastro.view.model import with_report
from lastro.view.parts import Page


def write_report(page: Page, folder: CampaignFolder) -> tuple[Path, Path]:
    """Write both files durably, each whole or not at all, and return their paths.

    Raises:
        OSError: the folder cannot be written to.
    """
    told = with_report(page, str(folder.report_html))
    atomic.make_folder(folder.close)
    atomic.write_text(folder.report_html, render(told))
    atomic.write_text(folder.report_json, strictjson.pretty(page_json(told)))
    return folder.report_html, folder.report_json

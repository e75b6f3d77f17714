"""The face in a notebook: the report in a frame, without a script, and words where there is no browser."""

from __future__ import annotations

from html import unescape

from lastro.flow.notebook import Face
from lastro.view.html import render
from lastro.view.model import page_of
from tests.view.story import adopted


def test_the_frame_holds_the_whole_report_and_forbids_scripts() -> None:
    page = page_of(adopted().view())

    shown = Face(page)._repr_html_()

    assert shown.startswith('<iframe title="Adopt wide" sandbox srcdoc="')
    assert unescape(shown.split('srcdoc="', 1)[1].split('" style=', 1)[0]) == render(page)
    assert "<script" not in shown


def test_without_a_browser_it_is_words() -> None:
    assert repr(Face(page_of(adopted().view()))).startswith("Adopt wide  digits\n")

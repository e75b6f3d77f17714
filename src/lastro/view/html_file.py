"""Writes the report of any moment to a file of the user's; that of a closing is written by the closing."""

from __future__ import annotations

from pathlib import Path

from lastro import atomic
from lastro.view.parts import Page


def write_html(page: Page, path: Path) -> None:
    """Write the page, whole or not at all, in the place of what was there.

    Raises:
        OSError: the file cannot be written.
    """
    from lastro.view.html import render  # late: Jinja is for this alone

    atomic.make_folder(path.absolute().parent)
    atomic.write_text(path, render(page))

"""Writes the synthesis of a campaign where its owner keeps notes."""

from __future__ import annotations

from pathlib import Path

from lastro import atomic
from lastro.errors import UsageError
from lastro.locale import _


def write_page(text: str, path: Path) -> None:
    """Write the page; the same again changes nothing, and what somebody has added to one is not overwritten.

    Raises:
        UsageError: something else is there already.
    """
    if path.exists():
        if path.is_file() and path.read_bytes() == text.encode():
            return
        raise UsageError(
            _("{path} is there already, and is another page").format(path=path),
            hint=_("name another file: --synthesis FILE"),
        )
    atomic.make_folder(path.absolute().parent)
    atomic.write_text(path, text)

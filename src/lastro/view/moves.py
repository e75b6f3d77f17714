"""Offers that were left for others, in words. Pure."""

from __future__ import annotations

from lastro.journal.views import MoveView
from lastro.locale import _


def move_text(move: MoveView) -> str:
    """Return a move in a sentence; a person's word by which it does not hold any more stands behind it."""
    text = _("to {to}, because {why}").format(to=move.to, why=move.why)
    if move.reopened is None:
        return text
    return _("{text}; asked again since: {why}").format(text=text, why=move.reopened)

"""What a campaign has saved on another disk than the one that it begins on now: told, as it is not here."""

from __future__ import annotations

from collections.abc import Sequence

from lastro.clock import Clock
from lastro.errors import LastroError
from lastro.flow.session import Session, known_sessions
from lastro.journal.views import AttemptView, CampaignView
from lastro.locale import _


def left_elsewhere(session: Session, clock: Clock) -> str | None:
    """Say what this home knows of the same campaign on other disks; None where nothing was begun there.

    A campaign that has attempts on this disk goes on with them, and what ran elsewhere is history.
    """
    if any(run.attempts for run in session.view().runs):
        return None
    for other in reversed(known_sessions(session.home, clock)):
        same = (other.facts.name, other.facts.campaign_file) == (
            session.facts.name,
            session.facts.campaign_file,
        )
        if same and other.facts.key != session.facts.key and not other.is_closed():
            try:
                return lost_with(other.view(), other.facts.disk)
            except LastroError:
                return None  # its journal is damaged: `lastro status --all` says so
    return None


def lost_with(view: CampaignView, disk: str) -> str | None:
    """Say what lies on another disk; None where nothing was begun there. Pure."""
    saved = [(run.name, max(_steps(run.attempts), default=None)) for run in view.runs if run.attempts]
    if not saved:
        return None
    named = ", ".join(
        _("{run} up to step {step}").format(run=name, step=step)
        if step is not None
        else _("nothing of {run}").format(run=name)
        for name, step in saved
    )
    text = _("this campaign was begun on another disk ({disk}), which holds {named}; here it begins anew")
    return text.format(disk=disk, named=named)


def _steps(attempts: Sequence[AttemptView]) -> list[int]:
    return [life.committed_step for life in attempts if life.committed_step is not None]

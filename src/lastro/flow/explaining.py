"""Keeps what a person says of how a campaign went, beside its forecast, which stays as it was frozen."""

from __future__ import annotations

from lastro.errors import UsageError
from lastro.flow.noting import noting
from lastro.flow.session import Session
from lastro.journal.events import EventType
from lastro.journal.views import CampaignView, DoubtView
from lastro.locale import _


def explain_stage(session: Session, stage: str, run: str | None, why: str, hours: float | None) -> None:
    """Keep why a stage went otherwise than planned.

    Args:
        session: the campaign.
        stage: as the plan names it.
        run: the name of its run; None: of the stage as such.
        why: in the person's words.
        hours: how long it took, of a stage that nothing measures; None: not told.

    Raises:
        UsageError: the frozen plan has no such stage, or a living `lastro run` owns the campaign.
    """
    with noting(session) as writer:
        slots = _calendar(session.view())
        known = sorted({one for one, _run in slots})
        if stage not in known:
            raise UsageError(
                _("the plan has no stage '{stage}'; there are: {known}").format(
                    stage=stage, known=", ".join(known) or "-"
                )
            )
        if run is not None and (stage, run) not in slots:
            raise UsageError(_("stage '{stage}' has no run '{run}'").format(stage=stage, run=run))
        writer.append(EventType.STAGE_EXPLAINED, stage=stage, run=run, why=why, hours=hours)


def _calendar(view: CampaignView) -> list[tuple[str, str | None]]:
    if view.forecast is None:
        raise UsageError(_("this campaign has no frozen plan"), hint=_("run it with `lastro run`"))
    return [(str(slot["stage"]), slot.get("run")) for slot in view.forecast.get("calendar") or ()]


def settle_doubt(session: Session, number: int, why: str) -> DoubtView:
    """Keep what became of an uncertainty of the plan, by its place in the list, from 1."""
    with noting(session) as writer:
        doubts = session.view().doubts
        if not 1 <= number <= len(doubts):
            raise UsageError(
                _("there is no doubt {number}; there are {count}").format(number=number, count=len(doubts)),
                hint=_("`lastro explain` lists them"),
            )
        doubt = doubts[number - 1].text
        writer.append(EventType.DOUBT_SETTLED, doubt=doubt, why=why)
    return next(one for one in session.view().doubts if one.text == doubt)

"""Writing down what a person decides at a decision point of the plan; the next `lastro run` follows it."""

from __future__ import annotations

from pathlib import Path

from lastro.clock import Clock
from lastro.errors import LastroError, UsageError
from lastro.flow.deciding import REDUCE, REVISE, measured, next_point, standing_of
from lastro.flow.freeze import Durations, Sources, draw_up
from lastro.flow.ownership import require_owner
from lastro.flow.session import Session
from lastro.journal.events import EventType
from lastro.journal.streams import StreamWriter
from lastro.journal.views import CampaignView, DecisionView
from lastro.locale import _
from lastro.plan.model import Plan
from lastro.records import dataclass


@dataclass(frozen=True, kw_only=True)
class Decided:
    """What was written. `before`: the choice that it replaces; None when it is the first."""

    decision: DecisionView
    before: str | None
    left_out: tuple[str, ...]


def decide(session: Session, choice: str, why: str, clock: Clock) -> Decided:
    """Write a decision into the journal. Nothing is started, rented or changed by it.

    Until the next `lastro run` has begun to follow it, it can be replaced by another one.

    Args:
        session: the campaign.
        choice: one of `deciding.CHOICES`.
        why: the person's reason.
        clock: for the reduced plan, which is drawn up to see whether there is one.

    Raises:
        UsageError: nothing is awaited, it is followed already, or a living `lastro run` owns the campaign.
        StorageError: its disk is not there.
        Fenced: another home drives it.
    """
    session.require_disk()
    require_owner(session)
    with session.owned() as writer:
        if writer is None:
            raise UsageError(
                _("a `lastro run` drives campaign {name}; nothing can be decided now").format(
                    name=session.facts.name
                ),
                hint=_("it ends by itself when it waits for a decision; `lastro status` shows how far it is"),
            )
        decision = _open(session, writer)
        left_out = _left_out(session, clock) if choice == REDUCE else ()
        writer.append(EventType.DECISION_MADE, stage=decision.stage, choice=choice, why=why)
        session.mirror()
    made = session.view().open_decision
    assert made is not None, "a decision that was made just now is not followed"
    return Decided(decision=made, before=decision.choice, left_out=left_out)


def _open(session: Session, writer: StreamWriter) -> DecisionView:
    """Return what can be decided now; a point that was reached while home was away is recorded first."""
    for source, head in session.ingest().items():
        writer.append(EventType.STREAM_INGESTED, source=source, events=head.seq, head=head.digest)
    view = session.view()
    if view.plan is None or view.closed is not None:
        raise UsageError(
            _("campaign {name} has no plan that goes on").format(name=session.facts.name),
            hint=_("`lastro status` shows how it stands"),
        )
    plan = Plan.from_json(view.plan)
    reached = standing_of(plan, view).reached
    if reached is not None:
        writer.append(EventType.DECISION_AWAITED, **measured(reached, plan, view))
        view = session.view()
    decision = view.open_decision
    if decision is None:
        raise _nothing_awaited(plan, view)
    if decision.revised_at is not None:
        raise UsageError(
            _("it was decided to {choice} ({why}), and the plan was revised for it").format(
                choice=decision.choice, why=decision.why
            ),
            hint=_("`lastro run` goes on by it; `lastro plan --freeze --revise WHY` revises the plan again"),
        )
    return decision


def _nothing_awaited(plan: Plan, view: CampaignView) -> LastroError:
    last = view.decisions[-1] if view.decisions else None
    point = next_point(plan, view)
    if point is not None:
        hint = _("`lastro run` goes on to the end of {stage} and stops there").format(stage=point.stage)
    else:
        hint = _("a stage with `decide: true` is where a person decides; none is left in this plan")
    if last is not None:
        told = _(
            "nothing waits for a decision: after {stage} it was to {choice} ({why}), and that is followed"
        )
        return UsageError(
            told.format(stage=last.stage, choice=last.choice, why=last.why),
            hint=hint,
        )
    return UsageError(_("nothing waits for a decision"), hint=hint)


def _left_out(session: Session, clock: Clock) -> tuple[str, ...]:
    """Return the runs that the reduced protocol leaves out.

    Raises:
        UsageError: there is nothing that it would leave out.
    """
    file = Path(session.facts.campaign_file)
    draft = draw_up(
        file, clock, disk=session.disk.root, reduced=True, sources=Sources(durations=Durations.MEASURED)
    )
    if not draft.plan.left_out:
        raise UsageError(
            _("the reduced protocol leaves nothing out: every run that is left is required"),
            hint=_("decide continue, or revise and change the campaign file"),
        )
    return draft.plan.left_out


def what_follows(decided: Decided) -> str:
    """Say what a decision leads to."""
    if decided.decision.choice == REVISE:
        return _("change the campaign file, then `lastro plan --freeze --revise WHY`, then `lastro run`")
    if decided.decision.choice == REDUCE:
        told = _("`lastro run` revises the plan, leaves out {names}, and goes on from the last checkpoint")
        return told.format(names=", ".join(decided.left_out))
    return _("`lastro run` goes on from the last checkpoint")

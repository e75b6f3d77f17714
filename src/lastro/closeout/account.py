"""What an accepted output has cost. Undefined is a value here, and it comes with its reason. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal

from lastro.closeout.judge import Judgement, Verdict
from lastro.journal.views import CostView
from lastro.locale import _
from lastro.units import Money

#: The unit that counts runs instead of one deliverable.
RUN = "run"


def count_accepted(judgements: Sequence[Judgement], unit: str | None) -> int:
    """Return how many units were accepted: outputs named `unit`, or runs that have any.

    Duplicates count once, when `identity.mark_duplicates` has marked them.
    """
    counted = [one for one in judgements if one.verdict is Verdict.ACCEPTED and one.duplicate_of is None]
    if unit == RUN:
        return len({one.run for one in counted})
    return sum(one.name == unit for one in counted)


def why_none(judgements: Sequence[Judgement], unit: str | None) -> tuple[str, ...]:
    """Return why each output that could have been a unit was not accepted, a sentence each."""
    asked = [one for one in judgements if unit in (RUN, one.name)]
    return tuple(
        f"{one.run}/{one.path}: {one.verdict.value}: {one.why}"
        for one in asked
        if one.verdict is not Verdict.ACCEPTED
    )


def per_accepted(
    cost: CostView, accepted: int, unit: str | None, causes: Sequence[str] = ()
) -> tuple[Money | None, str | None]:
    """Return what one accepted unit has cost, or None with the reason why that is undefined.

    Args:
        cost: the bill; all of it is divided, also what was spent on runs that were not accepted.
        accepted: from `count_accepted`.
        unit: what is counted, as the decision rule names it; None for nothing.
        causes: from `why_none`.
    """
    if unit is None:
        return None, _("the decision rule names no unit")
    if accepted == 0:
        undefined = _("undefined: 0 accepted")
        return None, f"{undefined} ({'; '.join(causes)})" if causes else undefined
    if cost.total is None:
        return None, cost.reason
    return cost.total.times(Decimal(1) / accepted), None

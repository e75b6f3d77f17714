"""Whether a plan can be carried out at all."""

from __future__ import annotations

from lastro.errors import PlanError
from lastro.locale import _
from lastro.plan.levels import FAIL
from lastro.plan.model import Plan
from lastro.plan.parts import REDUCED

#: What another option than the one that is taken may answer.
_OF_THE_OPTION = {"window_too_short", "over_budget"}


def is_possible(plan: Plan) -> bool:
    """Say whether an option that is offered fits what is known of the limits, and nothing else forbids it."""
    failed = {finding.code for finding in plan.findings if finding.level == FAIL}
    fits = any(option.fits for option in plan.options)
    return not failed or (fits and failed <= _OF_THE_OPTION)


def require_possible(plan: Plan) -> None:
    """Raise PlanError when the plan's own numbers say that what it takes cannot work."""
    impossible = [finding.text for finding in plan.findings if finding.level == FAIL]
    if not impossible:
        return
    hint = _("reduce or drop an optional variant, widen the window or the budget, or name other offers")
    less = next((one for one in plan.options if one.fits and one.protocol == REDUCED), None)
    if less is not None and plan.protocol != REDUCED:
        hint = _("without {runs} it fits: `lastro plan --reduced --freeze`; or {others}").format(
            runs=", ".join(less.left_out) or _("what is not required"), others=hint
        )
    raise PlanError("; ".join(impossible), hint=hint)

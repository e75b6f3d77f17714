"""The option for what has no price of its own: every field is there, and says that nothing is known."""

from __future__ import annotations

from dataclasses import replace

from lastro.plan.parts import WHOLE, Cost, Option

#: Money is counted in micro-units for the proof, so that less than this part of a cost is rounding.
NOTHING_LEFT = 1e-6

_NOTHING = Cost(total=None, low=None, high=None, at_least=None, lines=())


def unpriced(name: str, kind: str, machines: int, why: str) -> Option:
    """Return the option for an offer that cannot be taken: there is nothing to price."""
    return Option(
        name=name,
        roles=(),
        offered=False,
        why=why,
        offer=name,
        kind=kind,
        protocol=WHOLE,
        left_out=(),
        machines=machines,
        holdings=(),
        cost=replace(_NOTHING, why=why),
        end=None,
        slack_hours=None,
        fits_window=None,
        fits_budget=None,
        p_late=None,
        p_over_budget=None,
        draws=None,
        bound=None,
        gap=None,
        proven=False,
        per_unit=None,
        notes=(),
        calendar=(),
    )

"""Durations from what was measured: low, likely, high, with their origin and the number of observations."""

from __future__ import annotations

import math
from collections.abc import Sequence
from datetime import datetime
from statistics import median

from lastro.errors import UsageError
from lastro.locale import _, ngettext
from lastro.plan.parts import Span
from lastro.records import dataclass

#: From so many observations on they stand alone; below, what was declared counts as `PRIOR_WEIGHT` of them.
ENOUGH = 3
PRIOR_WEIGHT = 2
#: Farther from the median than so many times 1.4826 median distances from it: told as unusual.
#: Source: B. Iglewicz, D. C. Hoaglin, How to Detect and Handle Outliers, 1993, who take 3.5.
UNUSUAL = 3.5
_LEAST_FOR_UNUSUAL = 5


@dataclass(frozen=True, kw_only=True)
class Observation:
    """How long it once took. `gpu`: the class of the card, None for none; `when` it ended, aware."""

    hours: float
    gpu: str | None
    when: datetime
    campaign: str


@dataclass(frozen=True, kw_only=True)
class Estimate:
    """A duration with its origin. `span` None: unknown.

    `count`: observations of this class of GPU that went in. `unusual`: those of them that lie far from the
    others; they went in too. `other_classes`: observations that did not, because the card was another one.
    """

    span: Span | None
    origin: str
    count: int
    unusual: tuple[Observation, ...]
    other_classes: int
    why: str


def estimate(
    observations: Sequence[Observation], *, gpu: str | None, declared: Span | None = None
) -> Estimate:
    """Return how long a stage takes, from what was measured and what was declared.

    Without an observation it is what was declared. With one or two, likely is the mean of them and of what
    was declared, which counts as two, and low and high reach as far as either. From three on what was
    measured stands alone: likely is the median, and low and high lie (largest - smallest) / (n - 1) beyond
    the smallest and the largest, low at half of the smallest at least, because the next one of n + 1
    exceeds the largest so far once in n + 1 times. Nothing is left out for being unusual.

    Source of the step beyond: the unbiased estimate of the ends of a uniform distribution from n values.

    Args:
        observations: of this stage, in this and earlier campaigns, in any order.
        gpu: the class of the card it will run on; others do not count.
        declared: what the campaign file says; None: nothing.

    Raises:
        UsageError: an observation is no positive number of hours.
    """
    for found in observations:
        if not math.isfinite(found.hours) or found.hours <= 0:
            raise UsageError(_("nothing takes {hours} h").format(hours=found.hours))
    seen = sorted((found for found in observations if found.gpu == gpu), key=lambda found: found.hours)
    others = len(observations) - len(seen)
    if not seen:
        return Estimate(
            span=declared,
            origin=_("declared") if declared else _("unknown"),
            count=0,
            unusual=(),
            other_classes=others,
            why=_without(declared, gpu, others),
        )
    span, why = _few(seen, declared) if len(seen) < ENOUGH else (_many(seen), _("measured alone"))
    outside = declared is not None and not (declared.low <= seen[0].hours and seen[-1].hours <= declared.high)
    if outside:
        why = _("{why}; what was measured lies outside of what was declared").format(why=why)
    unusual = _unusual(seen)
    if unusual:
        told = ", ".join(f"{found.hours:g} h ({found.campaign})" for found in unusual)
        why = _("{why}; unusual, and counted: {told}").format(why=why, told=told)
    return Estimate(
        span=span,
        origin=_origin(seen, declared),
        count=len(seen),
        unusual=unusual,
        other_classes=others,
        why=why,
    )


def _without(declared: Span | None, gpu: str | None, others: int) -> str:
    why = _("nothing was measured") if declared else _("nothing was declared or measured")
    if others:
        told = ngettext(
            "{count} observation on another card does not count for {gpu}",
            "{count} observations on other cards do not count for {gpu}",
            others,
        ).format(count=others, gpu=gpu or _("none"))
        why = f"{why}; {told}"
    return why


def _few(seen: Sequence[Observation], declared: Span | None) -> tuple[Span, str]:
    """Return the span of one or two observations, with what was declared where there is something."""
    hours = [found.hours for found in seen]
    if declared is None:
        span = Span(low=hours[0], likely=sum(hours) / len(hours), high=hours[-1])
        return span, _("too few to know how it spreads")
    likely = (declared.likely * PRIOR_WEIGHT + sum(hours)) / (PRIOR_WEIGHT + len(hours))
    span = Span(low=min(declared.low, hours[0]), likely=likely, high=max(declared.high, hours[-1]))
    return span, _("what was declared counts as {weight} observations").format(weight=PRIOR_WEIGHT)


def _many(seen: Sequence[Observation]) -> Span:
    hours = [found.hours for found in seen]
    beyond = (hours[-1] - hours[0]) / (len(hours) - 1)
    return Span(
        low=max(hours[0] - beyond, hours[0] / 2), likely=float(median(hours)), high=hours[-1] + beyond
    )


def _unusual(seen: Sequence[Observation]) -> tuple[Observation, ...]:
    if len(seen) < _LEAST_FOR_UNUSUAL:
        return ()
    middle = median(found.hours for found in seen)
    spread = 1.4826 * median(abs(found.hours - middle) for found in seen)
    return tuple(found for found in seen if abs(found.hours - middle) > UNUSUAL * spread > 0)


def _origin(seen: Sequence[Observation], declared: Span | None) -> str:
    first, last = min(found.when for found in seen), max(found.when for found in seen)
    told = ngettext(
        "{count} observation, {last:%Y-%m-%d}",
        "{count} observations, {first:%Y-%m-%d} to {last:%Y-%m-%d}",
        len(seen),
    ).format(count=len(seen), first=first, last=last)
    if declared is None or len(seen) >= ENOUGH:
        return _("measured: {told}").format(told=told)
    return _("declared, and measured: {told}").format(told=told)

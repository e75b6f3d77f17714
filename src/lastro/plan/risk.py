"""How likely a plan is late or over its budget, and which stage decides that: by drawing its durations."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from decimal import Decimal
from importlib.util import find_spec
from math import ceil, sqrt

from lastro.errors import UsageError
from lastro.locale import _
from lastro.plan import samples
from lastro.plan.draws import Draws, Machine
from lastro.plan.network import Network, Sampler, Samples, make_network
from lastro.plan.samples import MICRO
from lastro.records import dataclass
from lastro.units import Money

#: Draws with NumPy, and without it: a share of one half is then right to about 1 and 3 points.
DRAWS, DRAWS_PLAIN = 10_000, 1_000
#: Late, or over the budget, is what is so by more than this: less is rounding of binary fractions.
_TOLERANCE = 1e-6
_MICRO = Decimal("0.000001")


@dataclass(frozen=True, kw_only=True)
class Quantiles:
    """What is not exceeded in 50, 90 and 99 of 100 draws; hours, or an amount of `currency`."""

    p50: float
    p90: float
    p99: float
    currency: str | None = None

    def money(self) -> tuple[Money, Money, Money]:
        """Return the three as money, rounded to a millionth. Only for those that have a currency."""
        assert self.currency is not None, "hours are no money"
        p50, p90, p99 = (
            Money(Decimal(repr(amount)).quantize(_MICRO), self.currency)
            for amount in (self.p50, self.p90, self.p99)
        )
        return p50, p90, p99


@dataclass(frozen=True, kw_only=True)
class Effect:
    """What a stage does to the end.

    `critical`: the share of draws in which it is on the critical path. `one_more_hour`: by how many hours
    the end moves on average when it takes one hour longer: between 0 and 1.
    """

    name: str
    critical: float
    one_more_hour: float


@dataclass(frozen=True, kw_only=True)
class Risk:
    """What the draws have shown. None is unknown, and `unknown` says why, a sentence each.

    `margin`: a share is right to about this much (two standard errors of one half). `method`: `numpy` or
    `python`; both draw the same numbers. `order`: what was kept fixed, for the reader.
    """

    p_late: float | None
    p_over_budget: float | None
    end_hours: Quantiles | None
    cost: Quantiles | None
    effects: tuple[Effect, ...]
    draws: int
    seed: int
    method: str
    margin: float
    unknown: tuple[str, ...]
    order: str


def assess_risk(
    draws: Draws,
    *,
    window_hours: float | None = None,
    budget: Money | None = None,
    seed: int = 0,
    count: int | None = None,
    numpy: bool | None = None,
) -> Risk:
    """Draw a calendar's durations many times, and tell how often it is late or too dear.

    Each duration is triangular between low and high with its peak at likely. Order and lanes stay as they are
    planned: nobody reacts to what has taken long, so that a plan which is rearranged on the way does better.

    Args:
        draws: the calendar, its lanes and machines.
        window_hours: when it has to be over; None: P(late) is unknown.
        budget: None, or one in another currency than the prices: P(over budget) is unknown.
        seed: the same seed gives the same result.
        count: how many draws; None: 10,000 with NumPy, 1,000 without.
        numpy: None takes NumPy where it is installed.

    Raises:
        UsageError: `count` is less than one.
    """
    if count is not None and count < 1:
        raise UsageError(_("{count} draws show nothing").format(count=count))
    with_numpy = find_spec("numpy") is not None if numpy is None else numpy
    count = count or (DRAWS if with_numpy else DRAWS_PLAIN)
    currency, unknown = _currency(draws, budget)
    nameless = [interval.name for interval in draws.intervals if interval.hours is None]
    if nameless:
        why = _("nobody knows how long {names} takes").format(names=", ".join(nameless))
        unknown, sampled, currency = (*unknown, why), None, None
    else:
        network = make_network(draws, seed, priced=currency is not None)
        sampled = (_with_numpy if with_numpy else samples.sample)(network, count)
    if window_hours is None:
        unknown = (*unknown, _("there is no window, so nothing is late"))
    if budget is None:
        unknown = (*unknown, _("there is no budget, so nothing is over it"))
    late = None if sampled is None or window_hours is None else _share(sampled.ends, window_hours)
    priced = sampled is not None and currency is not None
    comparable = priced and budget is not None and budget.currency == currency
    return Risk(
        p_late=late,
        p_over_budget=_share(sampled.costs, float(budget.amount))
        if comparable and sampled and budget
        else None,
        end_hours=_quantiles(sampled.ends) if sampled else None,
        cost=_quantiles(sampled.costs, currency) if priced and sampled else None,
        effects=_effects(draws, sampled, count) if sampled else (),
        draws=count,
        seed=seed,
        method="numpy" if with_numpy else "python",
        margin=1 / sqrt(count),
        unknown=unknown,
        order=_("order and lanes stay as planned in every draw"),
    )


def _with_numpy(network: Network, count: int) -> Samples:
    from lastro.plan import samples_numpy

    sampler: Sampler = samples_numpy.sample
    return sampler(network, count)


def _currency(draws: Draws, budget: Money | None) -> tuple[str | None, tuple[str, ...]]:
    """Return the currency in which the total can be told, None when it cannot, and why not."""
    used = [machine for machine in draws.machines if _is_used(machine, draws)]
    unpriced = sorted({machine.lease.offer for machine in used if machine.lease.price is None})
    if unpriced:
        return None, (_("the price of {offers} is unknown").format(offers=", ".join(unpriced)),)
    prices = [machine.lease.price for machine in used] + [machine.renewal for machine in used] + [draws.other]
    currencies = sorted({price.currency for price in prices if price is not None})
    if not currencies:
        return None, (_("nothing has a price, so the cost is unknown"),)
    if len(currencies) > 1:
        why = _("prices in {currencies} do not add up without a dated rate")
        return None, (why.format(currencies=", ".join(currencies)),)
    if budget is not None and budget.currency != currencies[0]:
        why = _("prices in {currency} and a budget of {budget} cannot be compared without a dated rate")
        return currencies[0], (why.format(currency=currencies[0], budget=budget),)
    return currencies[0], ()


def _is_used(machine: Machine, draws: Draws) -> bool:
    return any(set(interval.lanes) & set(machine.lanes) for interval in draws.intervals)


def _share(values: Sequence[float], limit: float) -> float:
    """Return the share of sorted values above a limit."""
    return (len(values) - bisect_right(values, limit + _TOLERANCE)) / len(values)


def _quantiles(values: Sequence[float], currency: str | None = None) -> Quantiles:
    """Return the nearest ranks of sorted values: each was drawn."""
    p50, p90, p99 = (float(values[ceil(len(values) * percent / 100) - 1]) for percent in (50, 90, 99))
    return Quantiles(p50=p50, p90=p90, p99=p99, currency=currency)


def _effects(draws: Draws, sampled: Samples, count: int) -> tuple[Effect, ...]:
    return tuple(
        Effect(name=interval.name, critical=critical / count, one_more_hour=moved / MICRO / count)
        for interval, critical, moved in zip(draws.intervals, sampled.critical, sampled.moved, strict=True)
    )

"""What solving gives: a plan with its proven bound, or why there is none."""

from __future__ import annotations

from typing import Literal

from lastro.records import dataclass

Method = Literal["exact", "packages+calendar", "greedy"]
#: A bound that is this close (a share of the objective) proves it: HiGHS itself decides with 1e-6.
PROVEN_WITHIN = 2e-6


@dataclass(frozen=True, kw_only=True)
class Held:
    """A machine that is rented from `start` to `end` (ticks), its boot included.

    machine: its number, which `Placed.machine` names. lease: machines of one lot have one number here; its
    price stands with the first of them. cost: micro-units, everything of this machine.
    """

    package: str
    machine: int
    start: int
    end: int
    cost: int
    lease: int


@dataclass(frozen=True, kw_only=True)
class Placed:
    """A task on the calendar; `machine` is None when it needs none."""

    task: str
    machine: int | None
    start: int
    end: int


@dataclass(frozen=True, kw_only=True)
class Solution:
    """A plan that keeps every rule of its problem, as `check` has found.

    cost: money alone; the sum of what is held. objective: cost and the worth of what is left out.
    bound: no plan has a lower objective; None when nothing could be proven. gap: how far the objective may
    lie above the best one, as a share of the objective. proven: it is not above `PROVEN_WITHIN`; only then it
    may be called optimal.
    """

    held: tuple[Held, ...]
    placed: tuple[Placed, ...]
    left_out: tuple[str, ...]
    cost: int
    objective: int
    bound: int | None
    gap: float | None
    proven: bool
    method: Method
    end_ticks: int
    why: str


@dataclass(frozen=True, kw_only=True)
class NoPlan:
    """There is no plan, or none was found: `why` says which.

    proven: no plan exists. cheapest_violation: the cheapest plan that was found without the limit that cannot
    be kept: what it costs, or how late it is; None when there is none either.
    """

    why: str
    cheapest_violation: Solution | None = None
    proven: bool = False


def gap_of(objective: int, bound: int | None) -> float | None:
    """Return how far an objective may lie above the best, as a share of itself; None without a bound."""
    if bound is None:
        return None
    return (objective - bound) / objective if objective > 0 else 0.0


def is_proven(objective: int, bound: int | None) -> bool:
    """Say whether a bound proves that an objective is the best there can be."""
    gap = gap_of(objective, bound)
    return gap is not None and gap <= PROVEN_WITHIN

"""Between which objectives there is nothing: a bound may be raised to the next objective that can be."""

from __future__ import annotations

from math import gcd, isfinite

from lastro.billing import LeaseKind
from lastro.plan.solve.problem import Problem


def step(problem: Problem) -> int:
    """Return a number of micro-units of which every objective is a multiple.

    1 when a line may have to be rounded, or when prices have nothing in common.
    """
    per_hour = problem.ticks_per_hour
    fine = [(task.left_out or 0) * per_hour for task in problem.tasks]
    for package in problem.packages:
        unit = per_hour if package.kind is LeaseKind.LOT else package.unit_ticks
        fine += [package.price * unit, (package.renewal or 0) * per_hour, package.holding]
        fine.append(package.once * per_hour)
        fine += [package.per_out * task.out * per_hour for task in problem.tasks]
    if any(amount % per_hour for amount in fine):
        return 1
    return max(1, gcd(*(amount // per_hour for amount in fine)))


def raised(bound: float, to: int) -> int:
    """Return the next multiple at or above a bound, which is 0 when nothing is known."""
    if not isfinite(bound) or bound <= 0:
        return 0
    whole = int(bound) if bound == int(bound) else int(bound) + 1
    return -(-whole // to) * to

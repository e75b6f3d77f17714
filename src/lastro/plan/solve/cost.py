"""What leases cost: the one place where this package turns ticks into money.

Inside, money is counted in micro-units times ticks per hour ("fine" units), so that nothing is rounded before
a machine's line is complete; a line is then rounded up to a whole micro-unit.
"""

from __future__ import annotations

from collections.abc import Sequence

from lastro.billing import LeaseKind
from lastro.plan.solve.problem import Package, Problem
from lastro.plan.solve.solution import Held, Placed


def billed_ticks(package: Package, span: int) -> int:
    """Return the ticks that are billed for `span` ticks: started units, at least the minimum.

    The law of `lastro.billing.billed_seconds`, in ticks.
    """
    return -(-max(span, package.minimum_ticks) // package.unit_ticks) * package.unit_ticks


def terms(package: Package, span: int) -> int:
    """Return how many terms of a lot `span` ticks need."""
    assert package.term_ticks is not None, "a lot has a term, or its problem is refused"
    return max(1, -(-span // package.term_ticks))


def longest_span(package: Package, horizon: int) -> int:
    """Return for how many ticks a lease can last within the horizon."""
    if package.kind is LeaseKind.LOT and package.renewal is None:
        assert package.term_ticks is not None, "a lot has a term, or its problem is refused"
        return min(horizon, package.term_ticks)
    return horizon


def fine_price(package: Package, span: int, ticks_per_hour: int) -> int:
    """Return the price of a lease of `span` ticks for all its machines together, in fine units."""
    if package.kind is LeaseKind.LOT:
        following = terms(package, span) - 1
        return (package.price + (package.renewal or 0) * following) * ticks_per_hour
    return package.price * billed_ticks(package, span)


def fine_machine(package: Package, span: int, out: int, ticks_per_hour: int) -> int:
    """Return what a machine costs beside the lease's price, in fine units; `out` GB leave it."""
    return package.holding * span + (package.once + package.per_out * out) * ticks_per_hour


def fine_lease(package: Package, span: int, ticks_per_hour: int, *, used: int = 1) -> int:
    """Return a lease's price with `used` of its machines, without what leaves them, in fine units."""
    return fine_price(package, span, ticks_per_hour) + used * fine_machine(package, span, 0, ticks_per_hour)


def cost_of(problem: Problem, held: Sequence[Held], placed: Sequence[Placed]) -> tuple[int, ...]:
    """Return what each held machine costs, in micro-units, in the order of `held`; their `cost` is not read.

    The price of a lease stands with the first of its machines.
    """
    packages = {package.name: package for package in problem.packages}
    out_of = {task.name: task.out for task in problem.tasks}
    out: dict[int, int] = {}
    for one in placed:
        if one.machine is not None:
            out[one.machine] = out.get(one.machine, 0) + out_of[one.task]
    priced: set[int] = set()
    lines = []
    for machine in held:
        package, span = packages[machine.package], machine.end - machine.start
        fine = fine_machine(package, span, out.get(machine.machine, 0), problem.ticks_per_hour)
        if machine.lease not in priced:
            fine += fine_price(package, span, problem.ticks_per_hour)
            priced.add(machine.lease)
        lines.append(-(-fine // problem.ticks_per_hour))
    return tuple(lines)

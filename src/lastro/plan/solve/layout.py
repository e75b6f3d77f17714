"""A calendar with its leases, and the solution that is made of it once it has been checked."""

from __future__ import annotations

from collections.abc import Sequence

from lastro.plan.solve.check import check
from lastro.plan.solve.cost import cost_of
from lastro.plan.solve.problem import Problem
from lastro.plan.solve.solution import Held, Method, Placed, Solution, gap_of, is_proven
from lastro.records import dataclass


@dataclass(frozen=True, kw_only=True)
class Layout:
    """A calendar with its leases, before anybody has judged it."""

    held: tuple[Held, ...]
    placed: tuple[Placed, ...]

    @property
    def cost(self) -> int:
        return sum(machine.cost for machine in self.held)


def tightened(problem: Problem, held: Sequence[Held], placed: Sequence[Placed]) -> Layout:
    """Return the layout with leases no longer than their work, in the order of their start, and priced."""
    packages = {package.name: package for package in problem.packages}
    by_number = {machine.machine: machine for machine in held}
    spans: dict[int, tuple[int, int]] = {}
    for one in placed:
        if one.machine is not None:
            machine = by_number[one.machine]
            begin = one.start - packages[machine.package].boot_ticks
            start, end = spans.get(machine.lease, (begin, one.end))
            spans[machine.lease] = (min(start, begin), max(end, one.end))
    order = sorted(held, key=lambda one: (*spans[one.lease], one.package, one.lease, one.machine))
    leases = {lease: number for number, lease in enumerate(dict.fromkeys(one.lease for one in order))}
    numbers = {one.machine: number for number, one in enumerate(order)}
    tight = [
        Held(
            package=one.package,
            machine=numbers[one.machine],
            start=spans[one.lease][0],
            end=spans[one.lease][1],
            cost=0,
            lease=leases[one.lease],
        )
        for one in order
    ]
    there = [
        Placed(
            task=one.task,
            machine=None if one.machine is None else numbers[one.machine],
            start=one.start,
            end=one.end,
        )
        for one in sorted(placed, key=lambda one: (one.start, one.end, one.task))
    ]
    lines = cost_of(problem, tight, there)
    priced = [
        Held(
            package=one.package, machine=one.machine, start=one.start, end=one.end, cost=cost, lease=one.lease
        )
        for one, cost in zip(tight, lines, strict=True)
    ]
    return Layout(held=tuple(priced), placed=tuple(there))


def objective_of(problem: Problem, layout: Layout) -> int:
    """Return the layout's cost and the worth of what it leaves out."""
    placed = {one.task for one in layout.placed}
    return layout.cost + sum(task.left_out or 0 for task in problem.tasks if task.name not in placed)


class BrokenRule(AssertionError):
    """An answer that breaks a rule of its problem, and is not believed."""


def judged(problem: Problem, layout: Layout, *, bound: int | None, method: Method, why: str) -> Solution:
    """Return the layout as a solution.

    Raises:
        BrokenRule: it breaks a rule of its problem; whoever made it is wrong.
    """
    placed = {one.task for one in layout.placed}
    left = tuple(task.name for task in problem.tasks if task.name not in placed)
    objective = objective_of(problem, layout)
    solution = Solution(
        held=layout.held,
        placed=layout.placed,
        left_out=left,
        cost=layout.cost,
        objective=objective,
        bound=bound,
        gap=gap_of(objective, bound),
        proven=is_proven(objective, bound),
        method=method,
        end_ticks=max((one.end for one in layout.placed), default=0),
        why=why,
    )
    broken = check(problem, solution)
    if broken:
        raise BrokenRule("; ".join(broken))
    return solution

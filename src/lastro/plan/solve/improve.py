"""Make a plan cheaper, a part at a time: some tasks are set free, the others keep their machines.

A large neighbourhood search (P. Shaw, CP 1998), with CP-SAT for each neighbourhood and dice that fall alike
everywhere.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from lastro.plan.solve.calendar import Calendar, Limits, Place
from lastro.plan.solve.dice import Dice
from lastro.plan.solve.layout import Layout, objective_of
from lastro.plan.solve.problem import Package, Problem

#: Tasks that are free at once: as many as CP-SAT settles within its limit.
FREE = 15
#: Deterministic seconds of a neighbourhood, and what one costs at least (its model has to be built).
WORK, LEAST_WORK = 0.1, 0.005


@dataclass(frozen=True, kw_only=True)
class Improved:
    """The best layout, how much work was used, and whether the wall limit struck."""

    layout: Layout
    work: float
    limit: bool


@dataclass(frozen=True, kw_only=True)
class _Standing:
    """A layout as a calendar's model sees it: its leases, and the place of each task."""

    leases: tuple[Package, ...]
    places: dict[str, Place]


def improve(
    problem: Problem,
    layout: Layout,
    spare: Sequence[Package],
    *,
    floor: int,
    goal: int,
    limits: Limits,
) -> Improved:
    """Look for a layout with a lower objective.

    Args:
        problem: what has to be kept.
        layout: the one to begin with.
        spare: packages of which one more may be tried.
        floor: no plan's objective is below it.
        goal: low enough; the search ends there.
        limits: deterministic seconds in all, and the net below.
    """
    dice = Dice(1)
    best, work, wall, number = objective_of(problem, layout), 0.0, 0.0, 0
    limit = False
    while best > goal and work < limits.work and not limit:
        standing = _standing(problem, layout)
        free = _free(problem, layout, dice, number)
        placed = {one.task for one in layout.placed}
        machines = [task.name for task in problem.tasks if task.needs_machine]
        calendar = Calendar(
            problem=problem,
            leases=[*standing.leases, *_some_spare(standing.leases, spare, dice)],
            floor=floor,
            settled={name: standing.places[name] for name in machines if name in placed - free},
            left=frozenset(name for name in machines if name not in placed | free),
            ceiling=best,
        )
        laid = calendar.solve(Limits(work=WORK, wall_seconds=max(0.1, limits.wall_seconds - wall)))
        work += max(LEAST_WORK, laid.work)
        wall += laid.seconds
        limit = laid.limit
        number += 1
        if laid.layout is not None and (now := objective_of(problem, laid.layout)) < best:
            best, layout = now, laid.layout
    return Improved(layout=layout, work=work, limit=limit)


def _standing(problem: Problem, layout: Layout) -> _Standing:
    packages = {package.name: package for package in problem.packages}
    leases: list[Package] = []
    number: dict[int, int] = {}
    machines: dict[int, Place] = {}
    for one in layout.held:
        if one.lease not in number:
            number[one.lease] = len(leases)
            leases.append(packages[one.package])
        lease = number[one.lease]
        machines[one.machine] = (lease, sum(1 for place in machines.values() if place[0] == lease))
    places = {one.task: machines[one.machine] for one in layout.placed if one.machine is not None}
    return _Standing(leases=tuple(leases), places=places)


def _some_spare(leases: Sequence[Package], spare: Sequence[Package], dice: Dice) -> list[Package]:
    return [
        package
        for package in dice.some(spare, 2)
        if package.capacity is None or leases.count(package) < package.capacity
    ]


def _free(problem: Problem, layout: Layout, dice: Dice, number: int) -> set[str]:
    """Choose the tasks to set free: of one time, of two machines and what is left out, or any, in turns."""
    names = [task.name for task in problem.tasks if task.needs_machine]
    placed = {one.task: one for one in layout.placed}
    if number % 3 == 0:
        moment = dice.below(problem.horizon + 1)
        far = {
            name: abs(placed[name].start + placed[name].end - 2 * moment)
            if name in placed
            else dice.below(problem.horizon)
            for name in names
        }
        return set(sorted(names, key=lambda name: far[name])[:FREE])
    if number % 3 == 1:
        chosen = dice.some(range(len(layout.held)), 2)
        there = [name for name in names if name not in placed or placed[name].machine in chosen]
        return set(dice.some(there, FREE * 3 // 2))
    return set(dice.some(names, FREE))

"""Make a plan cheaper, a part at a time: some tasks are set free, the others keep their machines.

A large neighbourhood search (P. Shaw, CP 1998), with CP-SAT for each neighbourhood and dice that fall alike
everywhere.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from lastro.plan.solve.calendar import Calendar, Limits, Place
from lastro.plan.solve.dice import Dice
from lastro.plan.solve.layout import Layout, objective_of
from lastro.plan.solve.problem import Package, Problem
from lastro.records import dataclass

#: Tasks that are free at once, to begin with: one more where CP-SAT settles them, one less where it does not.
FREE, LEAST_FREE = 15, 5
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
    limit, sizes = False, [FREE] * len(_KINDS)
    while best > goal and work < limits.work and not limit:
        standing = _standing(problem, layout)
        kind = number % len(_KINDS)
        free = _KINDS[kind](problem, layout, dice, sizes[kind])
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
        sizes[kind] = max(LEAST_FREE, sizes[kind] + (1 if laid.done else -1))
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


def _on_machines(problem: Problem) -> list[str]:
    return [task.name for task in problem.tasks if task.needs_machine]


def _of_one_time(problem: Problem, layout: Layout, dice: Dice, size: int) -> set[str]:
    """Tasks that run at about one moment; what is left out has no time, so the dice say how near it is."""
    moment = dice.below(problem.horizon + 1)
    twice = {one.task: one.start + one.end for one in layout.placed}
    far = {
        name: abs(twice[name] - 2 * moment) if name in twice else dice.below(problem.horizon)
        for name in _on_machines(problem)
    }
    return set(sorted(far, key=lambda name: far[name])[:size])


def _of_two_machines(problem: Problem, layout: Layout, dice: Dice, size: int) -> set[str]:
    """Tasks of two machines, and what is left out."""
    placed = {one.task: one.machine for one in layout.placed}
    chosen = dice.some(range(len(layout.held)), 2)
    there = [name for name in _on_machines(problem) if name not in placed or placed[name] in chosen]
    return set(dice.some(there, size))


def _of_any(problem: Problem, layout: Layout, dice: Dice, size: int) -> set[str]:
    return set(dice.some(_on_machines(problem), size))


_KINDS: tuple[Callable[[Problem, Layout, Dice, int], set[str]], ...] = (
    _of_one_time,
    _of_two_machines,
    _of_any,
)

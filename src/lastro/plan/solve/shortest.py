"""The calendar alone: the least end on machines that are given."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from lastro.billing import LeaseKind
from lastro.locale import _
from lastro.plan.solve.calendar import Calendar, Limits, cp_sat_is_there
from lastro.plan.solve.effort import NORMAL, Effort
from lastro.plan.solve.greedy import orders
from lastro.plan.solve.layout import Layout, judged
from lastro.plan.solve.listing import Shop, Taste, lay
from lastro.plan.solve.problem import Package, Problem, Task, in_order
from lastro.plan.solve.shelf import hosts
from lastro.plan.solve.solution import NoPlan, Solution, gap_of, is_proven


def machine(name: str, machine_class: str, *, gpus: int = 1, boot_ticks: int = 0) -> Package:
    """Return a machine that is there, for `shortest`: it costs nothing, and there is one of it."""
    return Package(
        name=name,
        machine_class=machine_class,
        kind=LeaseKind.HOURLY,
        price=0,
        gpus=gpus,
        capacity=1,
        boot_ticks=boot_ticks,
    )


def shortest(
    tasks: Sequence[Task],
    machines: Sequence[Package],
    *,
    effort: Effort = NORMAL,
    exactly: bool = True,
    work: float = 0.3,
) -> Solution | NoPlan:
    """Return the calendar of all tasks with the least end.

    Args:
        tasks: all of them are placed, whatever leaving them out is worth.
        machines: what there is; each once, their prices do not count.
        effort: its wall limit is used.
        exactly: with CP-SAT where it is there; without it, or with False, by list scheduling.
        work: deterministic seconds for CP-SAT.

    Returns:
        A solution whose objective, bound and gap are of `end_ticks`, and whose cost is 0; NoPlan when a task
        can run on none of the machines.
    """
    needed = tuple(replace(task, left_out=None) for task in tasks)
    free = tuple(
        replace(one, price=0, renewal=0, holding=0, once=0, per_out=0, capacity=1) for one in machines
    )
    problem = Problem(tasks=needed, packages=free, ticks_per_hour=1)
    for task in needed:
        if task.needs_machine and not any(hosts(task, one, problem.horizon) for one in free):
            return NoPlan(why=_("{task} can run on none of the machines").format(task=task.name), proven=True)
    bound = least_end(problem)
    layout = _listed(problem)
    limit = False
    if exactly and (layout is None or _end(layout) > bound) and cp_sat_is_there():
        calendar = Calendar(problem=problem, leases=free, floor=bound, by_end=True)
        if layout is not None:
            calendar.hint(layout, _same(problem, layout))
        laid = calendar.solve(Limits(work=work, wall_seconds=effort.wall_seconds))
        limit = laid.limit
        if laid.layout is not None and (layout is None or _end(laid.layout) <= _end(layout)):
            layout = laid.layout
        if laid.bound is not None:
            bound = max(bound, laid.bound)
    if layout is None:
        return NoPlan(why=_("no calendar was found; that there is none is not proven"))
    return _by_end(problem, layout, bound, exactly=exactly and cp_sat_is_there(), limit=limit)


def least_end(problem: Problem) -> int:
    """Return a tick before which the tasks cannot all be over: chains, people, and the machines' GPU-ticks.

    For each pair of a head (what has to run before) and a tail (what has to run after), the tasks that have
    at least these need head + their work / all GPUs + tail.
    """
    tasks = in_order(problem.tasks)
    shortest_of = {task.name: _fastest(task, problem) for task in tasks}
    head: dict[str, int] = {}
    for task in tasks:
        boot = _boot(task, problem)
        head[task.name] = max([boot, *(head[name] + shortest_of[name] for name in task.after)])
    tail = dict.fromkeys(head, 0)
    for task in reversed(tasks):
        for name in task.after:
            tail[name] = max(tail[name], tail[task.name] + shortest_of[task.name])
    bound = max((head[name] + shortest_of[name] + tail[name] for name in head), default=0)
    for chosen, room in _shared(problem, tasks):
        amounts = [(head[t.name], tail[t.name], shortest_of[t.name] * weight) for t, weight in chosen]
        bound = max(bound, _energy(amounts, room))
    return bound


def _shared(problem: Problem, tasks: Sequence[Task]) -> list[tuple[list[tuple[Task, int]], int]]:
    """Return what tasks share, with their weights and its room: all GPUs, those of a class, each person."""
    shared = []
    classes = {one.machine_class for one in problem.packages}
    for chosen in [classes, *({one} for one in sorted(classes))]:
        room = sum(one.gpus * one.machines for one in problem.packages if one.machine_class in chosen)
        able = [
            (task, task.slots)
            for task in tasks
            if task.needs_machine and {name for name in task.ticks if name in classes} <= chosen
        ]
        shared.append((able, room))
    people = sorted({task.person for task in tasks if task.person is not None})
    shared += [([(task, 1) for task in tasks if task.person == person], 1) for person in people]
    return [(able, room) for able, room in shared if able]


def _energy(amounts: Sequence[tuple[int, int, int]], room: int) -> int:
    """Return the largest head + work / room + tail over the tasks with at least this head and this tail."""
    best = 0
    for head in {one[0] for one in amounts}:
        later = sorted((one for one in amounts if one[0] >= head), key=lambda one: -one[1])
        work = 0
        for _head, tail, amount in later:
            work += amount
            best = max(best, head + -(-work // room) + tail)
    return best


def _fastest(task: Task, problem: Problem) -> int:
    there = {one.machine_class for one in problem.packages if hosts(task, one, problem.horizon)}
    durations = [ticks for machine_class, ticks in task.ticks.items() if machine_class in there]
    return min(durations, default=task.alone_ticks)


def _boot(task: Task, problem: Problem) -> int:
    boots = [one.boot_ticks for one in problem.packages if hosts(task, one, problem.horizon)]
    return min(boots, default=0)


def _listed(problem: Problem) -> Layout | None:
    shop = Shop(problem)
    lists = [lay(shop, problem.packages, order, Taste(hurry=1)) for order in orders(shop)]
    done = [listed.layout for listed in lists if not listed.late]
    return min(done, key=_end, default=None)


def _end(layout: Layout) -> int:
    return max((one.end for one in layout.placed), default=0)


def _same(problem: Problem, layout: Layout) -> dict[int, int]:
    """Return for each lease of the layout its place among the machines."""
    place = {one.name: number for number, one in enumerate(problem.packages)}
    return {one.lease: place[one.package] for one in layout.held}


def _by_end(problem: Problem, layout: Layout, bound: int, *, exactly: bool, limit: bool) -> Solution:
    """Check the layout as a plan without money, and tell its end as the objective."""
    end = _end(layout)
    proven = is_proven(end, bound)
    why = _("proven: no calendar ends earlier") if proven else _("the earliest end that was found")
    if limit:
        why += "; " + _("the search was ended by the clock, so another machine may find another plan")
    money = judged(problem, layout, bound=0, method="greedy", why=why)
    return replace(
        money,
        objective=end,
        bound=min(bound, end),
        gap=gap_of(end, min(bound, end)),
        proven=proven,
        method="exact" if proven and exactly else "packages+calendar" if exactly else "greedy",
    )

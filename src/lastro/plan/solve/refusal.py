"""Why there is no plan, as far as that can be seen without a solver."""

from __future__ import annotations

from collections import Counter

from lastro.locale import _
from lastro.plan.solve.problem import Problem, in_order
from lastro.plan.solve.shelf import hosts


def obstacle(problem: Problem) -> str | None:
    """Return a reason that rules out every plan; None when there may be one."""
    reason = _no_machine(problem)
    if reason is None and problem.window_ticks is not None:
        reason = _too_long(problem, problem.window_ticks)
    return reason


def _no_machine(problem: Problem) -> str | None:
    for task in problem.tasks:
        if task.left_out is not None or not task.needs_machine:
            continue
        if problem.lanes == 0:
            return _("{task} needs a machine, and there is no lane for one").format(task=task.name)
        if not any(hosts(task, package, problem.horizon) for package in problem.packages):
            return _("{task} can run on nothing that is offered: not at all, or not long enough").format(
                task=task.name
            )
    return None


def _too_long(problem: Problem, window: int) -> str | None:
    """A chain of required tasks, or one person's, may be longer than the window, whatever is rented."""
    ends: dict[str, int] = {}
    busy: Counter[str] = Counter()
    for task in in_order(problem.tasks):
        if task.left_out is not None:
            continue
        shortest = _shortest(problem, task.name)
        ends[task.name] = max((ends.get(name, 0) for name in task.after), default=0) + shortest
        if task.person is not None:
            busy[task.person] += shortest
        if ends[task.name] > window:
            return _("up to {task} it takes {ticks} ticks at least, the window has {window}").format(
                task=task.name, ticks=ends[task.name], window=window
            )
    for person, ticks in busy.items():
        if ticks > window:
            return _("{person} is needed for {ticks} ticks, the window has {window}").format(
                person=person, ticks=ticks, window=window
            )
    return None


def _shortest(problem: Problem, name: str) -> int:
    task = next(one for one in problem.tasks if one.name == name)
    if not task.needs_machine:
        return task.alone_ticks
    there = {package.machine_class for package in problem.packages if hosts(task, package, problem.horizon)}
    return min(ticks for machine_class, ticks in task.ticks.items() if machine_class in there)

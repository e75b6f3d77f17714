"""A lower bound that needs no solver: what the work costs at the best rate that its machines have."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from fractions import Fraction

from lastro.billing import LeaseKind
from lastro.plan.solve.cost import fine_lease, longest_span
from lastro.plan.solve.problem import Package, Problem, Task
from lastro.plan.solve.shelf import Family, families, hosts


def lower_bound(problem: Problem) -> int:
    """Return a number of micro-units that no plan's objective is below.

    The larger of two: each task (or group) at the least that its GPU-ticks cost on any lease, or what leaving
    it out is worth when that is less; and, for each required task, the cheapest lease that can hold it.
    """
    shelf = families(problem)
    rates = [_rate(family, problem) for family in shelf]
    groups: dict[str, list[Task]] = defaultdict(list)
    for task in problem.tasks:
        groups[f"group {task.group}" if task.group and task.needs_machine else f"task {task.name}"].append(
            task
        )
    work = sum((_least(tasks, shelf, rates, problem) for tasks in groups.values()), Fraction(0))
    single = max((_lease_for(task, shelf, problem) for task in problem.tasks), default=0)
    return -(-max(-(-work.numerator // work.denominator), single) // problem.ticks_per_hour)


def _rate(family: Family, problem: Problem) -> Fraction:
    """Return the least that a GPU-tick of work can cost on this family, in fine units."""
    return min(_package_rate(package, problem) for package in family.packages)


def _package_rate(package: Package, problem: Problem) -> Fraction:
    """Every lease costs at least its rate times its GPU-ticks: a line below its price for every span."""
    room = package.gpus * package.machines
    longest = longest_span(package, problem.horizon)
    holding = Fraction(package.holding, package.gpus)
    if package.kind is not LeaseKind.LOT:
        return Fraction(package.price, room) + holding
    assert package.term_ticks is not None, "a lot has a term, or its problem is refused"
    ends = {
        longest,
        min(longest, package.term_ticks),
        *range(package.term_ticks, longest, package.term_ticks),
    }
    prices = [
        Fraction(fine_lease(package, span, problem.ticks_per_hour, used=0), span * room) for span in ends
    ]
    return min(prices) + holding


def _least(
    tasks: Sequence[Task], shelf: Sequence[Family], rates: Sequence[Fraction], problem: Problem
) -> Fraction:
    """Return the least that tasks which share a machine cost; one of them alone is a group too."""
    worth = [
        None if task.left_out is None else Fraction(task.left_out * problem.ticks_per_hour) for task in tasks
    ]
    nothing = sum((one for one in worth if one is not None), Fraction(0)) if None not in worth else None
    if not tasks[0].needs_machine:
        return Fraction(0)
    choices = [] if nothing is None else [nothing]
    for family, rate in zip(shelf, rates, strict=True):
        total = Fraction(0)
        for task, left in zip(tasks, worth, strict=True):
            there = None
            if family.hosts(task, problem.horizon):
                there = rate * task.ticks[family.first.machine_class] * task.slots
                there += (
                    min(package.per_out for package in family.packages) * task.out * problem.ticks_per_hour
                )
            options = [one for one in (there, left) if one is not None]
            if not options:
                break
            total += min(options)
        else:
            choices.append(total)
    return min(choices, default=Fraction(0))


def _lease_for(task: Task, shelf: Sequence[Family], problem: Problem) -> int:
    """Return the price of the cheapest lease that can hold a required task, in fine units."""
    if task.left_out is not None or not task.needs_machine:
        return 0
    per_hour = problem.ticks_per_hour
    return min(
        (
            fine_lease(package, package.boot_ticks + task.ticks[package.machine_class], per_hour)
            + package.per_out * task.out * per_hour
            for family in shelf
            for package in family.packages
            if hosts(task, package, problem.horizon)
        ),
        default=0,
    )

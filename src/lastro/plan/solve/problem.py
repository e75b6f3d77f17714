"""What is to be planned, in whole numbers: tasks, what can be rented, and the limits.

Time is in ticks, money in micro-units of one currency, data in GB. Whoever makes a problem chooses the tick;
a duration is rounded up to it, so that what fits here fits in truth.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field
from graphlib import CycleError, TopologicalSorter

from lastro.billing import LeaseKind
from lastro.locale import _
from lastro.records import dataclass


@dataclass(frozen=True, kw_only=True)
class Task:
    """An interval of the calendar.

    ticks: its duration on each class of machine that it can run on; empty when it needs no machine, and then
        `alone_ticks` is its duration.
    person: who does it; a person does one thing at a time. A task may hold a machine and a person.
    gpus: how many GPUs of ONE machine it holds. 0: it holds a slot of a machine without GPUs, and counts as
    1.
    after: names of the tasks that have to be over before it begins.
    left_out: what leaving it out is "worth", in micro-units of money; None: it is required.
    group: tasks of one group that need a machine share one: a run is not moved, its checkpoint would be.
    out: GB that leave the machine because of it.
    """

    name: str
    ticks: Mapping[str, int] = field(default_factory=dict)
    alone_ticks: int = 0
    person: str | None = None
    gpus: int = 1
    after: tuple[str, ...] = ()
    left_out: int | None = None
    group: str | None = None
    never_spot: bool = False
    out: int = 0

    @property
    def slots(self) -> int:
        """How much of its machine's `gpus` it takes."""
        return max(1, self.gpus)

    @property
    def needs_machine(self) -> bool:
        return bool(self.ticks)

    @property
    def shortest(self) -> int:
        """Its duration where it is fastest."""
        return min(self.ticks.values()) if self.ticks else self.alone_ticks


@dataclass(frozen=True, kw_only=True)
class Package:
    """What can be rented. One lease of it gives `machines` machines with `gpus` GPUs (or slots) each.

    price: for all its machines together: of a term (lot), or of an hour (hourly, spot).
    unit_ticks, minimum_ticks: hourly and spot are billed in started units, the minimum at least.
    term_ticks: how long a lot lasts; `renewal` is the price of a following term, None when there is none.
    capacity: how many leases of it a plan can have in all; None when supply does not limit.
    holding: for each machine and hour that it is held (its disk). once: for each machine (set-up, its disk or
        its copy of the data). per_out: for each GB that leaves it. boot_ticks: from its start to its first
        task.
    """

    name: str
    machine_class: str
    kind: LeaseKind
    price: int
    gpus: int = 1
    machines: int = 1
    unit_ticks: int = 1
    minimum_ticks: int = 0
    term_ticks: int | None = None
    renewal: int | None = None
    capacity: int | None = None
    holding: int = 0
    once: int = 0
    per_out: int = 0
    boot_ticks: int = 0


@dataclass(frozen=True, kw_only=True)
class Problem:
    """Tasks, what can be rented for them, and what must not be exceeded.

    window_ticks: everything is over by then; None: no limit. lanes: the most machines at any moment.
    budget: the most money, in micro-units.

    Raises:
        ValueError: a duration of zero, a circle, a name that is there twice or is not there, a number below
            what it can be.
    """

    tasks: tuple[Task, ...]
    packages: tuple[Package, ...]
    ticks_per_hour: int
    window_ticks: int | None = None
    lanes: int | None = None
    budget: int | None = None

    def __post_init__(self) -> None:
        _at_least(_("ticks of an hour"), self.ticks_per_hour, 1)
        _at_least(_("the window"), self.window_ticks, 0)
        _at_least(_("the number of lanes"), self.lanes, 0)
        _at_least(_("the budget"), self.budget, 0)
        refuse_bad_tasks(self.tasks)
        _refuse_twice([package.name for package in self.packages])
        for package in self.packages:
            _refuse_bad_package(package)

    @property
    def horizon(self) -> int:
        """A tick by which some cheapest plan is over: the window, or all tasks one after the other."""
        if self.window_ticks is not None:
            return self.window_ticks
        boot = max((package.boot_ticks for package in self.packages), default=0)
        return sum(max([*task.ticks.values(), task.alone_ticks]) + boot for task in self.tasks)


def refuse_bad_tasks(tasks: Sequence[Task]) -> None:
    """Raise ValueError for tasks that cannot be planned, whatever there is to rent."""
    _refuse_twice([task.name for task in tasks])
    names = {task.name for task in tasks}
    for task in tasks:
        for duration in [*task.ticks.values()] or [task.alone_ticks]:
            _at_least(_("the duration of {task}").format(task=task.name), duration, 1)
        for amount in (task.gpus, task.out, task.left_out):
            _at_least(_("a number of {task}").format(task=task.name), amount, 0)
        for other in task.after:
            if other not in names:
                raise ValueError(
                    _("{task} waits for {other}, which is not there").format(task=task.name, other=other)
                )
    in_order(tasks)


def in_order(tasks: Sequence[Task]) -> list[Task]:
    """Return the tasks so that each comes after what it waits for. Raises ValueError for a circle."""
    named = {task.name: task for task in tasks}
    try:
        return [named[name] for name in TopologicalSorter({t.name: t.after for t in tasks}).static_order()]
    except CycleError as error:
        circle = " -> ".join(reversed(error.args[1]))
        raise ValueError(_("tasks wait for each other: {circle}").format(circle=circle)) from error


def _refuse_bad_package(package: Package) -> None:
    what = _("a number of {package}").format(package=package.name)
    for count in (package.gpus, package.machines, package.unit_ticks):
        _at_least(what, count, 1)
    for amount in (package.price, package.minimum_ticks, package.renewal, package.capacity):
        _at_least(what, amount, 0)
    for amount in (package.holding, package.once, package.per_out, package.boot_ticks):
        _at_least(what, amount, 0)
    if package.kind is LeaseKind.LOT:
        if package.term_ticks is None:
            raise ValueError(_("the lot {package} has no term").format(package=package.name))
        _at_least(what, package.term_ticks, 1)


def _at_least(what: str, value: int | None, least: int) -> None:
    if value is not None and value < least:
        raise ValueError(
            _("{what} is {value}, less than {least}").format(what=what, value=value, least=least)
        )


def _refuse_twice(names: Sequence[str]) -> None:
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(_("{name} is there twice").format(name=twice))

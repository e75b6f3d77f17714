"""Which packages to rent, calendar left aside: a relaxation whose optimum no plan can undercut.

Work is assigned to families, and each family's leases have to hold as many GPU-ticks as its work takes. Order
is kept (a chain of tasks has to fit into the window), but two tasks may overlap. Solved by HiGHS.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import field

from lastro.billing import LeaseKind
from lastro.plan.solve.cost import longest_span
from lastro.plan.solve.mip import Answer, Mip
from lastro.plan.solve.problem import Package, Problem, Task
from lastro.plan.solve.shelf import Family, hosts
from lastro.records import dataclass

_MICRO = 1_000_000


@dataclass(frozen=True, kw_only=True)
class Columns:
    """The columns of one package: leases, hours of leases, machines used, hours of machines."""

    leases: int
    hours: int
    machines: int
    machine_hours: int


@dataclass(frozen=True, kw_only=True)
class Choice:
    """A solution of the relaxation.

    leases: how many of each package. kept: the tasks that are not left out. family: of each kept task that
    needs a machine, the number of its family.
    """

    leases: dict[str, int]
    kept: frozenset[str]
    family: dict[str, int]


@dataclass
class Master:
    """The program, with what its columns mean. Money is in millions of micro-units, time in hours."""

    problem: Problem
    families: Sequence[Family]
    mip: Mip = field(default_factory=Mip)
    keep: dict[str, int] = field(default_factory=dict)
    on: dict[tuple[str, int], int] = field(default_factory=dict)
    of: dict[str, Columns] = field(default_factory=dict)
    money: dict[int, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for family in self.families:
            for package in family.packages:
                self._add_package(package)
        for task in self.problem.tasks:
            self._add_task(task)
        for task in self.problem.tasks:
            for other in task.after:
                self.mip.row({self.keep[other]: 1, self.keep[task.name]: -1}, low=0)
        self._add_groups()
        for number, family in enumerate(self.families):
            self._add_work(number, family)
        if self.problem.window_ticks is not None:
            self._add_window(self.problem.window_ticks)
        if self.problem.budget is not None:
            self.mip.row(self.money, high=self.problem.budget / _MICRO)
        self._worth = sum(task.left_out or 0 for task in self.problem.tasks) / _MICRO

    def solve(self, *, nodes: int, gap: float, seconds: float) -> Answer:
        """Solve it; the bound of the answer is in micro-units."""
        answer = self.mip.solve(nodes=nodes, gap=gap, seconds=seconds)
        bound = (answer.bound + self._worth) * _MICRO
        return Answer(
            values=answer.values,
            bound=bound,
            impossible=answer.impossible,
            limit=answer.limit,
            seconds=answer.seconds,
        )

    def choice(self, values: Sequence[float]) -> Choice:
        """Read a solution."""
        leases = {name: round(values[columns.leases]) for name, columns in self.of.items()}
        return Choice(
            leases={name: count for name, count in leases.items() if count},
            kept=frozenset(name for name, column in self.keep.items() if values[column] > 0.5),
            family={name: number for (name, number), column in self.on.items() if values[column] > 0.5},
        )

    def cut(self, leases: Mapping[str, int], objective: int | None) -> None:
        """Take a calendar's answer in: with no more leases than these, no plan is below this objective.

        A combinatorial Benders cut (J. Hooker, G. Ottosson, Math. Programming 96, 2003). objective: None when
        there is no calendar on these leases; then more of at least one package has to be rented.
        """
        mip, more = self.mip, []
        for name, columns in self.of.items():
            count, most = leases.get(name, 0), mip.highs[columns.leases]
            if count < most:
                more.append(mip.column(high=1, whole=True))
                mip.row({columns.leases: 1, more[-1]: -count - 1}, low=0)
        if objective is None:
            mip.row(dict.fromkeys(more, 1.0), low=1)
            return
        least = objective / _MICRO - self._worth
        lift = objective / _MICRO
        whole = {column: cost for column, cost in enumerate(mip.costs) if cost}
        mip.row({**whole, **dict.fromkeys(more, lift)}, low=least)

    def _hours(self, ticks: int) -> float:
        return ticks / self.problem.ticks_per_hour

    def _paid(self, cost: float, *, worth: int = 0, high: float = math.inf, whole: bool = False) -> int:
        """Add a column that costs money; `worth` is what it wins by not leaving something out."""
        column = self.mip.column(cost=(cost - worth) / _MICRO, high=high, whole=whole)
        if cost:
            self.money[column] = cost / _MICRO
        return column

    def _add_package(self, package: Package) -> None:
        problem, mip = self.problem, self.mip
        most = math.inf if package.capacity is None else package.capacity
        longest = self._hours(longest_span(package, problem.horizon))
        lot = package.kind is LeaseKind.LOT
        one = package.machines == 1
        leases = self._paid(
            (package.price if lot else 0) + (package.once if one else 0), high=most, whole=True
        )
        hours = self._paid(package.holding if one else 0)
        mip.row({hours: 1, leases: -longest}, high=0)
        if lot:
            self._add_terms(package, leases, hours, longest)
        else:
            self._add_units(package, leases, hours)
        machines, machine_hours = leases, hours
        if not one:
            machines = self._paid(package.once, whole=True)
            machine_hours = self._paid(package.holding)
            mip.row({machines: 1, leases: -package.machines}, high=0)
            mip.row({machine_hours: 1, hours: -package.machines}, high=0)
            mip.row({machine_hours: 1, machines: -longest}, high=0)
        self.of[package.name] = Columns(
            leases=leases, hours=hours, machines=machines, machine_hours=machine_hours
        )

    def _add_terms(self, package: Package, leases: int, hours: int, longest: float) -> None:
        """A lot's hours need its terms; following ones have the price of a renewal."""
        assert package.term_ticks is not None, "a lot has a term, or its problem is refused"
        term = self._hours(package.term_ticks)
        more = math.ceil(longest / term) - 1
        if more <= 0:
            return
        following = self._paid(package.renewal or 0, whole=True)
        self.mip.row({following: 1, leases: -more}, high=0)
        self.mip.row({hours: 1, leases: -term, following: -term}, high=0)

    def _add_units(self, package: Package, leases: int, hours: int) -> None:
        """Hours are billed in started units, at least the minimum."""
        unit = self._hours(package.unit_ticks)
        units = self._paid(package.price * unit, whole=package.unit_ticks > 1)
        self.mip.row({units: unit, hours: -1}, low=0)
        least = -(-package.minimum_ticks // package.unit_ticks)
        self.mip.row({units: 1, leases: -max(1, least)}, low=0)

    def _add_task(self, task: Task) -> None:
        worth = task.left_out or 0
        low = 1.0 if task.left_out is None else 0.0
        self.keep[task.name] = keep = self.mip.column(low=low, high=1, cost=-worth / _MICRO, whole=True)
        if not task.needs_machine:
            return
        for number, family in enumerate(self.families):
            if family.hosts(task, self.problem.horizon):
                self.on[task.name, number] = self._paid(family.first.per_out * task.out, high=1, whole=True)
        somewhere = {column: 1.0 for (name, _number), column in self.on.items() if name == task.name}
        self.mip.row({**somewhere, keep: -1}, low=0, high=0)

    def _add_groups(self) -> None:
        groups = defaultdict(list)
        for task in self.problem.tasks:
            if task.group is not None and task.needs_machine:
                groups[task.group].append(task.name)
        for names in groups.values():
            home = [self.mip.column(high=1, whole=True) for _family in self.families]
            self.mip.row(dict.fromkeys(home, 1.0), high=1)
            for name in names:
                for number, column in enumerate(home):
                    if (name, number) in self.on:
                        self.mip.row({self.on[name, number]: 1, column: -1}, high=0)

    def _add_work(self, number: int, family: Family) -> None:
        """The family's machines hold its work, and are held as long as its longest task takes."""
        gpus, boot = family.first.gpus, self._hours(family.first.boot_ticks)
        room: dict[int, float] = {}
        for package in family.packages:
            columns = self.of[package.name]
            room[columns.machine_hours] = room.get(columns.machine_hours, 0.0) + gpus
            room[columns.machines] = room.get(columns.machines, 0.0) - gpus * boot
        work = dict(room)
        for task in self.problem.tasks:
            if (column := self.on.get((task.name, number))) is None:
                continue
            hours = self._hours(task.ticks[family.first.machine_class])
            work[column] = -hours * task.slots
            able = [
                self.of[package.name]
                for package in family.packages
                if hosts(task, package, self.problem.horizon)
            ]
            self.mip.row({**{columns.machines: 1.0 for columns in able}, column: -1}, low=0)
            self.mip.row({**{columns.machine_hours: 1.0 for columns in able}, column: -hours - boot}, low=0)
        self.mip.row(work, low=0)

    def _add_window(self, window: int) -> None:
        """Chains, people and lanes have no more than the window."""
        hours = self._hours(window)
        starts = {task.name: self.mip.column(high=hours) for task in self.problem.tasks}
        people: dict[str, dict[int, float]] = defaultdict(dict)
        for task in self.problem.tasks:
            length = self._length(task)
            start = starts[task.name]
            self.mip.row({start: 1, **length}, high=hours)
            if task.person is not None:
                for column, factor in length.items():
                    people[task.person][column] = factor
            boots = {
                column: -self._hours(self.families[number].first.boot_ticks)
                for (name, number), column in self.on.items()
                if name == task.name
            }
            self.mip.row({start: 1, **boots}, low=0)
            for other in task.after:
                before = self._length(next(one for one in self.problem.tasks if one.name == other))
                negated = {column: -factor for column, factor in before.items()}
                self.mip.row({start: 1, starts[other]: -1, **negated}, low=0)
        for terms in people.values():
            self.mip.row(terms, high=hours)
        if self.problem.lanes is not None:
            held = {columns.machine_hours: 1.0 for columns in self.of.values()}
            self.mip.row(held, high=self.problem.lanes * hours)

    def _length(self, task: Task) -> dict[int, float]:
        """Return a task's hours as a sum of columns."""
        if not task.needs_machine:
            return {self.keep[task.name]: self._hours(task.alone_ticks)}
        return {
            column: self._hours(task.ticks[self.families[number].first.machine_class])
            for (name, number), column in self.on.items()
            if name == task.name
        }

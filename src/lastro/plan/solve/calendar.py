"""The calendar on given leases: who runs what, when, and how long each machine is held. Solved by CP-SAT."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import field
from importlib.util import find_spec
from typing import Any

from lastro.billing import LeaseKind
from lastro.plan.solve.cost import fine_machine, fine_price, longest_span
from lastro.plan.solve.layout import Layout, tightened
from lastro.plan.solve.problem import Package, Problem, Task
from lastro.plan.solve.shelf import hosts
from lastro.plan.solve.solution import Held, Placed
from lastro.records import dataclass

Place = tuple[int, int]


def cp_sat_is_there() -> bool:
    """Say whether CP-SAT is installed; nothing is loaded by asking."""
    return find_spec("ortools") is not None


@dataclass(frozen=True, kw_only=True)
class Laid:
    """What CP-SAT has found. bound: no calendar on these leases has a lower objective (micro-units or ticks).

    done: nothing better exists on these leases, or nothing at all when there is no layout. limit: the wall
    limit struck, so another machine may answer otherwise. work: deterministic seconds that were used;
    seconds: of the wall.
    """

    layout: Layout | None
    bound: int | None
    done: bool
    limit: bool
    work: float
    seconds: float


@dataclass(frozen=True, kw_only=True)
class Limits:
    """How long to search: deterministic seconds, the same on every machine, and the net below them."""

    work: float
    wall_seconds: float


@dataclass
class Calendar:
    """The model. `leases` can be taken or not, each at most once; equal ones are taken in their order."""

    problem: Problem
    leases: Sequence[Package]
    #: No plan is better than this, as is known from elsewhere; stops the search when it is reached.
    floor: int = 0
    by_end: bool = False
    #: Tasks whose place (lease, machine) is settled; tasks that are left out for certain.
    settled: Mapping[str, Place] = field(default_factory=dict)
    left: frozenset[str] = frozenset()
    #: Leases that a task may be on, where not all are open to it.
    only: Mapping[str, frozenset[int]] = field(default_factory=dict)
    #: Only what is better than this is looked for.
    ceiling: int | None = None
    starts: dict[str, Any] = field(default_factory=dict)
    ends: dict[str, Any] = field(default_factory=dict)
    keep: dict[str, Any] = field(default_factory=dict)
    on: dict[tuple[str, int, int], Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        from ortools.sat.python import cp_model

        self._cp = cp_model
        self._model = cp_model.CpModel()
        self._horizon = self.problem.horizon
        self._taken: list[Any] = []
        self._begin: list[Any] = []
        self._end: list[Any] = []
        self._used: dict[Place, Any] = {}
        self._lines: dict[Place, Any] = {}
        for number, package in enumerate(self.leases):
            self._add_lease(number, package)
        for task in self.problem.tasks:
            self._add_task(task)
        for number in range(len(self.leases)):
            self._fill(number)
        self._add_order()
        self._add_people()
        self._add_groups()
        self._add_lanes()
        self._add_symmetry()
        self._add_objective()

    # --- what can be rented ---------------------------------------------------------------------------

    def _add_lease(self, number: int, package: Package) -> None:
        model, horizon = self._model, self._horizon
        taken = model.new_bool_var(f"taken {number}")
        longest = longest_span(package, horizon)
        begin, end = model.new_int_var(0, horizon, ""), model.new_int_var(0, horizon, "")
        span = model.new_int_var(0, longest, "")
        model.add(span == end - begin)
        model.add(span == 0).only_enforce_if(~taken)
        model.add(begin == 0).only_enforce_if(~taken)
        self._taken.append(taken)
        self._begin.append(begin)
        self._end.append(end)
        price = self._price(package, taken, span, longest)
        for machine in range(package.machines):
            used = taken if machine == 0 else model.new_bool_var("")
            if machine:
                model.add_implication(used, self._used[number, machine - 1])
            self._used[number, machine] = used
            self._lines[number, machine] = self._machine_terms(package, used, span, longest)
        self._lines[number, 0] = self._lines[number, 0] + price

    def _price(self, package: Package, taken: Any, span: Any, longest: int) -> Any:
        """Return the lease's price in fine units, as `fine_price` has it."""
        model, per_hour = self._model, self.problem.ticks_per_hour
        if package.kind is LeaseKind.LOT:
            assert package.term_ticks is not None, "a lot has a term, or its problem is refused"
            more = -(-longest // package.term_ticks) - 1
            if more <= 0:
                return package.price * per_hour * taken
            following = model.new_int_var(0, more, "")
            model.add(span <= package.term_ticks * (following + taken))
            return (package.price * taken + (package.renewal or 0) * following) * per_hour
        least = max(1, -(-package.minimum_ticks // package.unit_ticks))
        units = model.new_int_var(0, max(least, -(-longest // package.unit_ticks)), "")
        model.add(units * package.unit_ticks >= span)
        model.add(units >= least * taken)
        return package.price * package.unit_ticks * units

    def _machine_terms(self, package: Package, used: Any, span: Any, longest: int) -> Any:
        """Return what one machine costs beside the price and what leaves it, in fine units."""
        once = package.once * self.problem.ticks_per_hour * used
        if not package.holding:
            return once
        if package.machines == 1:
            return once + package.holding * span
        held = self._model.new_int_var(0, longest, "")
        self._model.add(held >= span).only_enforce_if(used)
        return once + package.holding * held

    # --- what runs ------------------------------------------------------------------------------------

    def _add_task(self, task: Task) -> None:
        model, horizon = self._model, self._horizon
        self.starts[task.name] = start = model.new_int_var(0, horizon, f"start {task.name}")
        self.ends[task.name] = end = model.new_int_var(0, horizon, f"end {task.name}")
        settled = task.name in self.settled
        if settled or task.name in self.left or task.name in self.only or task.left_out is None:
            keep = model.new_constant(int(task.name not in self.left))
        else:
            keep = model.new_bool_var(f"keep {task.name}")
        self.keep[task.name] = keep
        if not task.needs_machine:
            model.add(end == start + task.alone_ticks)
            return
        places = []
        for number, package in enumerate(self.leases):
            if not hosts(task, package, horizon) or number not in self.only.get(task.name, (number,)):
                continue
            for machine in range(package.machines):
                if task.name in self.left or (settled and self.settled[task.name] != (number, machine)):
                    continue
                on = model.new_constant(1) if settled else model.new_bool_var("")
                self.on[task.name, number, machine] = on
                places.append(on)
                model.add_implication(on, self._used[number, machine])
                model.add(start >= self._begin[number] + package.boot_ticks).only_enforce_if(on)
                model.add(end <= self._end[number]).only_enforce_if(on)
        model.add(sum(places) == keep)

    def _fill(self, number: int) -> None:
        """Give a lease its machines' work: no more at once than it has GPUs, or than it is held."""
        model, package = self._model, self.leases[number]
        for machine in range(package.machines):
            intervals, demands, work = [], [], []
            for task in self.problem.tasks:
                if (on := self.on.get((task.name, number, machine))) is None:
                    continue
                length = task.ticks[package.machine_class]
                start, end = self.starts[task.name], self.ends[task.name]
                intervals.append(model.new_optional_interval_var(start, length, end, on, ""))
                demands.append(task.slots)
                work.append(length * task.slots * on)
                if package.per_out and task.out:
                    fine = package.per_out * task.out * self.problem.ticks_per_hour
                    self._lines[number, machine] = self._lines[number, machine] + fine * on
            if not intervals:
                model.add(self._used[number, machine] == 0)
                continue
            if all(2 * demand > package.gpus for demand in demands):
                model.add_no_overlap(intervals)
            else:
                model.add_cumulative(intervals, demands, package.gpus)
            ready = self._end[number] - self._begin[number] - package.boot_ticks * self._taken[number]
            model.add(sum(work) <= package.gpus * ready)

    def _add_order(self) -> None:
        for task in self.problem.tasks:
            for other in task.after:
                self._model.add_implication(self.keep[task.name], self.keep[other])
                self._model.add(self.starts[task.name] >= self.ends[other]).only_enforce_if(
                    self.keep[task.name]
                )

    def _add_people(self) -> None:
        people = defaultdict(list)
        for task in self.problem.tasks:
            if task.person is None:
                continue
            start, end, keep = self.starts[task.name], self.ends[task.name], self.keep[task.name]
            size: Any = task.alone_ticks
            if task.needs_machine:
                size = self._model.new_int_var(min(task.ticks.values()), max(task.ticks.values()), "")
            people[task.person].append(self._model.new_optional_interval_var(start, size, end, keep, ""))
        for intervals in people.values():
            self._model.add_no_overlap(intervals)

    def _add_groups(self) -> None:
        groups = defaultdict(list)
        for task in self.problem.tasks:
            if task.group is not None and task.needs_machine:
                groups[task.group].append(task.name)
        for names in groups.values():
            homes = []
            for place in self._used if len(names) > 1 else ():
                home = self._model.new_bool_var("")
                homes.append(home)
                for name in names:
                    if (on := self.on.get((name, *place))) is not None:
                        self._model.add_implication(on, home)
            if homes:
                self._model.add_at_most_one(homes)

    def _add_lanes(self) -> None:
        lanes = self.problem.lanes
        if lanes is None or sum(package.machines for package in self.leases) <= lanes:
            return
        intervals = []
        for (number, _machine), used in self._used.items():
            span = self._model.new_int_var(0, self._horizon, "")
            intervals.append(
                self._model.new_optional_interval_var(self._begin[number], span, self._end[number], used, "")
            )
        self._model.add_cumulative(intervals, [1] * len(intervals), lanes)

    def _add_symmetry(self) -> None:
        """Equal leases are taken in their order, and begin in it."""
        # Where tasks have their places already, equal leases are not alike any more.
        for number in range(1, 0 if self.settled else len(self.leases)):
            if self.leases[number] == self.leases[number - 1]:
                self._model.add_implication(self._taken[number], self._taken[number - 1])
                self._model.add(self._begin[number] >= self._begin[number - 1]).only_enforce_if(
                    self._taken[number]
                )

    def _add_objective(self) -> None:
        model = self._model
        if self.by_end:
            last = model.new_int_var(self.floor, self._horizon, "")
            for task in self.problem.tasks:
                model.add(last >= self.ends[task.name])
            model.minimize(last)
            return
        costs = []
        for (number, machine), line in self._lines.items():
            cost = model.new_int_var(0, self._dearest(self.leases[number], first=machine == 0), "")
            model.add(cost * self.problem.ticks_per_hour >= line)
            costs.append(cost)
        if self.problem.budget is not None:
            model.add(sum(costs) <= self.problem.budget)
        left = [
            task.left_out * (1 - self.keep[task.name])
            for task in self.problem.tasks
            if task.left_out is not None
        ]
        total = sum(costs) + sum(left)
        if self.floor > 0:
            model.add(total >= self.floor)
        if self.ceiling is not None:
            model.add(total < self.ceiling)
        model.minimize(total)

    def _dearest(self, package: Package, *, first: bool) -> int:
        """Return a cost that no line of a machine exceeds, in micro-units."""
        per_hour, out = self.problem.ticks_per_hour, sum(task.out for task in self.problem.tasks)
        fine = fine_machine(package, self._horizon, out, per_hour)
        if first:
            fine += fine_price(package, longest_span(package, self._horizon), per_hour)
        return fine // per_hour + 1

    # --- answer ---------------------------------------------------------------------------------------

    def hint(self, layout: Layout, lease_of: Mapping[int, int]) -> None:
        """Begin with a layout; `lease_of` says which lease of this model each of its leases is."""
        machines: dict[int, Place] = {}
        for one in layout.held:
            lease = lease_of[one.lease]
            machines[one.machine] = (lease, sum(1 for place in machines.values() if place[0] == lease))
            self._model.add_hint(self._begin[lease], one.start)
            self._model.add_hint(self._end[lease], one.end)
        placed = {one.task: one for one in layout.placed}
        taken = {lease for lease, _machine in machines.values()}
        for number, variable in enumerate(self._taken):
            self._model.add_hint(variable, number in taken)
        for name, start in self.starts.items():
            if name in placed:
                self._model.add_hint(start, placed[name].start)
        for (name, number, machine), on in self.on.items():
            if name not in self.settled:
                there = placed.get(name)
                where = None if there is None or there.machine is None else machines[there.machine]
                self._model.add_hint(on, where == (number, machine))

    def solve(self, limits: Limits, *, stop_at_first: bool = False) -> Laid:
        """Search until it is proven, or until the limit."""
        solver = self._cp.CpSolver()
        parameters = solver.parameters
        # With one worker, and limits that count work, the answer is the same on every machine.
        parameters.num_workers = 1
        parameters.random_seed = 0
        parameters.max_deterministic_time = limits.work
        parameters.max_time_in_seconds = limits.wall_seconds
        parameters.stop_after_first_solution = stop_at_first
        status = solver.solve(self._model)
        found = status in (self._cp.OPTIMAL, self._cp.FEASIBLE)
        return Laid(
            layout=self._read(solver) if found else None,
            bound=int(-(-solver.best_objective_bound // 1)) if found else None,
            done=status in (self._cp.OPTIMAL, self._cp.INFEASIBLE),
            limit=solver.wall_time >= limits.wall_seconds,
            work=solver.response_proto.deterministic_time,
            seconds=solver.wall_time,
        )

    def _read(self, solver: Any) -> Layout:
        where = {
            name: (number, machine) for (name, number, machine), on in self.on.items() if solver.value(on)
        }
        numbers = {place: index for index, place in enumerate(sorted(set(where.values())))}
        placed = []
        for task in self.problem.tasks:
            if not solver.value(self.keep[task.name]):
                continue
            placed.append(
                Placed(
                    task=task.name,
                    machine=numbers[where[task.name]] if task.name in where else None,
                    start=solver.value(self.starts[task.name]),
                    end=solver.value(self.ends[task.name]),
                )
            )
        held = [
            Held(
                package=self.leases[number].name,
                machine=index,
                start=solver.value(self._begin[number]),
                end=solver.value(self._end[number]),
                cost=0,
                lease=number,
            )
            for (number, _machine), index in numbers.items()
        ]
        return tightened(self.problem, held, placed)

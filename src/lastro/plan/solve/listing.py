"""A list scheduler: tasks one after the other, each where it costs least, on a given list of leases."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from functools import cached_property

from lastro.plan.solve.cost import fine_machine, fine_price, longest_span
from lastro.plan.solve.layout import Layout, tightened
from lastro.plan.solve.problem import Package, Problem, Task, in_order
from lastro.plan.solve.shelf import hosts
from lastro.plan.solve.solution import Held, Placed
from lastro.plan.solve.timeline import Timeline
from lastro.records import dataclass


@dataclass(frozen=True, kw_only=True)
class Listed:
    """What the list gave. late: required tasks that found no place; the layout has none of them."""

    layout: Layout
    late: int
    over: int
    objective: int

    @property
    def rank(self) -> tuple[int, int, int]:
        """Order of preference: fewest late ones, least over the budget, then the lowest objective."""
        return self.late, self.over, self.objective


@dataclass
class _Lease:
    package: Package
    machines: list[Timeline]
    start: int = -1
    end: int = -1

    @property
    def taken(self) -> bool:
        return self.end >= 0


@dataclass(frozen=True, kw_only=True)
class _Spot:
    """A place for a task: where, when, and what it adds to the cost (fine units)."""

    lease: int | None
    machine: int
    start: int
    end: int
    adds: int


class Shop:
    """A problem with what a list scheduler asks again and again."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self.horizon = problem.horizon
        self.tasks = in_order(problem.tasks)
        self.tail = tails(self.tasks)
        self._prices: dict[tuple[str, int], int] = {}
        self._hosts: dict[tuple[str, str], bool] = {}
        self._rates: dict[str, float] = {}

    @cached_property
    def rate(self) -> float:
        """The least rate of all packages; 1 when one is free."""
        return max(1.0, min((self.rate_of(package) for package in self.problem.packages), default=1.0))

    def rate_of(self, package: Package) -> float:
        """Return what a GPU-tick costs on a lease that is held as long as it can be, in fine units."""
        if package.name not in self._rates:
            span = longest_span(package, self.horizon)
            price = fine_price(package, span, self.problem.ticks_per_hour) / (span * package.machines)
            self._rates[package.name] = (price + package.holding) / package.gpus
        return self._rates[package.name]

    @cached_property
    def homes(self) -> Mapping[str, frozenset[str]]:
        """For each group, the packages that can run all of its required tasks."""
        found: dict[str, frozenset[str]] = {}
        for task in self.tasks:
            if task.group is not None and task.needs_machine and task.left_out is None:
                able = frozenset(p.name for p in self.problem.packages if self.can(task, p))
                found[task.group] = found.get(task.group, able) & able
        return found

    def can(self, task: Task, package: Package) -> bool:
        """Say whether a task can run on a package."""
        key = (task.name, package.name)
        if key not in self._hosts:
            self._hosts[key] = hosts(task, package, self.horizon)
        return self._hosts[key]

    def price(self, package: Package, span: int) -> int:
        """Return the price of a lease of a span, in fine units; 0 before it is taken."""
        if span <= 0:
            return 0
        key = (package.name, span)
        if key not in self._prices:
            per_hour = self.problem.ticks_per_hour
            holding = fine_machine(package, span, 0, per_hour)
            self._prices[key] = fine_price(package, span, per_hour) + holding
        return self._prices[key]


def tails(tasks: Sequence[Task]) -> dict[str, int]:
    """Return for each task the ticks that what waits for it needs at least; required tasks count.

    The tasks are in order.
    """
    tail = {task.name: 0 for task in tasks}
    for task in reversed(tasks):
        if task.left_out is None:
            for other in task.after:
                tail[other] = max(tail[other], tail[task.name] + task.shortest)
    return tail


@dataclass(frozen=True, kw_only=True)
class Taste:
    """What a list prefers beside what a place adds to the cost. Money is in fine units.

    hurry: what a tick earlier at a task's end is worth. spare: what a machine's own rate counts, as a share,
    also where it is paid for: 1 spares dear machines for what runs nowhere else, 0 fills what is there.
    thrift: what need not be done is done when its worth is 1 + `thrift` times what it adds.
    """

    hurry: int = 0
    spare: float = 0.0
    thrift: int = 0


def lay(shop: Shop, leases: Sequence[Package], order: Sequence[Task], taste: Taste) -> Listed:
    """Place the tasks in their order, each where it suits best.

    Args:
        shop: the problem.
        leases: what may be rented, each at most once; what nobody uses is not.
        order: all tasks; each after what it waits for.
        taste: how places are compared.
    """
    return _List(shop, leases, taste).run(order)


class _List:
    def __init__(self, shop: Shop, leases: Sequence[Package], taste: Taste) -> None:
        self.shop, self.taste = shop, taste
        self.per_hour = shop.problem.ticks_per_hour
        self.leases = [
            _Lease(package, [Timeline(package.gpus) for _each in range(package.machines)])
            for package in leases
        ]
        self.people: dict[str, Timeline] = defaultdict(Timeline)
        self.home: dict[str, tuple[int, int]] = {}
        self.spots: dict[str, _Spot] = {}
        self.gone: set[str] = set()
        self.late = 0

    def run(self, order: Sequence[Task]) -> Listed:
        for task in order:
            spot = None if self.gone.intersection(task.after) else self._best(task)
            if spot is not None and self._is_worth(task, spot):
                self._take(task, spot)
            else:
                self.gone.add(task.name)
                self.late += task.left_out is None
        self._push_right(order)
        layout = self._layout(order)
        worth = sum(task.left_out or 0 for task in order if task.name in self.gone)
        budget = self.shop.problem.budget
        over = 0 if budget is None else max(0, layout.cost - budget)
        return Listed(layout=layout, late=self.late, over=over, objective=layout.cost + worth)

    def _is_worth(self, task: Task, spot: _Spot) -> bool:
        worth = task.left_out
        return worth is None or spot.adds * (1 + self.taste.thrift) <= worth * self.per_hour

    def _best(self, task: Task) -> _Spot | None:
        ready = max((self.spots[name].end for name in task.after), default=0)
        latest = self.shop.horizon - self.shop.tail[task.name]
        if not task.needs_machine:
            start = self._fit(task, None, ready, task.alone_ticks)
            if start + task.alone_ticks > latest:
                return None
            return _Spot(lease=None, machine=0, start=start, end=start + task.alone_ticks, adds=0)
        best, rank = None, (0.0, 0)
        for number, machine in self._places(task):
            spot = self._spot(task, number, machine, ready, latest)
            if spot is None:
                continue
            rate = self.taste.spare * self.shop.rate_of(self.leases[number].package)
            its = (spot.adds + rate * (spot.end - spot.start) + self.taste.hurry * spot.end, spot.end)
            if best is None or its < rank:
                best, rank = spot, its
        return best

    def _places(self, task: Task) -> list[tuple[int, int]]:
        if task.group in self.home:
            return [self.home[task.group]]
        homes = self.shop.homes.get(task.group) if task.group else None
        places, fresh = [], set()
        for number, lease in enumerate(self.leases):
            name = lease.package.name
            if not self.shop.can(task, lease.package) or (homes is not None and name not in homes):
                continue
            if not lease.taken:
                # Untaken leases of one package are alike: the first stands for all.
                if name in fresh:
                    continue
                fresh.add(name)
            for machine, timeline in enumerate(lease.machines):
                places.append((number, machine))
                if not timeline.busy:
                    break
        return places

    def _spot(self, task: Task, number: int, machine: int, ready: int, latest: int) -> _Spot | None:
        lease = self.leases[number]
        package = lease.package
        if package.machine_class not in task.ticks or not self.shop.can(task, package):
            return None
        length = task.ticks[package.machine_class]
        start = self._fit(task, lease.machines[machine], max(ready, package.boot_ticks), length)
        if not lease.taken and self.shop.problem.lanes is not None:
            start = self._fit_lanes(task, lease, start, length)
        if start + length > latest:
            return None
        begin, end = start - package.boot_ticks, start + length
        if lease.taken:
            begin, end = min(begin, lease.start), max(end, lease.end)
        span = end - begin
        if span > longest_span(package, self.shop.horizon) or not self._lane_is_free(lease, begin, end):
            return None
        used = sum(1 for one in lease.machines if one.busy)
        was = lease.end - lease.start if lease.taken else 0
        adds = self.shop.price(package, span) - self.shop.price(package, was)
        adds += package.per_out * task.out * self.per_hour
        if used and not lease.machines[machine].busy:
            adds += fine_machine(package, span, 0, self.per_hour)
        if used > 1:
            adds += (used - 1) * package.holding * (span - was)
        return _Spot(lease=number, machine=machine, start=start, end=start + length, adds=adds)

    def _fit(self, task: Task, machine: Timeline | None, ready: int, length: int) -> int:
        """Return the first start at which machine and person are free together."""
        start = ready
        while True:
            at = machine.fit(start, length, task.slots) if machine else start
            if task.person is not None:
                at = self.people[task.person].fit(at, length)
            if at == start:
                return start
            start = at

    def _fit_lanes(self, task: Task, lease: _Lease, start: int, length: int) -> int:
        """Return the first start at which a lane is free for a machine that is not rented yet."""
        boot = lease.package.boot_ticks
        ends = sorted(one.end + boot for one in self.leases if one.taken and one.end + boot > start)
        for ready in [start, *ends]:
            at = self._fit(task, lease.machines[0], ready, length)
            if self._lane_is_free(lease, at - boot, at + length):
                return at
        return self.shop.horizon + 1

    def _lane_is_free(self, lease: _Lease, begin: int, end: int) -> bool:
        lanes = self.shop.problem.lanes
        if lanes is None or sum(len(one.machines) for one in self.leases) <= lanes:
            return True
        others = [
            (one.start, one.end, sum(1 for machine in one.machines if machine.busy))
            for one in self.leases
            if one.taken and one is not lease
        ]
        # A further machine of the lease may be the one in question.
        own = min(len(lease.machines), sum(1 for machine in lease.machines if machine.busy) + 1)
        moments = [begin, *(start for start, _stop, _count in others if begin < start < end)]
        return all(
            sum(count for start, stop, count in others if start <= when < stop) + own <= lanes
            for when in moments
        )

    def _take(self, task: Task, spot: _Spot) -> None:
        self.spots[task.name] = spot
        if task.person is not None:
            self.people[task.person].add(spot.start, spot.end)
        if spot.lease is None:
            return
        lease = self.leases[spot.lease]
        begin = spot.start - lease.package.boot_ticks
        lease.start = min(begin, lease.start) if lease.taken else begin
        lease.end = max(spot.end, lease.end)
        lease.machines[spot.machine].add(spot.start, spot.end, task.slots)
        if task.group is not None:
            self.home[task.group] = (spot.lease, spot.machine)

    def _push_right(self, order: Sequence[Task]) -> None:
        """Let tasks begin as late as they can without moving others: leases begin later and end as before."""
        before: dict[str, int] = {}
        people: dict[str, Timeline] = defaultdict(Timeline)
        machines: dict[tuple[int, int], int] = {}
        placed = sorted(
            (task for task in order if task.name in self.spots), key=lambda task: -self.spots[task.name].start
        )
        for task in placed:
            spot = self.spots[task.name]
            latest = before.get(task.name, self.shop.horizon)
            if spot.lease is None:
                latest = spot.end if task.person is not None else latest
            elif len(self.leases[spot.lease].machines) > 1 or self.leases[spot.lease].package.gpus > 1:
                latest = spot.end
            else:
                place = (spot.lease, spot.machine)
                latest = min(latest, machines.get(place, self.leases[spot.lease].end))
            if task.person is not None:
                latest = min(latest, people[task.person].next_start(spot.start, self.shop.horizon))
            shift = max(0, latest - spot.end) if spot.lease is not None else 0
            moved = _Spot(
                lease=spot.lease, machine=spot.machine, start=spot.start + shift, end=spot.end + shift, adds=0
            )
            self.spots[task.name] = moved
            if task.person is not None:
                people[task.person].add(moved.start, moved.end)
            if spot.lease is not None:
                machines[spot.lease, spot.machine] = moved.start
            for other in task.after:
                before[other] = min(before.get(other, self.shop.horizon), moved.start)

    def _layout(self, order: Sequence[Task]) -> Layout:
        numbers: dict[tuple[int, int], int] = {}
        placed = []
        for task in sorted(order, key=lambda task: task.name):
            if (spot := self.spots.get(task.name)) is None:
                continue
            machine = None
            if spot.lease is not None:
                machine = numbers.setdefault((spot.lease, spot.machine), len(numbers))
            placed.append(Placed(task=task.name, machine=machine, start=spot.start, end=spot.end))
        held = [
            Held(package=self.leases[lease].package.name, machine=number, start=0, end=0, cost=0, lease=lease)
            for (lease, _machine), number in numbers.items()
        ]
        return tightened(self.shop.problem, held, placed)

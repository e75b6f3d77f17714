"""Which packages are worth a look: per family, the cheapest for each span, where supply does not limit."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from lastro.billing import LeaseKind
from lastro.plan.solve.check import runs_on
from lastro.plan.solve.cost import fine_lease, longest_span
from lastro.plan.solve.problem import Package, Problem, Task
from lastro.records import dataclass


@dataclass(frozen=True, kw_only=True)
class Family:
    """Packages that differ in nothing but price and supply: to a task they are the same machine."""

    packages: tuple[Package, ...]

    @property
    def first(self) -> Package:
        return self.packages[0]

    def hosts(self, task: Task, horizon: int) -> bool:
        """Say whether some package of it can be held as long as the task takes."""
        return any(hosts(task, package, horizon) for package in self.packages)


def hosts(task: Task, package: Package, horizon: int) -> bool:
    """Say whether a task can run on a package and end in time."""
    if not runs_on(task, package) or package.capacity == 0:
        return False
    needed = package.boot_ticks + task.ticks[package.machine_class]
    return needed <= longest_span(package, horizon)


def families(problem: Problem) -> tuple[Family, ...]:
    """Return the packages that a cheapest plan needs, by family.

    A package is left away when for every span a lease of another one of its family costs no more and supply
    does not limit that one: each of its leases could be that one's. Nothing is lost by it.
    """
    horizon = problem.horizon
    spot_matters = any(task.never_spot for task in problem.tasks)
    out_matters = any(task.out for task in problem.tasks)
    groups = defaultdict(list)
    for package in problem.packages:
        if any(hosts(task, package, horizon) for task in problem.tasks if task.needs_machine):
            spot = spot_matters and package.kind is LeaseKind.SPOT
            out = package.per_out if out_matters else 0
            key = (package.machine_class, package.gpus, package.machines, spot, out, package.boot_ticks)
            groups[key].append(package)
    return tuple(
        Family(packages=tuple(_needed(groups[key], horizon, problem.ticks_per_hour)))
        for key in sorted(groups)
    )


def _needed(packages: Sequence[Package], horizon: int, ticks_per_hour: int) -> list[Package]:
    """Leave away, one after the other, what the others make needless; of equals the first stays."""
    spans = _corners(packages, horizon)
    uses = sorted({1, packages[0].machines})
    curves = {
        package.name: [
            [
                fine_lease(package, span, ticks_per_hour, used=used)
                if span <= longest_span(package, horizon)
                else None
                for span in spans
            ]
            for used in uses
        ]
        for package in packages
    }
    kept = list(packages)
    for package in reversed(packages):
        others = [other for other in kept if other is not package and other.capacity is None]
        if others and _is_covered(curves[package.name], [curves[other.name] for other in others]):
            kept.remove(package)
    return kept


def _corners(packages: Sequence[Package], horizon: int) -> list[int]:
    """Return spans, in pairs, between which every price is a straight line."""
    ends = {1, horizon}
    for package in packages:
        if package.kind is LeaseKind.LOT:
            assert package.term_ticks is not None, "a lot has a term, or its problem is refused"
            ends.update(range(package.term_ticks, horizon, package.term_ticks))
        elif package.unit_ticks > 1:
            ends.update(range(package.unit_ticks, horizon, package.unit_ticks))
        ends.add(min(max(1, package.minimum_ticks), horizon))
    inner = sorted(ends)
    return [1, *(span for end in inner for span in (end, min(end + 1, horizon)))]


def _is_covered(curve: list[list[int | None]], others: list[list[list[int | None]]]) -> bool:
    """Say whether on every stretch some other curve is nowhere higher, at both ends and for each use."""
    places = range(len(curve[0]))
    for place in places[:-1]:
        stretch = (place, place + 1)
        if not any(
            all(_no_higher(other[use][at], mine[at]) for use, mine in enumerate(curve) for at in stretch)
            for other in others
        ):
            return False
    return True


def _no_higher(one: int | None, other: int | None) -> bool:
    return other is None or (one is not None and one <= other)

"""A plan without any solver: a list scheduler over several orders, and a search over what is rented."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from lastro.plan.solve.cost import fine_lease, longest_span
from lastro.plan.solve.listing import Listed, Shop, lay
from lastro.plan.solve.problem import Package, Task
from lastro.plan.solve.shelf import Family

#: What a tick earlier is worth, in prices of a tick of the cheapest machine: nothing, little, much.
HURRIES = (0, 0.3, 1.0, 10.0)
#: For which part of the horizon a lease may be the cheapest of its family.
_PARTS = (1 / 72, 1 / 12, 1 / 3, 1.0)


@dataclass(frozen=True, kw_only=True)
class Found:
    """The best list that was found, and the leases that it was given."""

    listed: Listed
    leases: tuple[Package, ...]


def orders(shop: Shop) -> list[list[Task]]:
    """Return the tasks in several orders, each task after what it waits for."""
    tail = shop.tail

    def density(task: Task) -> float:
        return (task.left_out or 0) / max(1, task.shortest)

    rules: list[Callable[[Task], tuple[float, ...]]] = [
        lambda task: (task.left_out is not None, -(tail[task.name] + task.shortest)),
        lambda task: (-(tail[task.name] + task.shortest), -density(task)),
        lambda task: (task.left_out is not None, -task.shortest),
        lambda task: (task.left_out is not None, -density(task), -tail[task.name]),
        lambda task: (-tail[task.name], -task.shortest),
    ]
    return [_ordered(shop.tasks, rule) for rule in rules]


def search(shop: Shop, shelf: Sequence[Family], *, trials: int, start: Sequence[Package] = ()) -> Found:
    """Add, exchange and give back leases as long as that makes the plan better.

    Args:
        shop: the problem.
        shelf: what can be rented.
        trials: how many lists are tried at most.
        start: leases to begin with.
    """
    lists = orders(shop)
    best = _best_list(shop, tuple(start), lists, HURRIES)
    tried = len(lists) * len(HURRIES)
    order = lists[0]
    better = True
    while better and tried < trials:
        better = False
        for leases in _neighbours(shop, shelf, best):
            tried += 1
            listed = lay(shop, leases, order)
            if listed.rank < best.listed.rank:
                best, better = Found(listed=listed, leases=leases), True
                break
            if tried >= trials:
                break
        if not better or tried >= trials:
            again = _best_list(shop, best.leases, lists, HURRIES)
            if again.listed.rank < best.listed.rank:
                best, better = again, True
            tried += len(lists) * len(HURRIES)
    return best


def listed_on(
    shop: Shop, leases: Sequence[Package], lists: Sequence[Sequence[Task]], hurries: Sequence[float]
) -> Listed:
    """Return the best of the lists on these leases, over all orders and hurries."""
    thrifts = (0, 1, 4) if shop.problem.budget is not None else (0,)
    tried = [
        lay(shop, leases, order, hurry=round(hurry * shop.rate), thrift=thrift)
        for order in lists
        for hurry in hurries
        for thrift in thrifts
    ]
    return min(tried, key=lambda listed: listed.rank)


def earliest_end(shop: Shop, shelf: Sequence[Family]) -> int | None:
    """Return an early end of all required tasks, whatever it costs; None when they cannot all be done."""
    machines = sum(1 for task in shop.tasks if task.needs_machine)
    lanes = machines if shop.problem.lanes is None else shop.problem.lanes
    leases = [package for package in candidates(shop, shelf, {}) for _each in range(min(lanes, machines))]
    leases = [
        package
        for number, package in enumerate(leases)
        if package.capacity is None or leases[:number].count(package) < package.capacity
    ]
    lists = [lay(shop, leases, order, hurry=10**12) for order in orders(shop)]
    ends = [max((one.end for one in listed.layout.placed), default=0) for listed in lists if not listed.late]
    return min(ends, default=None)


def _best_list(
    shop: Shop, leases: tuple[Package, ...], lists: Sequence[Sequence[Task]], hurries: Sequence[float]
) -> Found:
    return Found(listed=listed_on(shop, leases, lists, hurries), leases=leases)


def _neighbours(shop: Shop, shelf: Sequence[Family], found: Found) -> Iterator[tuple[Package, ...]]:
    """Yield lists of leases that differ in one: taken more, exchanged, not taken."""
    used = {machine.package for machine in found.listed.layout.held}
    leases = tuple(package for package in found.leases if package.name in used)
    if len(leases) < len(found.leases):
        yield leases
    count = {package.name: leases.count(package) for package in leases}
    fresh = [
        package
        for package in candidates(shop, shelf, count)
        if package.capacity is None or count.get(package.name, 0) < package.capacity
    ]
    for package in fresh:
        yield (*leases, package)
    for place in range(len(leases)):
        rest = (*leases[:place], *leases[place + 1 :])
        yield rest
        for package in fresh:
            if package != leases[place]:
                yield (*rest, package)


def candidates(shop: Shop, shelf: Sequence[Family], count: Mapping[str, int]) -> list[Package]:
    """Return of each family those that are the cheapest for some span and not all taken."""
    found: dict[str, Package] = {}
    for family in shelf:
        there = [
            one for one in family.packages if one.capacity is None or count.get(one.name, 0) < one.capacity
        ]
        for part in _PARTS:
            span = max(1, round(shop.horizon * part))
            able = [one for one in there if span <= longest_span(one, shop.horizon)]
            if able:
                per_hour = shop.problem.ticks_per_hour
                cheapest = min(able, key=lambda one: fine_lease(one, span, per_hour))
                found[cheapest.name] = cheapest
    return list(found.values())


def _ordered(tasks: Sequence[Task], rule: Callable[[Task], tuple[float, ...]]) -> list[Task]:
    """Return the tasks in the order of a rule, as far as what they wait for lets them."""
    waiting = sorted(tasks, key=lambda task: (rule(task), task.name))
    done: set[str] = set()
    order = []
    while waiting:
        task = next(one for one in waiting if done.issuperset(one.after))
        waiting.remove(task)
        done.add(task.name)
        order.append(task)
    return order

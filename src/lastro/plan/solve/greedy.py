"""A plan without any solver: a list scheduler over several orders, and a search over what is rented."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence

from lastro.plan.solve.cost import fine_lease, longest_span
from lastro.plan.solve.dice import Dice
from lastro.plan.solve.listing import Listed, Shop, Taste, lay
from lastro.plan.solve.problem import Package, Task
from lastro.plan.solve.shelf import Family
from lastro.records import dataclass

#: What a tick earlier is worth, in rates of the cheapest machine: nothing, little, much.
_HURRIES = (0.0, 0.3, 1.0, 10.0)
_SPARES = (0.0, 1.0)
#: For which part of the horizon a lease may be the cheapest of its family.
_PARTS = (1 / 72, 1 / 12, 1 / 3, 1.0)


@dataclass(frozen=True, kw_only=True)
class Found:
    """The best list that was found, and what it was made from."""

    listed: Listed
    leases: tuple[Package, ...]
    order: tuple[Task, ...]
    taste: Taste


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


def tastes(shop: Shop) -> list[Taste]:
    """Return the tastes that are tried."""
    thrifts = (0, 1, 4) if shop.problem.budget is not None else (0,)
    return [
        Taste(hurry=round(hurry * shop.rate), spare=spare, thrift=thrift)
        for hurry in _HURRIES
        for spare in _SPARES
        for thrift in thrifts
    ]


def search(shop: Shop, shelf: Sequence[Family], *, trials: int) -> Found:
    """Add, exchange and give back leases, then change the order, as long as that makes the plan better.

    Args:
        shop: the problem.
        shelf: what can be rented.
        trials: how many lists are tried, roughly; half of them with other leases, half in another order.
    """
    best = min(listed_on(shop, ()), listed_on(shop, _by_rates(shop, shelf)), key=_rank)
    haste = Taste(hurry=round(shop.rate), thrift=best.taste.thrift)
    tried = 0
    while tried < trials // 2:
        before = best.listed.rank
        for leases in _neighbours(shop, shelf, best):
            tried += 1
            for taste in dict.fromkeys((best.taste, haste)):
                best = min(best, _again(shop, best, leases=leases, taste=taste), key=_rank)
            if best.listed.rank < before or tried >= trials // 2:
                break
        if best.listed.rank >= before:
            best = min(best, listed_on(shop, best.leases), key=_rank)
            if best.listed.rank >= before:
                break
    best = min(best, listed_on(shop, best.leases), key=_rank)
    return reordered(shop, best, trials=trials // 2)


def _by_rates(shop: Shop, shelf: Sequence[Family]) -> list[Package]:
    """Return leases that hold all the work, each task at the lowest rate that it can have.

    What costs more there than leaving it out is worth is not counted.
    """
    work: Counter[int] = Counter()
    rates = [min(shop.rate_of(package) for package in family.packages) for family in shelf]
    for task in shop.tasks:
        costs = {
            number: rates[number] * task.ticks[family.first.machine_class] * task.slots
            for number, family in enumerate(shelf)
            if family.hosts(task, shop.horizon)
        }
        if costs:
            number = min(costs, key=lambda one: costs[one])
            if task.left_out is None or costs[number] < task.left_out * shop.problem.ticks_per_hour:
                work[number] += task.ticks[shelf[number].first.machine_class] * task.slots
    leases = []
    for number, ticks in work.items():
        left = ticks
        for package in sorted(shelf[number].packages, key=lambda one: (shop.rate_of(one), one.name)):
            room = (longest_span(package, shop.horizon) - package.boot_ticks) * package.gpus
            count = copies([package], max(0, -(-left // (room * package.machines))))
            leases += count
            left -= room * package.machines * len(count)
    return leases


def reordered(shop: Shop, found: Found, *, trials: int) -> Found:
    """Let some tasks go before others, and keep what makes the plan better."""
    dice = Dice(2)
    best = found
    for _trial in range(trials):
        order = list(best.order)
        for task in dice.some(order, 1 + dice.below(4)):
            order.remove(task)
            order.insert(dice.below(len(order) + 1), task)
        best = min(best, _again(shop, best, order=_allowed(order)), key=_rank)
    return best


def _again(
    shop: Shop,
    found: Found,
    *,
    leases: tuple[Package, ...] | None = None,
    order: tuple[Task, ...] | None = None,
    taste: Taste | None = None,
) -> Found:
    taste = found.taste if taste is None else taste
    leases = found.leases if leases is None else leases
    order = found.order if order is None else order
    listed = lay(shop, leases, order, taste)
    return Found(listed=listed, leases=leases, order=order, taste=taste)


def _rank(found: Found) -> tuple[int, int, int]:
    return found.listed.rank


def listed_on(shop: Shop, leases: Sequence[Package]) -> Found:
    """Return the best list on these leases, over all orders and tastes."""
    return min(
        (
            Found(
                listed=lay(shop, leases, order, taste), leases=tuple(leases), order=tuple(order), taste=taste
            )
            for order in orders(shop)
            for taste in tastes(shop)
        ),
        key=_rank,
    )


def earliest_end(shop: Shop, shelf: Sequence[Family]) -> int | None:
    """Return an early end of all required tasks, whatever it costs; None when they cannot all be done."""
    machines = sum(1 for task in shop.tasks if task.needs_machine)
    lanes = machines if shop.problem.lanes is None else shop.problem.lanes
    leases = copies(candidates(shop, shelf, {}), min(lanes, machines))
    lists = [lay(shop, leases, order, Taste(hurry=10**12)) for order in orders(shop)]
    ends = [max((one.end for one in listed.layout.placed), default=0) for listed in lists if not listed.late]
    return min(ends, default=None)


def copies(packages: Sequence[Package], count: int) -> list[Package]:
    """Return each package so many times, or as often as there are."""
    return [
        package
        for package in packages
        for _each in range(count if package.capacity is None else min(count, package.capacity))
    ]


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
    return list(_allowed(sorted(tasks, key=lambda task: (rule(task), task.name))))


def _allowed(wanted: Sequence[Task]) -> tuple[Task, ...]:
    """Return the tasks in the wanted order, but each after what it waits for."""
    waiting = list(wanted)
    done: set[str] = set()
    order = []
    while waiting:
        task = next(one for one in waiting if done.issuperset(one.after))
        waiting.remove(task)
        done.add(task.name)
        order.append(task)
    return tuple(order)

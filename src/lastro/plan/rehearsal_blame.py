"""Which losses broke a promise: those without which it would have been kept. Pure."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from lastro.records import dataclass


@dataclass(frozen=True, kw_only=True)
class Blame:
    """The losses to blame, by their numbers; none: it is broken without any of them.

    `alone`: taking away this one loss mends it. Otherwise it takes all that are named, and each is needed.
    """

    of: tuple[int, ...]
    alone: bool = False


def blame(broken_without: Callable[[frozenset[int]], bool], costs: Mapping[int, float]) -> Blame:
    """Return which losses broke a promise that is broken with all of them.

    Args:
        broken_without: says whether it is still broken when these losses are taken away; what is broken stays
            so when fewer are.
        costs: what each loss has cost, in whatever the promise is counted in: the dearest is blamed first.
    """
    if broken_without(frozenset(costs)):
        return Blame(of=())
    dearest = sorted(costs, key=lambda number: (-costs[number], number))
    for number in dearest:
        if not broken_without(frozenset({number})):
            return Blame(of=(number,), alone=True)
    taken: set[int] = set()
    for number in dearest:
        taken.add(number)
        if not broken_without(frozenset(taken)):
            break
    for number in reversed(dearest):
        if number in taken and not broken_without(frozenset(taken - {number})):
            taken.remove(number)
    return Blame(of=tuple(sorted(taken)))

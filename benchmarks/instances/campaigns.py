"""Seeded problems for the planner: campaigns with offers, and plain calendars.

Only `random.Random.random` is used, whose numbers Python promises to keep for a seed. Prices and durations
lie where those of real offers do; they are made up.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Sequence
from dataclasses import asdict
from random import Random
from typing import TypeVar

from lastro.billing import LeaseKind
from lastro.plan.solve.problem import Package, Problem, Task

T = TypeVar("T")
DOLLAR = 1_000_000
#: Twelve ticks an hour: 5 minutes.
HOUR = 12
#: Four classes of GPU: how much faster than the first, and what an hour of them costs, in dollars.
SPEED = (1.0, 1.6, 2.6, 4.2)
HOURLY = (0.35, 0.8, 1.7, 3.0)
DISK_GB, MONTH_HOURS = 300, 730


def campaign(
    stages: int, lanes: int, offers: int, seed: int, *, window_hours: int = 72, scarce: bool = False
) -> Problem:
    """Return stages for four classes of GPU, and offers by the hour and in lots of 1, 3 or 7 days.

    scarce: each offer can be taken a few times only, as on a marketplace.
    """
    draw = _Draw(seed)
    packages = tuple(_package(draw, f"offer {number}", scarce) for number in range(offers))
    return Problem(
        tasks=_tasks(draw, stages),
        packages=packages,
        window_ticks=window_hours * HOUR,
        ticks_per_hour=HOUR,
        lanes=lanes,
    )


def plain(stages: int, lanes: int, seed: int) -> tuple[tuple[Task, ...], tuple[Package, ...]]:
    """Return stages of one class with their order, and machines: a calendar without money."""
    draw = _Draw(seed)
    tasks = [
        Task(name=f"stage {number}", ticks={"gpu": draw.whole(6, 12 * HOUR)}, after=_after(draw, number))
        for number in range(stages)
    ]
    machines = tuple(
        Package(name=f"machine {lane}", machine_class="gpu", kind=LeaseKind.HOURLY, price=0, capacity=1)
        for lane in range(lanes)
    )
    return tuple(tasks), machines


def digest(value: Problem | tuple[tuple[Task, ...], tuple[Package, ...]]) -> str:
    """Return the SHA-256 of a problem as sorted JSON: what a figure was measured on."""
    what = [[asdict(one) for one in part] for part in value] if isinstance(value, tuple) else asdict(value)
    return hashlib.sha256(json.dumps(what, sort_keys=True).encode()).hexdigest()


def _tasks(draw: _Draw, stages: int) -> tuple[Task, ...]:
    tasks: list[Task] = []
    for number in range(stages):
        hours = draw.between(0.5, 12)
        human = draw.chance(0.12)
        worth = (
            None if draw.chance(0.6) else draw.one_of((6 * DOLLAR, 6 * DOLLAR, 6 * DOLLAR, 8 * DOLLAR // 10))
        )
        after = _after(draw, number)
        if worth is None:
            after = tuple(name for name in after if tasks[int(name.split()[1])].left_out is None)
        least = draw.one_of((0, 0, 0, 1, 2))
        minutes = draw.whole(20, 120)
        tasks.append(
            Task(
                name=f"stage {number}",
                ticks={} if human else {f"class {c}": _ticks(hours / SPEED[c]) for c in range(least, 4)},
                alone_ticks=_ticks(minutes / 60) if human else 0,
                person="person" if human else None,
                after=after,
                left_out=worth,
                out=draw.whole(1, 39),
            )
        )
    return tuple(tasks)


def _package(draw: _Draw, name: str, scarce: bool) -> Package:
    number = draw.whole(0, 3)
    hour = HOURLY[number] * draw.between(0.7, 1.5)
    per_out = int(DOLLAR * draw.one_of((0.0, 0.0, 0.02, 0.09)))
    holding = int(DOLLAR * draw.between(0.05, 0.2) * DISK_GB / MONTH_HOURS)
    lot = draw.chance(0.4)
    days = draw.one_of((1, 3, 7))
    price = _cents(hour * 24 * days * draw.between(0.5, 0.9)) if lot else _cents(hour)
    return Package(
        name=name,
        machine_class=f"class {number}",
        kind=LeaseKind.LOT if lot else LeaseKind.HOURLY,
        price=price,
        unit_ticks=1 if lot else HOUR,
        term_ticks=days * 24 * HOUR if lot else None,
        renewal=price if lot else None,
        capacity=draw.whole(1, 3) if scarce else None,
        holding=holding,
        per_out=per_out,
        boot_ticks=1,
    )


def _after(draw: _Draw, number: int) -> tuple[str, ...]:
    if not number:
        return ()
    chosen = {draw.whole(0, number - 1) for _each in range(draw.whole(0, 2))}
    return tuple(f"stage {other}" for other in sorted(chosen))


def _ticks(hours: float) -> int:
    return max(1, math.ceil(hours * HOUR))


def _cents(dollars: float) -> int:
    return round(dollars * 100) * (DOLLAR // 100)


class _Draw:
    """Draws from one seeded stream."""

    def __init__(self, seed: int) -> None:
        self._random = Random(seed)

    def between(self, low: float, high: float) -> float:
        return low + (high - low) * self._random.random()

    def whole(self, low: int, high: int) -> int:
        return low + int(self._random.random() * (high - low + 1))

    def chance(self, part: float) -> bool:
        return self._random.random() < part

    def one_of(self, values: Sequence[T]) -> T:
        return values[self.whole(0, len(values) - 1)]

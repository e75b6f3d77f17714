"""What a run measured, over all its attempts, reduced so that no extreme is lost.

A resumed run measures some steps twice. Nothing is overwritten on the disk: here the latest attempt wins,
and what earlier ones had measured is kept beside it. The reduction is deterministic, and a single spike
among any number of points is always part of it.
"""

from __future__ import annotations

import math
from array import array
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field
from itertools import groupby
from operator import itemgetter
from pathlib import Path

from lastro import strictjson
from lastro.paths import RunFolder
from lastro.records import dataclass

_Point = tuple[int, float]
_step = itemgetter(0)

#: More than a chart can show, few enough for a page.
BUCKETS = 400


@dataclass(frozen=True)
class Bucket:
    """The finite values of neighbouring steps: their range and their mean."""

    first_step: int
    last_step: int
    low: float
    high: float
    mean: float
    count: int

    @property
    def middle(self) -> float:
        return (self.first_step + self.last_step) / 2


@dataclass(frozen=True, kw_only=True)
class Series:
    """One metric of one run.

    `buckets`: at most `BUCKETS`, by step; the latest attempt wins where a step was measured twice.
    `earlier`: what it won over, one curve for each earlier attempt.
    `non_finite`: (first step of a bucket that holds such values, the value there), at most `BUCKETS`.
    `last`: the value at `last_step`, which may be NaN.
    """

    metric: str
    buckets: tuple[Bucket, ...]
    count: int
    last_step: int
    last: float
    earlier: tuple[tuple[Bucket, ...], ...] = ()
    non_finite: tuple[tuple[int, float], ...] = ()
    non_finite_count: int = 0


@dataclass(frozen=True, kw_only=True)
class Measured:
    """Everything that one run has measured. `damaged_lines` could not be read and are in no series."""

    series: Mapping[str, Series] = field(default_factory=dict)
    damaged_lines: int = 0


@dataclass
class Points:
    """Values of one metric in the order of their lines. Compact: a million points are normal."""

    steps: array[int] = field(default_factory=lambda: array("q"))
    values: array[float] = field(default_factory=lambda: array("d"))

    def add(self, step: int, value: float) -> None:
        self.steps.append(step)
        self.values.append(value)


def parse_measurements(data: bytes) -> tuple[dict[str, Points], int]:
    """Read the bytes of one measurements file.

    Returns:
        Points by metric, and how many whole lines could not be read. A torn last line was never
        acknowledged: it is neither read nor counted.
    """
    found: dict[str, Points] = {}
    damaged = 0
    for line in data[: data.rfind(b"\n") + 1].split(b"\n")[:-1]:
        try:
            value = strictjson.loads(line)
            step, values = value["s"], value["v"]
            numbers = {
                name: item if type(item) is float else strictjson.number(item)
                for name, item in values.items()
            }
            if not isinstance(step, int) or isinstance(step, bool):
                raise ValueError(step)
            for name, measured in numbers.items():
                found.setdefault(name, Points()).add(step, measured)
        except (ValueError, KeyError, TypeError, AttributeError, OverflowError, RecursionError):
            damaged += 1
    return found, damaged


def compose(attempts: Sequence[Mapping[str, Points]]) -> dict[str, Series]:
    """Return one series a metric from what each attempt measured, oldest first. Pure."""
    names = sorted({name for attempt in attempts for name in attempt})
    return {name: _series(name, [attempt[name] for attempt in attempts if name in attempt]) for name in names}


def _series(metric: str, lives: Sequence[Points]) -> Series:
    kept, lost = _kept_and_lost(lives)
    wrong = [point for point in kept if not math.isfinite(point[1])]
    earlier = [reduce_points(_finite(points)) for points in lost if points]
    return Series(
        metric=metric,
        buckets=reduce_points(_finite(kept) if wrong else kept),
        count=len(kept),
        last_step=kept[-1][0],
        last=kept[-1][1],
        earlier=tuple(curve for curve in earlier if curve),
        non_finite=_first_of_each_bucket(wrong),
        non_finite_count=len(wrong),
    )


def _kept_and_lost(lives: Sequence[Points]) -> tuple[list[_Point], list[list[_Point]]]:
    """Return the points that count, by step, and for each life those that a later one measured again."""
    if len(lives) == 1:
        return sorted(zip(lives[0].steps, lives[0].values, strict=True), key=_step), []
    winner: dict[int, int] = {}
    for number, life in enumerate(lives):
        winner.update(dict.fromkeys(life.steps, number))
    kept: list[_Point] = []
    lost: list[list[_Point]] = [[] for _life in lives]
    for number, life in enumerate(lives):
        for point in zip(life.steps, life.values, strict=True):
            (kept if winner[point[0]] == number else lost[number]).append(point)
    return sorted(kept, key=_step), lost


def _finite(points: Iterable[_Point]) -> list[_Point]:
    return [point for point in points if math.isfinite(point[1])]


def _width(points: Sequence[_Point], limit: int) -> int:
    """Return how many steps share a bucket; points are sorted by step."""
    return -(-(points[-1][0] - points[0][0] + 1) // limit)


def _first_of_each_bucket(points: Sequence[_Point]) -> tuple[tuple[int, float], ...]:
    if len(points) <= BUCKETS:
        return tuple(points)
    width, first = _width(points, BUCKETS), points[0][0]
    chosen: dict[int, tuple[int, float]] = {}
    for point in points:
        chosen.setdefault((point[0] - first) // width, point)
    return tuple(chosen.values())


def reduce_points(points: Sequence[_Point], limit: int = BUCKETS) -> tuple[Bucket, ...]:
    """Return at most `limit` buckets of finite points; each of them is in one."""
    ordered = sorted(points, key=_step)
    if len(ordered) <= limit:
        return tuple(Bucket(step, step, value, value, value, 1) for step, value in ordered)
    first, width = ordered[0][0], _width(ordered, limit)
    groups = groupby(ordered, key=lambda point: (point[0] - first) // width)
    return tuple(_bucket(list(group)) for _number, group in groups)


def _bucket(points: Sequence[_Point]) -> Bucket:
    values = [value for _step_, value in points]
    try:
        mean = math.fsum(values) / len(values)
    except OverflowError:  # a sum of huge values, whose mean is a number all the same
        mean = math.fsum(value / len(values) for value in values)
    return Bucket(points[0][0], points[-1][0], min(values), max(values), mean, len(values))


def merge(buckets: Sequence[Bucket], limit: int) -> tuple[Bucket, ...]:
    """Return at most `limit` buckets with the same extremes: neighbours share equal intervals of steps."""
    if len(buckets) <= limit:
        return tuple(buckets)
    first = buckets[0].first_step
    width = -(-(buckets[-1].first_step - first + 1) // limit)
    groups: dict[int, list[Bucket]] = {}
    for bucket in buckets:
        groups.setdefault((bucket.first_step - first) // width, []).append(bucket)
    return tuple(_merged(group) for group in groups.values())


def _merged(group: Sequence[Bucket]) -> Bucket:
    count = sum(bucket.count for bucket in group)
    return Bucket(
        first_step=group[0].first_step,
        last_step=group[-1].last_step,
        low=min(bucket.low for bucket in group),
        high=max(bucket.high for bucket in group),
        # Weights that sum to one: a sum of large values would overflow where their mean does not.
        mean=math.fsum(bucket.mean * (bucket.count / count) for bucket in group),
        count=count,
    )


def read_run(folder: RunFolder, rank: int = 0) -> Measured:
    """Read what one run measured on one rank; an attempt without a file has measured nothing."""
    lives: list[dict[str, Points]] = []
    damaged = 0
    numbers = sorted(int(path.name) for path in _folders(folder.attempts) if path.name.isdigit())
    for number in numbers:
        try:
            data = folder.attempt(number).measurements(rank).read_bytes()
        except FileNotFoundError:
            continue
        points, wrong = parse_measurements(data)
        lives.append(points)
        damaged += wrong
    return Measured(series=compose(lives), damaged_lines=damaged)


def _folders(root: Path) -> list[Path]:
    return [path for path in root.iterdir() if path.is_dir()] if root.is_dir() else []

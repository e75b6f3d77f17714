"""How near to the best the planner comes, and what it takes of a processor, on a fixed set of problems."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.cpu import seconds_of_command
from benchmarks.instances import campaigns
from benchmarks.result import Measure, Result, median
from lastro.plan.solve import NoPlan, Problem, Solution, shortest, solve, solve_greedily

#: Seed and supply. Of five problems every offer can be taken at will; of five it is there one to three times.
LARGE = tuple((seed, scarce) for scarce in (False, True) for seed in range(5))
PLAIN = tuple(range(10))
SMALL = tuple(range(5))
DIGESTS = Path(__file__).parent / "instances" / "digests.json"
TARGET_GAP, TARGET_WORST, TARGET_SECONDS = 5.0, 10.0, 10.0
TARGET_PLAIN_GAP, TARGET_SMALL_SECONDS = 2.0, 1.0


@dataclass(frozen=True, kw_only=True)
class Timed:
    """An answer, and the seconds of a processor and of the clock that it took."""

    solution: Solution
    cpu: float
    wall: float


def problems() -> dict[str, Problem]:
    """Return the fixed set by name, without the plain calendars."""
    large = {
        f"60x8x200 {seed}{' scarce' if scarce else ''}": campaigns.campaign(60, 8, 200, seed, scarce=scarce)
        for seed, scarce in LARGE
    }
    return {**large, **{f"10x2x20 {seed}": campaigns.campaign(10, 2, 20, seed) for seed in SMALL}}


def digests() -> dict[str, str]:
    """Return what `digests.json` has to hold."""
    plain = {f"plain 20x3 {seed}": campaigns.digest(campaigns.plain(20, 3, seed)) for seed in PLAIN}
    return {**{name: campaigns.digest(one) for name, one in problems().items()}, **plain}


def run() -> Result:
    if json.loads(DIGESTS.read_text()) != digests():
        raise SystemExit("the problems are not those of digests.json: the figures could not be compared")
    there = problems()
    large = {name: one for name, one in there.items() if name.startswith("60")}
    solved = [_timed(solve, one) for one in large.values()]
    lists = [_timed(solve_greedily, one) for one in large.values()]
    small = [_timed(solve, one) for name, one in there.items() if name not in large]
    plain = [_timed(shortest, *campaigns.plain(20, 3, seed)) for seed in PLAIN]
    return Result(
        measures=(*_of_large(solved, lists), *_of_plain(plain), *_of_small(small)),
        notes=(
            "gaps are of proven bounds; CPU is of this one process, which uses one core.",
            *(f"{name}: gap {_percent(one):.1f} %, {one.cpu:.1f} s CPU, {one.wall:.1f} s; {one.solution.why}"
              for name, one in zip(large, solved, strict=True)),
        ),
    )  # fmt: skip


def _of_large(solved: Sequence[Timed], lists: Sequence[Timed]) -> tuple[Measure, ...]:
    near = [
        one
        for one, other in zip(lists, solved, strict=True)
        if one.solution.objective - (other.solution.bound or 0) <= 0.05 * one.solution.objective
    ]
    gaps = [_percent(one) for one in solved]
    return (
        median("60 stages x 8 lanes x 200 offers: gap", gaps, "%", TARGET_GAP),
        Measure(name="the worst gap of these", value=max(gaps), unit="%", target=TARGET_WORST),
        median("CPU of one", [one.cpu for one in solved], "s", TARGET_SECONDS),
        median("the clock of one", [one.wall for one in solved], "s"),
        median("lists alone: objective above the same bound", _above(lists, solved), "%"),
        Measure(
            name="lists alone: within 5 % of it", value=100 * len(near) / len(lists), unit="%", target=50.0
        ),
        median("lists alone: CPU of one", [one.cpu for one in lists], "s"),
    )


def _above(lists: Sequence[Timed], solved: Sequence[Timed]) -> list[float]:
    pairs = zip(lists, solved, strict=True)
    return [100 * (1 - (other.solution.bound or 0) / one.solution.objective) for one, other in pairs]


def _of_plain(plain: Sequence[Timed]) -> tuple[Measure, ...]:
    missed = [one for one in plain if _percent(one) > TARGET_PLAIN_GAP]
    return (
        median("20 stages x 3 machines, no money: gap", [_percent(one) for one in plain], "%"),
        Measure(name="gap above 2 %, of these", value=100 * len(missed) / len(plain), unit="%", target=20.0),
        median("CPU of one", [one.cpu for one in plain], "s", 1.0),
    )


def _of_small(small: Sequence[Timed]) -> tuple[Measure, ...]:
    nothing, loaded = ([sys.executable, "-c", code] for code in ("pass", _LOAD))
    seconds_of_command(loaded)
    once = [seconds_of_command(loaded) - seconds_of_command(nothing) for _round in range(3)]
    return (
        median("10 runs and 20 offers: CPU of one", [one.cpu for one in small], "s", TARGET_SMALL_SECONDS),
        Measure(name="the worst gap of these", value=max(map(_percent, small)), unit="%"),
        median("once for all: CPU of loading both solvers", once, "s"),
    )


_LOAD = "import highspy; from ortools.sat.python import cp_model"


def _timed(way: Callable[..., Solution | NoPlan], *what: object) -> Timed:
    cpu, wall = time.process_time(), time.monotonic()
    answer = way(*what)
    if isinstance(answer, NoPlan):
        raise SystemExit(f"a problem of the fixed set has no plan: {answer.why}")
    return Timed(solution=answer, cpu=time.process_time() - cpu, wall=time.monotonic() - wall)


def _percent(one: Timed) -> float:
    assert one.solution.gap is not None, "both ways prove a bound"
    return 100 * one.solution.gap

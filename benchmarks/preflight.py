"""How often the check of a core's speed is wrong here: healthy runs, and kernels that were slowed down."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Sequence
from typing import Any

from benchmarks.result import Measure, Result
from lastro.preflight.speed.child import kernels, measure, reference
from lastro.preflight.speed.law import Answer, Bounds, judge

#: Runs from which is known what is usual; healthy and slowed ones that are judged by them.
EARLIER, HEALTHY, SLOWED = 5, 60, 20
#: A kernel of 7 pieces that takes as long as 10 has lost 30 % of its speed, one as long as 14 a half.
PIECES, THIRD, HALF = 7, 10, 14
#: CPU seconds of each half of a pair: shorter than in earnest, so noisier, to take no longer than a minute.
SHORT = 0.002

Work = Callable[[], Any]


def run() -> Result:
    found: list[Measure] = []
    for name, (work, _made_of) in kernels().items():
        found += _of_kernel(name, work)
    return Result(
        measures=tuple(found),
        notes=(
            f"shares of {HEALTHY} healthy and {SLOWED} slowed runs, beside {EARLIER} earlier ones",
            "slowed: the same work done more often for the same count, so it is slow in earnest",
        ),
    )


def _of_kernel(name: str, work: Work) -> list[Measure]:
    basis, healthy = reference(), _often(work, PIECES)
    earlier = [
        statistics.median(measure(healthy, basis, None, None, piece=SHORT)["pairs"]) for _ in range(EARLIER)
    ]
    usual, bounds = statistics.median(earlier), Bounds.after(EARLIER)

    def answers(of: Work, count: int) -> list[Answer]:
        runs = [measure(of, basis, usual, bounds, piece=SHORT)["pairs"] for _run in range(count)]
        return [judge([pair - usual for pair in pairs], bounds).answer for pairs in runs]

    well, third, half = (
        answers(healthy, HEALTHY),
        answers(_often(work, THIRD), SLOWED),
        answers(_often(work, HALF), SLOWED),
    )
    return [
        Measure(name=f"{name}: healthy, called slow", value=_share(well, Answer.SLOW), unit="", target=0.01),
        Measure(name=f"{name}: healthy, left open", value=_share(well, Answer.OPEN), unit=""),
        Measure(name=f"{name}: 30 % slower, passed", value=_share(third, Answer.WELL), unit="", target=0.0),
        Measure(name=f"{name}: 30 % slower, left open", value=_share(third, Answer.OPEN), unit=""),
        Measure(
            name=f"{name}: half as fast, not found",
            value=_share(half, Answer.OPEN, Answer.WELL),
            unit="",
            target=0.05,
        ),
        Measure(name=f"{name}: spread of earlier runs", value=statistics.pstdev(earlier), unit="log units"),
    ]


def _share(found: Sequence[Answer], *answers: Answer) -> float:
    return sum(answer in answers for answer in found) / len(found)


def _often(work: Work, count: int) -> Work:
    def many() -> None:
        for _piece in range(count):
            work()

    return many

"""When a kernel is slow: its time beside that of a reference, judged pair by pair until it is clear. Pure.

On a shared machine wall time says nothing, and CPU time of one kernel moves by 10 to 40 % with what the
neighbours do. A reference that runs right before and after it moves along, so each pair gives
log(kernel / reference), compared with what earlier runs gave. Two questions are asked of the median of these,
after every pair: is it surely above what a healthy machine shows, and is it surely below what a slow one
would? As long as neither is answered, the answer is that there is not enough evidence.

Looking after every pair would find something in pure noise sooner or later; so the counts of signs are
weighed by a mixture whose expectation stays 1 under the null hypothesis, however long one looks.
Sources: D. A. Darling and H. Robbins, Confidence sequences for mean, variance, and median, PNAS 58, 1967;
J. Ville, Etude critique de la notion de collectif, 1939 (the inequality). It holds whatever the noise looks
like, as long as a pair lies above the median as often as below it.

Standard library only: it runs in the Python of the job.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum

#: Chance of a wrong answer of either kind, from the noise of pairs alone.
RISK = 0.001
#: Pairs after which it stays open.
MOST_PAIRS = 60
#: How far the median of a whole run moves between runs on a healthy machine, in log units (1 sigma): what
#: neighbours do to one kind of kernel more than to another. Measured on a crowded box: docs/burn-in.md.
RUN_SPREAD = 0.07
#: So many of these are allowed for before anything is called slow, or well.
SIGMAS = 3.0
#: "Slow": 30 % less work in the same CPU time.
SLOW = math.log(1 / 0.7)


class Answer(str, Enum):
    """What the pairs say. OPEN: not enough evidence, which is neither well nor slow."""

    WELL = "well"
    SLOW = "slow"
    OPEN = "open"


@dataclass(frozen=True, kw_only=True)
class Bounds:
    """Medians above `slow` are called slow, below `well` well; log units beside what was seen before.

    Raises:
        ValueError: there is no earlier run to compare with.
    """

    slow: float
    well: float

    @classmethod
    def after(cls, runs: int) -> Bounds:
        """Return the bounds when `runs` earlier runs say what is usual: the fewer, the wider apart."""
        if runs < 1:
            raise ValueError("without an earlier run there is nothing to compare with")
        allowed = SIGMAS * RUN_SPREAD * math.sqrt(1 + 1 / runs)
        return cls(slow=allowed, well=SLOW - allowed)


@dataclass(frozen=True, kw_only=True)
class Judged:
    """An answer after `pairs` of them, whose median was `median` (log units beside what is usual)."""

    answer: Answer
    pairs: int
    median: float

    @property
    def speed(self) -> float:
        """The speed beside the usual one: 0.5 is half as fast."""
        return math.exp(-self.median)


def judge(pairs: Sequence[float], bounds: Bounds) -> Judged:
    """Judge pairs in the order in which they came; what comes after an answer is not looked at.

    Args:
        pairs: log(kernel / reference) of each, less the usual one; finite.
        bounds: from `Bounds.after`.
    """
    above_slow = below_well = 0
    for count, pair in enumerate(pairs, start=1):
        above_slow += pair > bounds.slow
        below_well += pair < bounds.well
        seen = pairs[:count]
        if weight(above_slow, count) >= 1 / RISK:
            return Judged(answer=Answer.SLOW, pairs=count, median=statistics.median(seen))
        if weight(below_well, count) >= 1 / RISK:
            return Judged(answer=Answer.WELL, pairs=count, median=statistics.median(seen))
    return Judged(answer=Answer.OPEN, pairs=len(pairs), median=statistics.median(pairs) if pairs else 0.0)


def weight(hits: int, count: int) -> float:
    """Return how much `hits` of `count` speak for more than half of all pairs being hits; 1: nothing.

    The likelihood of the hits, averaged evenly over all shares from a half to one, beside that of a half:
    2^(n+1) * integral from 1/2 to 1 of p^k (1-p)^(n-k) dp. By partial integration the integral is
    P(Binomial(n + 1, 1/2) <= k) / ((n + 1) * C(n, k)).
    """
    below = sum(math.comb(count + 1, k) for k in range(hits + 1)) / 2.0 ** (count + 1)
    return 2.0 ** (count + 1) * below / ((count + 1) * math.comb(count, hits))


def pair_of(before: float, kernel: float, after: float) -> float:
    """Return log(kernel / reference); the reference ran before and after it, so a drift falls out."""
    return math.log(kernel) - (math.log(before) + math.log(after)) / 2

"""The law of a loop that waits for its input: three measured paces, a verdict, a prediction. Pure.

A loop without workers loads, then computes: a batch takes the sum of both. With workers loading goes on
meanwhile, and a batch takes the longer of the two; where both vary, now one and now the other is, and a queue
of a few batches evens out some of it. Utilization of a GPU plays no part: it is the share of time in which
*any* kernel ran, and one small kernel shows 100 %.
"""

from __future__ import annotations

import random
import statistics
from collections.abc import Sequence
from enum import Enum

from lastro.locale import _
from lastro.records import dataclass

#: From so much waiting and so much to win on, the input is what holds a loop up; below the second pair it is
#: not. Between the two nobody should be sent to work on either side. Assumed; the margins are wider than the
#: 15 % within which the law has predicted 20 made loops.
WAITS, GAINS = 0.3, 1.3
RARELY_WAITS, HARDLY_GAINS = 0.1, 1.15
#: Batches that are drawn for a prediction: so many that it moves by less than 2 % with other draws.
_DRAWS = 4000
#: Fewer batches than this say nothing of a pace.
FEWEST = 5


class Bound(str, Enum):
    """What holds a loop up."""

    INPUT = "input"
    COMPUTE = "compute"
    MIXED = "mixed"
    UNKNOWN = "unknown"


@dataclass(frozen=True, kw_only=True)
class Paces:
    """What was measured of a loop, in batches a second.

    Args:
        real: as it is.
        replayed: with one batch given again and again, so that input costs nothing.
        loader: of the loader alone; None: it could not be begun anew.
        wait: the share of the time in which the loop stood and waited for its next batch.
        workers: of the loader; 0: the loop loads by itself.
        batches: over so many.
    """

    real: float
    replayed: float
    loader: float | None
    wait: float
    workers: int
    batches: int

    @property
    def gain(self) -> float:
        """How many times as fast the loop would be if input cost nothing."""
        return self.replayed / self.real


@dataclass(frozen=True, kw_only=True)
class Judged:
    """A verdict with its reason."""

    bound: Bound
    why: str


def predicted(loads: Sequence[float], bodies: Sequence[float], *, workers: int, prefetch: int) -> float:
    """Return the pace of a loop from its two halves, each measured alone; batches a second.

    With workers the measured times are drawn again (always the same ones) and led through a queue as long as
    the loader's: it works ahead until that is full, and the loop waits when it is empty. Of times that do not
    vary this gives the slower half's pace; of others less, which the two means alone cannot know.

    Args:
        loads: seconds from one batch of the loader alone to the next.
        bodies: seconds of the rest of the loop for a batch.
        workers: 0: the loop loads by itself.
        prefetch: batches that each worker prepares before they are asked for.

    Raises:
        ValueError: nothing was measured, or it took no time.
    """
    if not loads or not bodies or min(sum(loads), sum(bodies)) <= 0:
        raise ValueError(_("a pace has to be more than 0"))
    if not workers:
        return 1 / (statistics.fmean(loads) + statistics.fmean(bodies))
    draw, queue = random.Random(0), max(1, workers * prefetch)
    ready = now = 0.0
    taken: list[float] = []
    for number in range(_DRAWS):
        ready = max(ready, taken[number - queue] if number >= queue else 0.0) + draw.choice(loads)
        taken.append(max(now, ready))
        now = taken[-1] + draw.choice(bodies)
    first = _DRAWS // 10  # by then the queue is as full as it ever is
    return (_DRAWS - 1 - first) / (taken[-1] - taken[first])


def judge(paces: Paces) -> Judged:
    """Say what holds a loop up; both marks have to agree, or it is mixed."""
    if paces.batches < FEWEST:
        why = _("only {count} batches were seen, {least} are needed").format(
            count=paces.batches, least=FEWEST
        )
        return Judged(bound=Bound.UNKNOWN, why=why)
    told = _("it waits {wait:.0%} of the time, and would be {gain:.2f} times as fast with free input").format(
        wait=paces.wait, gain=paces.gain
    )
    if paces.wait >= WAITS and paces.gain >= GAINS:
        return Judged(bound=Bound.INPUT, why=told)
    if paces.wait <= RARELY_WAITS and paces.gain <= HARDLY_GAINS:
        return Judged(bound=Bound.COMPUTE, why=told)
    return Judged(bound=Bound.MIXED, why=told)

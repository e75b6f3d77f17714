"""How long machines of an offer live: as they were observed, or as one mean says with no memory."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Sequence
from itertools import pairwise

from lastro.errors import UsageError
from lastro.locale import _
from lastro.records import dataclass

#: Into so many equally likely lives a mean is spread: its mean is kept, and its spread to half a percent.
_SPREAD = 256


@dataclass(frozen=True, kw_only=True)
class Lifetimes:
    """Equally likely lives in hours, sorted, and where they come from.

    `observed`: they were seen. Otherwise only their mean is known, and a machine is taken to be as likely to
    go in its first hour as in any other; real ones go early or live long, so that this is too hopeful for
    short work and too dark for long saves. Lives are taken to be independent of each other.
    """

    hours: tuple[float, ...]
    observed: bool
    origin: str

    @property
    def mean(self) -> float:
        """Hours."""
        return math.fsum(self.hours) / len(self.hours)

    def survival(self, hours: float) -> float:
        """Return the share that lives longer than `hours`."""
        return (len(self.hours) - bisect_right(self.hours, hours)) / len(self.hours)


def observed_lifetimes(hours: Sequence[float], *, origin: str) -> Lifetimes:
    """Return lives as they were seen, from the moment a machine is paid for until it was taken away.

    A machine that was given back alive has no such life: leave it out, and the picture becomes darker than
    it is; count it, and it does too.

    Raises:
        UsageError: there is none, or one of them is no positive number.
    """
    if not hours:
        raise UsageError(_("no life of a machine was observed"), hint=_("give the mean time between them"))
    return Lifetimes(hours=tuple(sorted(_positive(hour) for hour in hours)), observed=True, origin=origin)


def memoryless(mean_hours: float, *, origin: str) -> Lifetimes:
    """Return the exponential distribution with this mean as equally likely lives, each the mean of its part.

    Source: the mean of an exponential between the shares q and r that live longer, with M its mean:
    (q (a + M) - r (b + M)) / (q - r), a = -M log q, b = -M log r.

    Raises:
        UsageError: the mean is no positive number.
    """
    mean = _positive(mean_hours)
    left = [1 - part / _SPREAD for part in range(_SPREAD)]
    moments = [mean * share * (1 - math.log(share)) for share in left] + [0.0]
    lives = ((before - after) * _SPREAD for before, after in pairwise(moments))
    return Lifetimes(hours=tuple(lives), observed=False, origin=origin)


def _positive(hours: float) -> float:
    if not math.isfinite(hours) or hours <= 0:
        raise UsageError(_("a machine cannot live for {hours} h").format(hours=hours))
    return float(hours)

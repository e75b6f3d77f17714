"""What a run is expected to take on spot machines: hours that are lost, and hours that are paid twice."""

from __future__ import annotations

import math
from bisect import bisect_left
from itertools import accumulate

from lastro.billing import Lease, billed_seconds
from lastro.errors import PlanError, UsageError
from lastro.locale import _
from lastro.plan.lifetimes import Lifetimes
from lastro.records import dataclass

_HOUR = 3600
#: More saves than these are a mistake in a unit: a year, saved every five minutes.
_MOST_SAVES = 105_120
#: Of the time from save to save: what is nearer is the same. More than what a count of saves is rounded by.
_SAME = 2e-9


@dataclass(frozen=True, kw_only=True)
class Work:
    """What one run has to do, in hours, and what it takes to do it on machines that go away.

    `hours` is work alone. `start`: boot and set-up of each machine. `restore`: what a start that has a save
    to go on from takes more. `every`: work between two saves, each of which stalls it for `stall`.
    """

    hours: float
    start: float = 0.0
    restore: float = 0.0
    every: float
    stall: float = 0.0
    never_spot: bool = False

    def __post_init__(self) -> None:
        found = [self.hours, self.start, self.restore, self.every, self.stall]
        if (
            not all(math.isfinite(hours) and hours >= 0 for hours in found)
            or not self.hours
            or not self.every
        ):
            raise UsageError(
                _("hours of work and between saves have to be positive, the others not negative")
            )
        if self.hours / self.every > _MOST_SAVES:
            raise UsageError(
                _(
                    "{hours:g} h of work with a save every {every:g} h are more saves than anybody makes"
                ).format(hours=self.hours, every=self.every)
            )


@dataclass(frozen=True, kw_only=True)
class SpotEstimate:
    """What is expected on spot, in hours: held is work, starting, saving and lost together.

    `lives`: machines taken, the last one to the end. `billed`: what is paid of `held`, in started units.
    `end`: with the waits for the next machine; None: nobody knows how long these are.
    """

    held: float
    billed: float
    lives: float
    starting: float
    saving: float
    lost: float
    end: float | None


def expect_spot(work: Work, lease: Lease, lifetimes: Lifetimes, *, away: float | None = None) -> SpotEstimate:
    """Return what a run is expected to take on spot machines.

    Each machine's life is one of `lifetimes`, drawn anew and independent of the others; what was saved on one
    goes on on the next. The expectation is exact for that: the states are how many saves there are, and each
    is visited as often as lives that begin before it end in it.

    Args:
        work: the run.
        lease: how a machine is billed; its price is not looked at.
        lifetimes: of machines of this offer.
        away: hours on average from an interruption until another machine is to be had.

    Raises:
        PlanError: no machine lives long enough to get to a first save, or to the end.
    """
    lives = lifetimes.hours
    count, each = len(lives), work.every + work.stall
    segments = math.ceil(work.hours / work.every - 1e-9)
    visits = [0.0] * segments
    visits[0] = 1.0
    first = _Lives.after(work.start, lives, each, lease)
    later = _Lives.after(work.start + work.restore, lives, each, lease)
    total, billed, starting, saving, lost = 0.0, 0.0, 0.0, 0.0, 0.0
    for saved in range(segments):
        if not visits[saved]:
            continue
        table = later if saved else first
        saves = segments - saved - 1
        need = table.start + work.hours - saved * work.every + saves * work.stall
        # Lives that end before the work does; of these, `barren` end before the next save. One that ends with
        # it, but for the last digits of a float, has done it.
        cut = bisect_left(lives, need - _SAME * each)
        barren = min(cut, table.barren)
        if barren == count:
            raise PlanError(
                _("no machine lives for the {hours:.2g} h that it takes to get to a save ({origin})").format(
                    origin=lifetimes.origin, hours=table.start + min(each, need - table.start)
                ),
                hint=_("save more often, start faster, or run this on demand"),
            )
        begun = visits[saved] / (1 - barren / count)
        for group in table.groups:
            if group.first >= cut:
                break
            size = min(cut, group.end) - group.first
            visits[saved + group.saves] += begun * size / count
        share, done = begun / count, count - cut
        total += begun
        billed += share * (table.billed[cut] + done * billed_seconds(lease, need * _HOUR) / _HOUR)
        starting += share * (table.starting[cut] + done * table.start)
        saving += share * (table.saves[cut] + done * saves) * work.stall
        lost += share * table.lost[cut]
    held = work.hours + starting + saving + lost
    end = None if away is None else held + (total - 1) * away
    return SpotEstimate(
        held=held, billed=billed, lives=total, starting=starting, saving=saving, lost=lost, end=end
    )


@dataclass(frozen=True, kw_only=True)
class _Run:
    """Lives `first` to `end` (not included), which all get to `saves` saves, one at least."""

    first: int
    end: int
    saves: int


@dataclass(frozen=True, kw_only=True)
class _Lives:
    """What becomes of lives that are all interrupted, after a start that takes `start` hours.

    `billed`, `starting`, `saves`, `lost`: sums over the shortest 0, 1, 2, ... lives.
    """

    start: float
    barren: int
    groups: tuple[_Run, ...]
    billed: tuple[float, ...]
    starting: tuple[float, ...]
    saves: tuple[float, ...]
    lost: tuple[float, ...]

    @classmethod
    def after(cls, start: float, lives: tuple[float, ...], each: float, lease: Lease) -> _Lives:
        saves = [max(0, math.floor((life - start) / each + 1e-9)) for life in lives]
        lost = [max(0.0, life - start - made * each) for life, made in zip(lives, saves, strict=True)]
        groups, first = [], 0
        for end in range(1, len(lives) + 1):
            if end == len(lives) or saves[end] != saves[first]:
                groups.append(_Run(first=first, end=end, saves=saves[first]))
                first = end
        return cls(
            start=start,
            barren=saves.count(0),
            groups=tuple(group for group in groups if group.saves),
            billed=_sums([billed_seconds(lease, life * _HOUR) / _HOUR for life in lives]),
            starting=_sums([min(life, start) for life in lives]),
            saves=_sums(saves),
            lost=_sums(lost),
        )


def _sums(values: list[float] | list[int]) -> tuple[float, ...]:
    return tuple(accumulate(values, initial=0.0))

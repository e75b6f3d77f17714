"""When to start, where price or availability hang on the hour of the day: times, and what each saves."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta, timezone
from decimal import Decimal
from itertools import pairwise

from lastro.errors import UsageError
from lastro.locale import _
from lastro.records import dataclass
from lastro.units import Money

_DAY = timedelta(days=1)
_RANGE = re.compile(r"\s*(\d{1,2})\s*-\s*(\d{1,2})\s*")
_MICRO = Decimal("0.000001")


@dataclass(frozen=True, kw_only=True)
class Band:
    """Hours of the day, from `begins` until `ends` (0 to 24; over midnight where it ends earlier).

    `price` of one hour, None: unknown. `available` False: no machine is to be had then.
    """

    begins: int
    ends: int
    price: Money | None = None
    available: bool = True

    def covers(self, hour: int) -> bool:
        """Say whether an hour of the day (0 to 23) lies in it; equal ends are the whole day."""
        if self.begins % 24 == self.ends % 24:
            return True
        return (hour - self.begins) % 24 < (self.ends - self.begins) % 24


@dataclass(frozen=True, kw_only=True)
class Start:
    """One time to start, in UTC, with the end and the cost (None: unknown) of starting then.

    `later`: how long that is after starting now, or after the first time that is possible. `saves`: how much
    less it costs than that; None: unknown.
    """

    at: datetime
    end: datetime
    cost: Money | None
    later: timedelta
    saves: Money | None


@dataclass(frozen=True, kw_only=True)
class Starts:
    """What to compare, and why. `first`: now, or when a machine is first to be had; None: not in the window.

    `proposed`: each cheaper than all that come before it, the cheapest last; empty when nothing is cheaper.
    """

    first: Start | None
    proposed: tuple[Start, ...]
    why: str


def read_bands(by_hour: Mapping[str, Money | None], *, none: Sequence[str] = ()) -> tuple[Band, ...]:
    """Return bands from what people write: `{"22-06": price}`, and the ranges with no machine in `none`.

    Raises UsageError for what is no range of hours, and for two ranges that overlap.
    """
    bands = [
        *(_band(text, price, available=True) for text, price in by_hour.items()),
        *(_band(text, None, available=False) for text in none),
    ]
    for place, band in enumerate(bands):
        for other in bands[:place]:
            if any(band.covers(hour) and other.covers(hour) for hour in range(24)):
                raise UsageError(
                    _("the hours {a}-{b} and {c}-{d} overlap").format(
                        a=other.begins, b=other.ends, c=band.begins, d=band.ends
                    )
                )
    return tuple(bands)


def _band(text: str, price: Money | None, *, available: bool) -> Band:
    match = _RANGE.fullmatch(text)
    if not match or int(match[1]) > 24 or int(match[2]) > 24:
        raise UsageError(
            _("{text!r} is no range of hours").format(text=text), hint=_("for example 22-06 or 9-17")
        )
    return Band(begins=int(match[1]), ends=int(match[2]), price=price, available=available)


def propose_starts(
    duration: timedelta,
    *,
    now: datetime,
    bands: Sequence[Band],
    price: Money | None,
    utc_offset: timedelta = timedelta(),
    window: timedelta | None = None,
    kept: bool = True,
) -> Starts:
    """Return when a run that goes through in one piece would cost least, against starting now.

    Cost is summed by the hour of the day in which the time is used; billing units and minimums are left to
    the caller. Between the moments at which a start or an end meets a band's edge the cost changes in a
    straight line, so that only these moments are tried, with the first and the last, over one day.

    Args:
        duration: what is billed; boot and set-up included.
        now: aware.
        bands: hours of the day in local time; they do not overlap.
        price: of an hour outside all bands; None: unknown.
        utc_offset: local time less UTC, fixed: clocks that change are not followed.
        window: within which it has to be done, from now; None sets no limit.
        kept: a machine that is held is kept through hours in which none is to be had; otherwise the run has
            to lie outside them.

    Raises:
        UsageError: the duration is not positive, `now` has no time zone, or prices are in several currencies.
    """
    if duration <= timedelta() or now.tzinfo is None:
        raise UsageError(_("a positive duration and a time with its zone are needed"))
    currencies = {each.currency for each in [price, *(band.price for band in bands)] if each is not None}
    if len(currencies) > 1:
        raise UsageError(
            _("prices in {currencies} do not compare without a dated rate").format(
                currencies=", ".join(sorted(currencies))
            )
        )
    day = _Day(bands=tuple(bands), price=price, zone=timezone(utc_offset), kept=kept)
    last = now + (_DAY if window is None else min(_DAY, window - duration))
    moments = sorted(
        {now, last, *day.edges(now, last), *(edge - duration for edge in day.edges(now, last + duration))}
    )
    possible = [at for at in moments if now <= at <= last and day.allows(at, at + duration)]
    if not possible:
        return Starts(first=None, proposed=(), why=_("within the window no machine can be held long enough"))
    reference = day.cost(possible[0], possible[0] + duration)
    starts = [_start(day, at, duration, possible[0], reference) for at in possible]
    return _chosen(starts, now)


def _chosen(starts: Sequence[Start], now: datetime) -> Starts:
    first, proposed = starts[0], []
    least = first.cost
    for start in starts[1:]:
        if start.cost is None or least is None:
            continue
        if start.cost.amount < least.amount - _MICRO:
            proposed.append(start)
            least = start.cost
    if first.cost is None:
        why = _("the price of some of these hours is unknown, so no start is shown to be cheaper")
    elif proposed:
        why = _("starting at {at:%Y-%m-%d %H:%M} UTC saves {saves}").format(
            at=proposed[-1].at, saves=proposed[-1].saves
        )
    else:
        why = _("no later start is cheaper")
    if first.at > now:
        why = _("no machine is to be had before {at:%Y-%m-%d %H:%M} UTC; {why}").format(at=first.at, why=why)
    return Starts(first=first, proposed=tuple(proposed), why=why)


def _start(day: _Day, at: datetime, duration: timedelta, first: datetime, reference: Money | None) -> Start:
    cost = day.cost(at, at + duration)
    saves = None
    if cost is not None and reference is not None:
        saves = Money(reference.amount - cost.amount, cost.currency)
    return Start(
        at=at.astimezone(timezone.utc),
        end=(at + duration).astimezone(timezone.utc),
        cost=cost,
        later=at - first,
        saves=saves,
    )


def cost_between(
    begin: datetime,
    end: datetime,
    *,
    bands: Sequence[Band],
    price: Money | None,
    utc_offset: timedelta = timedelta(),
) -> Money | None:
    """Return what a machine costs that is held from `begin` to `end`, by the prices of the hours in between.

    Arguments as for `propose_starts`. None: the price of a part is unknown.
    """
    return _Day(bands=tuple(bands), price=price, zone=timezone(utc_offset), kept=True).cost(begin, end)


@dataclass(frozen=True, kw_only=True)
class _Day:
    """What each hour of the local day costs, and whether a machine is to be had in it."""

    bands: tuple[Band, ...]
    price: Money | None
    zone: timezone
    kept: bool

    def _band(self, at: datetime) -> Band | None:
        return next((band for band in self.bands if band.covers(at.astimezone(self.zone).hour)), None)

    def edges(self, begin: datetime, end: datetime) -> list[datetime]:
        """Return the moments in between at which some band begins or ends."""
        at = begin.astimezone(self.zone).replace(minute=0, second=0, microsecond=0) + timedelta(hours=1)
        hours = {hour % 24 for band in self.bands for hour in (band.begins, band.ends)}
        found = []
        while at <= end:
            if at.hour in hours:
                found.append(at)
            at += timedelta(hours=1)
        return found

    def _parts(self, begin: datetime, end: datetime) -> list[tuple[datetime, datetime]]:
        cuts = [begin, *(edge for edge in self.edges(begin, end) if edge < end), end]
        return list(pairwise(cuts))

    def allows(self, begin: datetime, end: datetime) -> bool:
        """Say whether a machine can be had at the begin, and held until the end."""
        parts = self._parts(begin, end)[: 1 if self.kept else None]
        return all(band is None or band.available for band in (self._band(at) for at, _end in parts))

    def cost(self, begin: datetime, end: datetime) -> Money | None:
        """Return what the time costs; None when the price of a part is unknown.

        Where no machine is to be had, one that is kept is paid as outside all bands.
        """
        total: Money | None = None
        for at, until in self._parts(begin, end):
            band = self._band(at)
            price = self.price if band is None or not band.available else band.price
            if price is None:
                return None
            part = price.times(Decimal(str((until - at).total_seconds())) / 3600)
            total = part if total is None else total + part
        return None if total is None else Money(total.amount.quantize(_MICRO), total.currency)

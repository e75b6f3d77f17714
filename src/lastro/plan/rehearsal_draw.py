"""The losses of a rehearsal, drawn from an offer's history by a seed: the same seed, the same losses."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import ceil, floor

from lastro.plan.lifetimes import Lifetimes
from lastro.plan.luck import stream, uniform
from lastro.plan.rehearsal_scale import RunScale, Scale
from lastro.plan.rehearsal_shape import Pauses, Shape
from lastro.plan.rehearsal_weather import REFUSED_SHARE, SILENT_SHARE, SUDDEN_SHARE, Kind, Weather
from lastro.records import dataclass

#: More losses than this show nothing new, and each costs seconds of the rehearsal.
MOST_LOSSES = 12
#: In a row; the waits between requests double.
MOST_REFUSALS = 2
#: A loss later than this in a run may come when its small run is over already.
LATEST = 0.8
#: Less than this part of a step is rounding of binary fractions.
_ROUNDING = 1e-9


@dataclass(frozen=True, kw_only=True)
class Drawn:
    """One thing that is going to happen. `index` counts from 0, in the order in which they are listed.

    `run`, `step`: at which step of which small run; empty and 0 of a refusal, which has `create`: the number
    of the request. `added`: the history has none, but without a loss nothing would be rehearsed.
    """

    index: int
    kind: Kind
    run: str = ""
    step: int = 0
    notice: float | None = None
    create: int | None = None
    added: bool = False


@dataclass(frozen=True, kw_only=True)
class Forecast:
    """What was drawn. `expected`: losses by the history, on average; None: there is none.

    `cut`: more losses were drawn than are played, so that the end is later and dearer than what is seen.
    """

    faults: tuple[Drawn, ...]
    expected: float | None
    cut: bool


#: Seconds that a fault adds to a small campaign, about: another machine, the silence that is waited for.
_SECONDS = {Kind.NOTICE: 8.0, Kind.SUDDEN: 8.0, Kind.SILENT: 20.0, Kind.REFUSED: 3.0}


def within(forecast: Forecast, seconds: float) -> Forecast:
    """Return what of it can be played in so many seconds beside the work; one fault at least, the first ones.

    What is left out makes the end later and dearer than what is seen, as everything that is cut.
    """
    left = seconds
    kept: list[Drawn] = []
    for fault in forecast.faults:
        left -= _SECONDS[fault.kind]
        if left < 0 and kept:
            return replace(forecast, faults=tuple(kept), cut=True)
        kept.append(fault)
    return forecast


@dataclass(frozen=True)
class _Loss:
    at: float
    kind: Kind
    run: str
    step: int
    added: bool = False


@dataclass(frozen=True)
class _Request:
    """A machine that is asked for, and how often it is refused before."""

    at: float
    refused: int


def draw_faults(shape: Shape, scale: Scale, weather: Weather, seed: int) -> Forecast:
    """Return the losses of a rehearsal.

    Each lane's machines live one after another, each for a life of the history; a run that has lost its
    machine goes on from its last save on the next one, as planned. Where nothing is known of lives, each kind
    comes once, somewhere.

    Args:
        shape: the plan.
        scale: of its small runs; those without steps have no losses.
        weather: what is drawn from.
        seed: the same seed gives the same losses.
    """
    lanes = [[scale.runs[name] for name in lane if name in scale.runs] for lane in shape.lanes]
    lanes = [lane for lane in lanes if lane]
    if not lanes:  # a machine can be refused whatever runs on it
        refusal = Drawn(index=0, kind=Kind.REFUSED, create=1)
        return Forecast(faults=(refusal,), expected=None, cut=False)
    timed = all(one.hours is not None for lane in lanes for one in lane)
    if weather.lives is None or not timed:
        return Forecast(faults=_one_of_each(lanes, weather, seed), expected=None, cut=False)
    lives = _Lives(scale.every, shape.pauses, weather, weather.lives)
    room = max(1, MOST_LOSSES // len(lanes))
    for number, lane in enumerate(lanes):
        lives.live(lane, _Luck(seed, f"lane {number}"), room)
    work = sum(one.hours or 0.0 for lane in lanes for one in lane)
    if not lives.losses:
        run, step = _somewhere(lanes, _Luck(seed, "added").next())
        lives.losses.append(_Loss(0.0, Kind.SUDDEN, run, step, added=True))
    faults = (*_losses(lives.losses, lanes, weather), *_refusals(lives.requests, len(lives.losses)))
    return Forecast(faults=faults, expected=work / weather.lives.mean, cut=lives.cut)


class _Luck:
    """Numbers in [0, 1), one after another."""

    def __init__(self, seed: int, name: str) -> None:
        self._begin, self._count = stream(seed, f"rehearsal, {name}"), -1

    def next(self) -> float:
        self._count += 1
        return uniform(self._begin, self._count)


class _Lives:
    """Lets machines live, lane by lane, and keeps what happens to them."""

    def __init__(self, every: int, pauses: Pauses, weather: Weather, lives: Lifetimes) -> None:
        self._every, self._pauses, self._weather, self._lives = every, pauses, weather, lives.hours
        self.losses: list[_Loss] = []
        self.requests: list[_Request] = []
        self.cut = False

    def live(self, lane: Sequence[RunScale], luck: _Luck, room: int) -> None:
        """Let the machines of one lane live; no more than `room` of them are lost."""
        now, left = 0.0, 0.0
        for one in lane:
            hours = one.hours or 0.0
            done, restart = 0.0, 0.0
            while True:
                if left <= 0:
                    self.requests.append(_Request(now, _refused(luck)))
                    life = self._lives[floor(luck.next() * len(self._lives))]
                    left, now = life - self._pauses.boot, now + self._pauses.boot
                need = restart + hours - done
                if left >= need:
                    left, now = left - need, now + need
                    break
                if not room:
                    self.cut = True
                    return
                room -= 1
                reached, now, left = done + max(0.0, left - restart), now + max(0.0, left), 0.0
                kind = _kind(luck, self._weather)
                self.losses.append(_Loss(now, kind, one.run, _step(one, reached)))
                done = reached if kind is Kind.NOTICE else _saved(one, reached, self._every)
                restart, now = self._pauses.restart, now + (self._pauses.away or 0.0)


def _refused(luck: _Luck) -> int:
    count = 0
    while luck.next() < REFUSED_SHARE and count < MOST_REFUSALS:
        count += 1
    return count


def _kind(luck: _Luck, weather: Weather) -> Kind:
    share = luck.next()
    if share < SILENT_SHARE:
        return Kind.SILENT
    if weather.notice is None or share < SILENT_SHARE + SUDDEN_SHARE * (1 - SILENT_SHARE):
        return Kind.SUDDEN
    return Kind.NOTICE


def _step(one: RunScale, hours: float) -> int:
    """Return the step at which so many hours of a run are done, where it can still be seen to be."""
    step = ceil(hours / (one.hours or 1.0) * one.steps - _ROUNDING)
    return max(1, min(step, floor(one.steps * LATEST)))


def _saved(one: RunScale, hours: float, every: int) -> float:
    whole = one.hours or 0.0
    steps = floor(hours / whole * one.steps + _ROUNDING) if whole else 0
    return steps // every * every / one.steps * whole


def _one_of_each(lanes: Sequence[Sequence[RunScale]], weather: Weather, seed: int) -> tuple[Drawn, ...]:
    luck = _Luck(seed, "one of each")
    losses = []
    for at, kind in enumerate((Kind.NOTICE, Kind.SUDDEN, Kind.SILENT)):
        run, step = _somewhere(lanes, luck.next())
        losses.append(_Loss(float(at), kind, run, step))
    found = _losses(losses, lanes, weather)
    # A first machine, and one for each loss: whichever of them it is, it will be asked for.
    number = 1 + floor(luck.next() * (len(losses) + 1))
    return (*found, Drawn(index=len(found), kind=Kind.REFUSED, create=number))


def _somewhere(lanes: Sequence[Sequence[RunScale]], share: float) -> tuple[str, int]:
    """Return a place that lies so far into all work, by hours where they are known, else by runs."""
    runs = [one for lane in lanes for one in lane]
    timed = all(one.hours for one in runs)
    weights = [one.hours or 0.0 if timed else 1.0 for one in runs]
    left = share * sum(weights)
    for one, weight in zip(runs, weights, strict=True):
        if left < weight or one is runs[-1]:
            return one.run, max(1, floor(left / weight * LATEST * one.steps) if weight else 1)
        left -= weight
    raise AssertionError("the last run takes what is left")


def _losses(losses: Sequence[_Loss], lanes: Sequence[Sequence[RunScale]], weather: Weather) -> list[Drawn]:
    """Return losses by run and step: in the order in which they can come, whichever life of a run it is."""
    order = {one.run: place for place, one in enumerate(one for lane in lanes for one in lane)}
    return [
        Drawn(
            index=index,
            kind=loss.kind,
            run=loss.run,
            step=loss.step,
            notice=weather.notice if loss.kind is Kind.NOTICE else None,
            added=loss.added,
        )
        for index, loss in enumerate(sorted(losses, key=lambda loss: (order[loss.run], loss.step)))
    ]


def _refusals(requests: Sequence[_Request], first: int) -> list[Drawn]:
    """Return which requests are refused: they are counted over all lanes, refused ones with them."""
    found: list[Drawn] = []
    number = 0
    for request in sorted(requests, key=lambda request: request.at):
        for _again in range(request.refused):
            number += 1
            found.append(Drawn(index=first + len(found), kind=Kind.REFUSED, create=number))
        number += 1
    return found

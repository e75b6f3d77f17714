"""Measures a training loop from inside: what it waits for its input, and its pace when there is no waiting.

Four parts, one after the other: the loop as it is, its waiting looked at; one batch given again and again, so
that input costs nothing; the loader alone; the loader with other numbers of workers. Then the process ends.
Standard library only: the job's Python may have no lastro.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

#: Batches at the beginning that say nothing: caches, compilation, what the workers have prepared.
WARM = 3
#: Of the replayed ones: what the workers were still doing is over by then.
_SETTLE = 2
#: Times that each number of workers is measured, in turns with the others.
_ROUNDS = 2
#: A mean is sure when its standard error is at most this share of it. Assumed.
_SURE = 0.04
#: Longest wait until idle workers have filled their queue.
_MOST_SETTLING_SECONDS = 5.0


@dataclass(frozen=True, kw_only=True)
class Told:
    """What a profile tells the process that it looks at.

    Args:
        out: where the result goes, a JSON file.
        batches: so many are measured in each part at least,
        most: and so many at most, until their mean is sure,
        seconds: unless they take longer than this.
        workers: numbers of workers that the loader alone is tried with.
    """

    out: str
    batches: int = 25
    most: int = 150
    seconds: float = 15.0
    workers: tuple[int, ...] = ()

    @classmethod
    def read(cls, path: Path) -> Told:
        """Read instructions. Raises OSError, KeyError, TypeError or ValueError for anything else."""
        value = json.loads(path.read_text(encoding="utf-8"))
        return cls(**{**value, "workers": tuple(value["workers"])})


@dataclass(frozen=True, kw_only=True)
class Feed:
    """Where the batches of a loop come from.

    draw: gives the next one. fresh: begins anew, with so many workers (None: as it is); None where that
    cannot be had. again: a batch as it may be given once more. facts: of the loader, for the result.
    """

    draw: Callable[[], Any]
    fresh: Callable[[int | None], Iterator[Any] | None]
    facts: Mapping[str, Any]
    again: Callable[[Any], Any] = lambda batch: batch


class LoopWatch:
    """Stands between a loop and its loader. `take` is called for every batch, `trained` for every backward.

    Args:
        told: how long, and where to.
        device: says whether a device computes beside this process.
        settle: waits for that device.
        facts: of the batch and the process, for the result.
        end: ends the process when everything was measured.
    """

    def __init__(
        self,
        told: Told,
        *,
        device: Callable[[], bool] = lambda: False,
        settle: Callable[[], None] = lambda: None,
        facts: Callable[[Any], Mapping[str, Any]] = lambda _batch: {},
        end: Callable[[], None] = lambda: os._exit(0),
    ) -> None:
        self._told, self._device, self._settle, self._facts, self._end = told, device, settle, facts, end
        self._pid = os.getpid()
        self.within = False
        self._trained = False
        self._key: int | None = None
        self._seen: set[int] = set()
        self._given = self._drew = 0.0
        self._skip = WARM
        self._free: list[float] = []
        self._waits: list[float] = []
        self._bodies: list[float] = []
        self._starts: list[float] = []
        self._held: Any = None
        self._replayed: list[float] = []
        self._replays: int | None = None
        self._disturbed = False
        self._unlearned = 0

    def trained(self) -> None:
        """Something was learned from the batch that was given last."""
        self._trained = True

    def take(self, key: int, feed: Feed) -> Any:
        """Return the next batch for a loop; `key` names its iterator, and never another one.

        Raises:
            StopIteration: the loader has no more.
        """
        if os.getpid() != self._pid or self.within:
            return feed.draw()
        if self._replays is not None:
            return self._replay(feed) if key == self._replays else self._beside(feed)
        counts = self._key == key and self._trained
        if counts:
            self._close(self._now() - self._given)
        elif self._key == key:
            self._unlearned += 1
        if counts and self._enough(self._wholes(), _turn(feed)):
            return self._begin_replay(key, feed)
        return self._draw(key, feed)

    def _now(self) -> float:
        if not self._is_free():
            self._settle()
        return time.monotonic()

    def _is_free(self) -> bool:
        """Say whether the loop is left alone now: waiting for a device at each batch would slow it down."""
        return self._device() and len(self._free) < self._told.batches

    def _close(self, body: float) -> None:
        """Count a batch that was learned from: the wait for it, and what was done with it."""
        wait = self._given - self._drew
        if self._skip > 0:
            self._skip -= 1
        elif self._is_free():
            self._free.append(wait + body)
        else:
            self._waits.append(wait)
            self._bodies.append(body)

    def _draw(self, key: int, feed: Feed) -> Any:
        new, self._drew = key not in self._seen, self._now()
        self.within = True
        try:
            batch = feed.draw()
        finally:
            self.within = False
        self._given = self._now()
        if not self._seen:
            self._skip = max(WARM, _queue(feed) + 1)
        elif new:
            self._skip = max(self._skip, 1)
            self._starts.append(self._given - self._drew)  # workers that start again with each epoch
        self._seen.add(key)
        self._key, self._trained, self._held = key, False, batch
        return batch

    def _enough(self, times: list[float], turn: int = 1, *, share: int = 1) -> bool:
        """Say whether so many batches were measured, in whole turns of the workers, that their mean is sure.

        `share`: of what a part has, the part of one round.
        """
        spent = sum(times)
        if len(times) >= 3 and spent >= self._told.seconds / share:
            return True
        if len(times) < -(-self._told.batches // share) or len(times) % turn:
            return False
        return len(times) >= self._told.most // share or _is_sure(times, spent)

    def _wholes(self) -> list[float]:
        return [wait + body for wait, body in zip(self._waits, self._bodies, strict=True)]

    # --- one batch again and again ----------------------------------------------------------------------

    def _begin_replay(self, key: int, feed: Feed) -> Any:
        """Let workers fill their queue first: afterwards nothing is loaded beside the replayed batches."""
        self._replays = key
        each = (sum(self._waits) + sum(self._bodies)) / len(self._waits)
        time.sleep(min(_MOST_SETTLING_SECONDS, _queue(feed) * each))
        return self._give_again(feed)

    def _replay(self, feed: Feed) -> Any:
        if not self._disturbed and self._trained:
            self._replayed.append(self._now() - self._given)
        measured = self._replayed[_SETTLE:]
        if measured and self._enough(measured):
            self._finish(feed)
        return self._give_again(feed)

    def _give_again(self, feed: Feed) -> Any:
        self._trained = self._disturbed = False
        batch = feed.again(self._held)
        self._given = self._now()
        return batch

    def _beside(self, feed: Feed) -> Any:
        """Give what another loop asks for, such as a validation; the time that it takes is its own."""
        self._disturbed = True
        return feed.draw()

    # --- the loader alone ---------------------------------------------------------------------------------

    def _finish(self, feed: Feed) -> None:
        """Measure the loader in rounds: what else the machine does meanwhile meets each number of workers."""
        self.within = True
        now = feed.facts.get("workers")
        counts = [None, *(count for count in self._told.workers if count != now)]
        sums: dict[int | None, dict[str, Any] | None] = {}
        for number in range(_ROUNDS):
            for count in counts:
                one = self._alone(feed, count)
                sums[count] = one if number == 0 else _added(sums[count], one)
        alone = sums.pop(None)
        self._write(feed.facts, alone, {str(count): one for count, one in sums.items() if one is not None})
        self._end()

    def _alone(self, feed: Feed, workers: int | None) -> dict[str, Any] | None:
        """Draw batches with nothing between them; None where the loader cannot be begun anew."""
        with suppress(Exception):  # a foreign loader may refuse in any way; then its pace is not known
            return self._drawn(feed, workers)
        return None

    def _drawn(self, feed: Feed, workers: int | None) -> dict[str, Any] | None:
        count = int(feed.facts.get("workers") or 0) if workers is None else workers
        skip = count * int(feed.facts.get("prefetch") or 2) + 1
        each: list[float] = []
        cpu, with_start, deadline = 0.0, False, time.monotonic() + self._told.seconds / _ROUNDS
        while not self._enough(each, max(1, count), share=_ROUNDS) and time.monotonic() < deadline:
            source = feed.fresh(workers)
            if source is None:
                return None
            began = last = time.monotonic()
            before, skipped, own = time.process_time(), list[float](), list[float]()
            for _batch in source:
                now = time.monotonic()
                (own if len(skipped) == skip else skipped).append(now - last)
                last = now
                if len(skipped) == skip and not own:
                    before = time.process_time()
                if self._enough([*each, *own], max(1, count), share=_ROUNDS) or now > deadline:
                    break
            # An epoch that is over before its queue is used up: what its start takes is a part of its pace.
            with_start |= not own
            each += own or skipped
            cpu += time.process_time() - before
            if last == began:
                break
        told = [round(seconds, 6) for seconds in each]
        return {"each": told, "cpu_seconds": cpu, "with_start": int(with_start)}

    # --- the result ---------------------------------------------------------------------------------------

    def _write(
        self, facts: Mapping[str, Any], alone: dict[str, Any] | None, tried: Mapping[str, Any]
    ) -> None:
        told = {
            "complete": self._replays is not None,
            "loader": dict(facts),
            "free": self._free,
            "waits": self._waits,
            "bodies": self._bodies,
            "epoch_starts": self._starts,
            "replayed": self._replayed[_SETTLE:],
            "alone": alone,
            "tried": dict(tried),
            "unlearned": self._unlearned,
            "facts": dict(self._facts(self._held)),
        }
        out = Path(self._told.out)
        aside = out.with_suffix(".new")
        aside.write_text(json.dumps(told), encoding="utf-8")
        aside.replace(out)

    def left_early(self) -> None:
        """The process ends by itself: keep what was seen, if it is anything."""
        if os.getpid() == self._pid and self._seen and not Path(self._told.out).exists():
            self._replays = None
            self._write({}, None, {})


def _added(one: dict[str, Any] | None, other: dict[str, Any] | None) -> dict[str, Any] | None:
    """Return two rounds as one; None where one of them could not be had."""
    if one is None or other is None:
        return None
    return {name: value + other[name] for name, value in one.items()}


def _is_sure(times: list[float], spent: float) -> bool:
    """Say whether the mean of times is known to a share of itself: its standard error, squared."""
    mean = spent / len(times)
    spread = sum((one - mean) ** 2 for one in times) / (len(times) - 1)
    return spread / len(times) <= (_SURE * mean) ** 2


def _turn(feed: Feed) -> int:
    """Return after how many batches each worker has made one: they often come all at once."""
    return max(1, int(feed.facts.get("workers") or 0))


def _queue(feed: Feed) -> int:
    """Return how many batches the workers of a loader prepare before they are asked for."""
    return int(feed.facts.get("workers") or 0) * int(feed.facts.get("prefetch") or 0)

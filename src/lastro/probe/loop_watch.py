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
#: Longest wait until idle workers have filled their queue.
_MOST_SETTLING_SECONDS = 5.0


@dataclass(frozen=True, kw_only=True)
class Told:
    """What a profile tells the process that it looks at.

    Args:
        out: where the result goes, a JSON file.
        batches: so many are measured in each part,
        seconds: unless they take longer than this.
        workers: numbers of workers that the loader alone is tried with.
    """

    out: str
    batches: int = 25
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

    draw: gives the next one. fresh: begins anew, with so many workers (None: as it is); None where that cannot be
    had. again: a batch as it may be given once more. facts: of the loader, for the result. pids: of its
    workers, while there are any.
    """

    draw: Callable[[], Any]
    fresh: Callable[[int | None], Iterator[Any] | None]
    facts: Mapping[str, Any]
    again: Callable[[Any], Any] = lambda batch: batch
    pids: Callable[[], tuple[int, ...]] = lambda: ()


class LoopWatch:
    """Stands between a loop and its loader. `take` is called for every batch, `trained` for every backward.

    marks: called before each look at the clock; it waits for a device that works on its own. end: ends the
    process when everything was measured.
    """

    def __init__(
        self,
        told: Told,
        *,
        marks: Callable[[], None] = lambda: None,
        facts: Callable[[Any], Mapping[str, Any]] = lambda _batch: {},
        end: Callable[[], None] = lambda: os._exit(0),
    ) -> None:
        self._told, self._marks, self._facts, self._end = told, marks, facts, end
        self._pid = os.getpid()
        self.within = False
        self._trained = False
        self._key: int | None = None
        self._given = 0.0
        self._skip = WARM
        self._waits: list[float] = []
        self._bodies: list[float] = []
        self._starts: list[float] = []
        self._wait: float | None = None
        self._held: Any = None
        self._replayed: list[float] = []
        self._replaying = False
        self._unseen = 0

    def trained(self) -> None:
        """Something was learned from the batch that was given last."""
        self._trained = True

    def take(self, key: int, feed: Feed) -> Any:
        """Return the next batch for a loop; `key` names its iterator.

        Raises:
            StopIteration: the loader has no more.
        """
        if os.getpid() != self._pid or self.within:
            return feed.draw()
        now = self._now()
        counts = self._key == key and self._trained
        if counts:
            self._close(now - self._given)
        elif self._key == key:
            self._unseen += 1
        if self._replaying and not counts:
            return self._through(feed)  # a loader beside the training, such as that of a validation
        if self._replaying:
            return self._replay(feed)
        return self._look(key, feed)

    def _through(self, feed: Feed) -> Any:
        self._key = None
        return feed.draw()

    def _now(self) -> float:
        self._marks()
        return time.monotonic()

    def _close(self, body: float) -> None:
        """Count a batch that was learned from: its wait and what was done with it."""
        if self._replaying:
            self._replayed.append(body)
        elif self._skip > 0:
            self._skip -= 1
        elif self._wait is not None:
            self._waits.append(self._wait)
            self._bodies.append(body)

    def _look(self, key: int, feed: Feed) -> Any:
        if self._enough(self._waits, self._bodies):
            self._begin_replay(feed)
            return self._replay(feed)
        new, began = key != self._key, self._now()
        self.within = True
        try:
            batch = feed.draw()
        finally:
            self.within = False
        self._given = self._now()
        if new and self._key is not None and self._trained:
            self._starts.append(self._given - began)  # workers that start again with each epoch
        if new and self._key is None:
            ready = int(feed.facts.get("workers") or 0) * int(feed.facts.get("prefetch") or 0)
            self._skip = max(WARM, ready + 1)
        self._wait = None if new else self._given - began
        self._key, self._trained, self._held = key, False, batch
        return batch

    def _enough(self, *parts: list[float]) -> bool:
        spent = sum(map(sum, parts))
        return len(parts[0]) >= self._told.batches or (len(parts[0]) >= 3 and spent >= self._told.seconds)

    # --- one batch again and again ----------------------------------------------------------------------

    def _begin_replay(self, feed: Feed) -> None:
        """Let workers fill their queue first: afterwards nothing is loaded beside the replayed batches."""
        self._replaying = True
        ready = int(feed.facts.get("workers") or 0) * int(feed.facts.get("prefetch") or 0)
        each = (sum(self._waits) + sum(self._bodies)) / len(self._waits)
        time.sleep(min(_MOST_SETTLING_SECONDS, ready * each))

    def _replay(self, feed: Feed) -> Any:
        measured = self._replayed[_SETTLE:]
        if measured and self._enough(measured):
            self._finish(feed)
        self._trained = False
        batch = feed.again(self._held)
        self._given = self._now()
        return batch

    # --- the loader alone ---------------------------------------------------------------------------------

    def _finish(self, feed: Feed) -> None:
        self.within = True
        alone = self._alone(feed, None)
        tried = {}
        for count in self._told.workers:
            if count == feed.facts.get("workers"):
                continue
            other = self._alone(feed, count)
            if other is not None:
                tried[str(count)] = other
        self._write(feed.facts, alone, tried)
        self._end()

    def _alone(self, feed: Feed, workers: int | None) -> dict[str, Any] | None:
        """Draw batches with nothing between them; None where the loader cannot be begun anew."""
        with suppress(Exception):  # a foreign loader may refuse in any way; then its pace is not known
            return self._drawn(feed, workers)
        return None

    def _drawn(self, feed: Feed, workers: int | None) -> dict[str, Any] | None:
        count = int(feed.facts.get("workers") or 0) if workers is None else workers
        skip = count * int(feed.facts.get("prefetch") or 2) + 1
        made, seconds, cpu, with_start = 0, 0.0, 0.0, False
        deadline = time.monotonic() + self._told.seconds
        for _epoch in range(self._told.batches):
            source = feed.fresh(workers)
            if source is None:
                return None
            before, began, drawn = time.process_time(), time.monotonic(), 0
            for _batch in source:
                drawn += 1
                if drawn == skip:
                    before, began = time.process_time(), time.monotonic()
                if made + drawn - skip >= self._told.batches or time.monotonic() > deadline:
                    break
            # An epoch that is over before its queue is used up: what its start takes is a part of its pace.
            short = drawn <= skip
            with_start |= short
            made += drawn if short else drawn - skip
            seconds += time.monotonic() - began
            cpu += time.process_time() - before
            if made >= self._told.batches or time.monotonic() > deadline or not drawn:
                break
        return {"batches": made, "seconds": seconds, "cpu_seconds": cpu, "with_start": with_start}

    # --- the result ---------------------------------------------------------------------------------------

    def _write(
        self, facts: Mapping[str, Any], alone: dict[str, Any] | None, tried: Mapping[str, Any]
    ) -> None:
        told = {
            "complete": self._replaying,
            "loader": dict(facts),
            "waits": self._waits,
            "bodies": self._bodies,
            "epoch_starts": self._starts,
            "replayed": self._replayed[_SETTLE:],
            "alone": alone,
            "tried": dict(tried),
            "unlearned": self._unseen,
            "facts": dict(self._facts(self._held)),
        }
        out = Path(self._told.out)
        aside = out.with_suffix(".new")
        aside.write_text(json.dumps(told), encoding="utf-8")
        aside.replace(out)

    def left_early(self) -> None:
        """The process ends by itself: keep what was seen, if it is anything."""
        if os.getpid() == self._pid and (self._bodies or self._unseen) and not Path(self._told.out).exists():
            self._replaying = False
            self._write({}, None, {})

"""Turns what a job leaves behind (signals, measurements) into checked events of its attempt's stream."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from lastro import strictjson
from lastro.checkpoint.store import MANIFEST, committed
from lastro.journal.events import EventType
from lastro.journal.signals import LineReader, Signal, read_beat
from lastro.journal.streams import Event, StreamWriter
from lastro.paths import AttemptFolder
from lastro.rules import Order, Stop, StopKind, StopRule, judge_input, judge_values
from lastro.run.published import PublishedItems
from lastro.storage.digest import sha256_file


def _seconds(told: Any) -> float | None:
    return None if told is None else float(told)


class Watch:
    """Follows one attempt. Holds what has been seen so far; `look` reads what is new.

    `stop`: the first stop rule that has spoken. `failure`: the exception that the job told, with its step.
    """

    def __init__(self, folder: AttemptFolder, order: Order, stream: StreamWriter, started: float) -> None:
        self._folder, self._order, self._stream, self._started = folder, order, stream, started
        self._signals = LineReader(folder.signals)
        self._measurements = LineReader(folder.measurements())
        self._metric_rules: tuple[StopRule, ...] = tuple(rule for rule in order.stop if rule.metric)
        self._metrics = frozenset(rule.metric for rule in self._metric_rules if rule.metric)
        self.stop: Stop | None = None
        self.failure: str | None = None
        self.found_no_room = False
        self.committed_step: int | None = None
        self.resumed_step: int | None = None
        self.items = PublishedItems(folder.run.items_index)
        self._failed_at: int | None = None
        self._offset = 0
        self._handlers: Mapping[Signal, Callable[[Mapping[str, Any]], None]] = {
            Signal.RESTORED: self._restored,
            Signal.PASSED_OVER: self._passed_over,
            Signal.CHECKPOINT: self._checkpoint,
            Signal.SKIPPED: self._skipped,
            Signal.INTERVAL: self._interval,
            Signal.OUTPUT: self._output,
            Signal.ITEMS: self._items_begun,
            Signal.READ: self._read,
            Signal.STOP: self._stop_told,
            Signal.EXCEPTION: self._exception,
            Signal.FIRST_STEP: self._first_step,
            Signal.DISK_SHORT: self._disk_short,
            Signal.DISK_HELD: self._disk_held,
            Signal.DISK_FULL: self._disk_full,
            Signal.DISK_ROOM: self._disk_room,
        }

    def take_up(self, events: Sequence[Event]) -> None:
        """Go on where an earlier supervisor of this attempt stopped recording."""
        for event in events:
            self._offset = max(self._offset, event.facts.get("signal", 0))
            if event.type is EventType.CHECKPOINT_COMMITTED and event.facts.get("healthy") is not False:
                self.committed_step = event.facts["step"]
            if event.type is EventType.ITEMS_PUBLISHED:
                self.items.take_up(event.facts)
            if event.type is EventType.ATTEMPT_RESUMED:
                self.resumed_step = event.facts["step"]
            if event.type is EventType.STOP_RULED:
                told = event.facts
                self.stop = Stop(
                    kind=StopKind(told["rule"]),
                    why=told["why"],
                    step=told["step"],
                    metric=told["metric"],
                    value=told["value"],
                )
        self._signals.offset = self._offset

    def _append(self, kind: EventType, **facts: Any) -> None:
        """Record an event with the place in `signals.jsonl` that it comes from."""
        self._stream.append(kind, **facts, signal=self._offset)

    @property
    def step(self) -> int | None:
        """The last step that the job is known to have completed."""
        if self._failed_at is not None:
            return self._failed_at
        beat = read_beat(self._folder.heartbeat)
        if beat is None and self._order.checkpoints is not None:
            return None  # a program that knows nothing of lastro tells its saves, not its steps
        return beat.step if beat else self.committed_step

    def look(self, *, last: bool = False) -> None:
        """Record what the job has signalled, published and measured since the last look."""
        for line in self._signals.lines():
            self._offset += len(line) + 1
            try:
                facts = strictjson.loads(line)
                handler = self._handlers.get(Signal(facts["kind"]))
                if handler is not None:
                    handler(facts)
            except (ValueError, KeyError, TypeError):
                continue  # a job can write anything into its own file; only what is understood counts
        self._judge_measurements()
        self.items.look()
        self._tell_items(last=last)

    def _judge_measurements(self) -> None:
        if not self._metric_rules or self.stop is not None:
            return
        for point in _points(self._measurements.lines()):
            try:
                told = point["v"]
                values = {name: strictjson.number(told[name]) for name in self._metrics if name in told}
                stop = judge_values(self._metric_rules, int(point["s"]), values)
            except (ValueError, KeyError, TypeError):
                continue
            if stop is not None:
                self._ruled(stop)
                return

    def _ruled(self, stop: Stop) -> None:
        if self.stop is not None:
            return
        self.stop = stop
        self._append(
            EventType.STOP_RULED,
            rule=stop.kind.value,
            why=stop.why,
            step=stop.step,
            metric=stop.metric,
            value=stop.value,
        )

    def _restored(self, facts: Mapping[str, Any]) -> None:
        step, seconds = int(facts["step"]), float(facts["seconds"])
        self._append(EventType.ATTEMPT_RESUMED, step=step, folder=str(facts["folder"]), seconds=seconds)
        self.resumed_step = step

    def _passed_over(self, facts: Mapping[str, Any]) -> None:
        self._append(EventType.CHECKPOINT_PASSED_OVER, folder=str(facts["folder"]), why=str(facts["why"]))

    def _checkpoint(self, facts: Mapping[str, Any]) -> None:
        folder = self._folder.run.checkpoints / facts["folder"]
        size, seconds, why = int(facts["bytes"]), float(facts["seconds"]), str(facts["why"])
        blocked, durable = _seconds(facts.get("blocked")), _seconds(facts.get("durable"))
        found = committed(folder)
        if isinstance(found, str):
            self._append(EventType.CHECKPOINT_REFUSED, folder=facts["folder"], why=found)
            return
        health = found.health
        if health is None or health.healthy:  # values that are lost are no progress
            self.committed_step = found.step
        self._append(
            EventType.CHECKPOINT_COMMITTED,
            step=found.step,
            folder=facts["folder"],
            bytes=size,
            seconds=seconds,
            why=why,
            healthy=health.healthy if health else None,
            blocked=blocked,
            durable=durable,
            manifest=sha256_file(folder / MANIFEST),
        )

    def _skipped(self, facts: Mapping[str, Any]) -> None:
        step, in_flight = int(facts["step"]), int(facts["in_flight"])
        self._append(EventType.CHECKPOINT_SKIPPED, step=step, in_flight=in_flight)

    def _interval(self, facts: Mapping[str, Any]) -> None:
        self._append(EventType.CHECKPOINT_INTERVAL, seconds=float(facts["seconds"]), why=str(facts["why"]))

    def _output(self, facts: Mapping[str, Any]) -> None:
        path = self._folder.run.outputs / facts["path"]
        if path.exists():
            self._append(
                EventType.OUTPUT_PUBLISHED,
                path=facts["path"],
                bytes=int(facts["bytes"]),
                sha256=str(facts["sha256"]),
            )

    def _items_begun(self, facts: Mapping[str, Any]) -> None:
        self._tell_items(last=True)
        self.items.begin(facts)
        self._tell_items(last=True)

    def _tell_items(self, *, last: bool) -> None:
        if self.items.is_news(last=last):
            self._append(
                EventType.ITEMS_PUBLISHED,
                done=self.items.done,
                total=self.items.total,
                offset=self.items.offset,
            )

    def _read(self, facts: Mapping[str, Any]) -> None:
        self._append(EventType.INPUT_READ, rows=facts["rows"], digest=facts["digest"])
        stop = judge_input(self._order.stop, self._order.corpus, facts["rows"], facts["digest"])
        if stop is not None:
            self._ruled(stop)

    def _stop_told(self, facts: Mapping[str, Any]) -> None:
        kind = StopKind(facts["rule"])
        self._ruled(
            Stop(
                kind=kind, why=facts["why"], step=facts["step"], metric=facts["metric"], value=facts["value"]
            )
        )

    def _exception(self, facts: Mapping[str, Any]) -> None:
        self._failed_at = int(facts["step"])
        self.failure = str(facts["failure"])
        self.found_no_room = facts.get("full") is True

    def _first_step(self, facts: Mapping[str, Any]) -> None:
        self._append(
            EventType.ATTEMPT_STEPPED,
            step=int(facts["step"]),
            seconds=round(float(facts["mono"]) - self._started, 6),
        )

    def _disk_short(self, facts: Mapping[str, Any]) -> None:
        what, free, needed = str(facts["what"]), int(facts["free"]), int(facts["needed"])
        self._append(EventType.DISK_SHORT, what=what, free=free, needed=needed)

    def _disk_held(self, facts: Mapping[str, Any]) -> None:
        why_not = None if facts["why_not"] is None else str(facts["why_not"])
        self._append(EventType.DISK_HELD, bytes=int(facts["bytes"]), why_not=why_not)

    def _disk_full(self, facts: Mapping[str, Any]) -> None:
        what, free, needed = str(facts["what"]), int(facts["free"]), int(facts["needed"])
        self._append(EventType.DISK_FULL, what=what, free=free, needed=needed)

    def _disk_room(self, facts: Mapping[str, Any]) -> None:
        self._append(
            EventType.DISK_ROOM,
            what=str(facts["what"]),
            free=int(facts["free"]),
            seconds=float(facts["seconds"]),
        )


def _points(lines: Sequence[bytes]) -> Iterator[Any]:
    """Yield what lines of JSON hold; a line that is none is left out.

    Read at once, in two thirds of the time; one by one only when one of them is damaged.
    """
    try:
        yield from strictjson.loads(b"[" + b",".join(lines) + b"]")
    except ValueError:
        for line in lines:
            with contextlib.suppress(ValueError):
                yield strictjson.loads(line)

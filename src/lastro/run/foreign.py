"""A program's own saves as the progress of its run: found while it works, copied, read again, announced.

The program knows nothing of this. A save is complete when nothing in it has changed for a while and no
process has it open for writing; it is copied beside the look-out, never in its way, and told to the
supervisor in the way in which a job that uses lastro tells its checkpoints.
"""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import field, replace
from pathlib import Path

from lastro import atomic, strictjson
from lastro.checkpoint import foreign, store
from lastro.checkpoint.foreign import Moved, Save
from lastro.checkpoint.retention import apply_retention
from lastro.clock import SystemClock, from_iso, iso
from lastro.errors import SAVED_ON_REQUEST, Fenced, LastroError
from lastro.journal.events import EventType
from lastro.journal.signals import LineReader, Signal, SignalWriter
from lastro.journal.streams import StreamWriter
from lastro.paths import AttemptFolder
from lastro.procs.job import Exit
from lastro.records import dataclass
from lastro.rules import Order
from lastro.run.seat import Seat, highest
from lastro.run.writers import being_written

#: Seconds between two looks at what the program has saved.
LOOK_SECONDS = 0.5
#: So many times as long as a look has taken: many saves are looked at less often.
LOOK_SHARE = 100
#: A save is complete when nothing in it has changed for so long. Doubled when that was too early once.
QUIET_SECONDS = 2.0
LONGEST_QUIET_SECONDS = 60.0
#: Seconds before a copy that failed (no room, an unreadable file) is tried again.
RETRY_SECONDS = 60.0
#: A program that ended by itself with one of these has closed what it wrote.
_WHOLE = (0, SAVED_ON_REQUEST)


@dataclass(frozen=True)
class Seen:
    """A save as it was seen first with this content. `busy`: a process had it open for writing at that look.

    `since`: monotonic seconds.
    """

    signature: str
    since: float
    busy: bool = False


def settled(seen: Mapping[str, Seen], save: Save, now: float, quiet: float) -> bool:
    """Say whether a save has been seen before with the same content, and for long enough. Pure."""
    before = seen.get(save.origin)
    if before is None or before.signature != save.signature or before.busy:
        return False
    return now - before.since >= quiet


def whole_at_end(seen: Mapping[str, Seen], save: Save, ended: Exit | None, quiet: float) -> bool:
    """Say whether a save was complete when its job ended: a kill can cut one in half. Pure.

    A program that ended well has closed what it wrote. After any other end only what was seen before, not
    open for writing, and had not changed for a while.
    """
    if ended is None:
        return False
    if ended.code in _WHOLE:
        return True
    before = seen.get(save.origin)
    if before is None or before.signature != save.signature or before.busy or ended.at is None:
        return False
    return from_iso(ended.at).timestamp() - save.newest >= quiet


def step_of(number: int | None, resumed: int | None, last: int | None) -> int:
    """Return the step of a save. Pure.

    Its own number, as long as these grow within an attempt. One without a number, or whose number does not
    grow, is the next after the last save of this attempt, or after the step that it was resumed from. So
    a program that begins again from nothing makes no progress until it has saved more than before.
    """
    if number is not None and (last is None or number > last):
        return number
    return max(last or 0, resumed or 0) + 1


@dataclass
class _Copy:
    """One copy under way, in a thread of its own.

    `older`: complete saves that it makes superfluous, by signature. `error`: why it was not published.
    """

    save: Save
    facts: store.Facts
    older: Mapping[str, str]
    thread: threading.Thread | None = None
    manifest: store.Manifest | None = None
    seconds: float = 0.0
    error: Exception | None = None


@dataclass
class _Memory:
    """What is known of an attempt's saves: all of it can be read back after a supervisor's death."""

    taken: dict[str, str] = field(default_factory=dict)
    folders: dict[str, list[str]] = field(default_factory=dict)
    last: int | None = None
    resumed: int | None = None


class ForeignSaves:
    """Watches what one attempt's program saves. Does nothing for an order without a pattern."""

    def __init__(self, folder: AttemptFolder, order: Order, seat: Seat, stream: StreamWriter) -> None:
        self._folder, self._order, self._seat, self._stream = folder, order, seat, stream
        self._workdir = Path(order.workdir)
        self._memory: _Memory | None = None
        self._seen: dict[str, Seen] = {}
        self._verified: set[str] = set()
        self._quiet = QUIET_SECONDS
        self._copy: _Copy | None = None
        self._not_before: dict[str, float] = {}
        self._next_look = 0.0

    def note_what_is_there(self) -> None:
        """Remember, before the program starts, which saves are not this attempt's. Called once."""
        if self._order.checkpoints is not None:
            before = {save.origin: save.signature for save in self._found()}
            atomic.write_text(self._folder.saves_before, strictjson.pretty(before))

    def look(self, now: float) -> None:
        """Announce a copy that is done; begin the next one. Never waits for either. `now`: monotonic."""
        if self._order.checkpoints is None or now < self._next_look:
            return
        self._look(now)
        self._next_look = now + max(LOOK_SECONDS, LOOK_SHARE * (time.monotonic() - now))

    def _look(self, now: float) -> None:
        if self._copy is not None:
            if self._copy.thread is not None and self._copy.thread.is_alive():
                return
            self._done(self._copy, now)
        ready = [save for save in self._new_saves(now) if settled(self._seen, save, now, self._quiet)]
        if ready:
            self._copy = self._begin(ready)
            self._copy.thread = threading.Thread(target=self._carry_out, args=(self._copy,), daemon=True)
            self._copy.thread.start()

    def finish(self, ended: Exit | None, record: Callable[[], None]) -> None:
        """Take what is left, once nothing of the job is alive.

        Args:
            ended: how the job ended; None when that is unknown.
            record: records what was announced, before retention can remove it.
        """
        if self._order.checkpoints is None:
            return
        now = time.monotonic()
        if self._copy is not None:
            if self._copy.thread is not None:
                self._copy.thread.join()
            self._done(self._copy, now)
            record()
        seen = self._seen
        ready = [save for save in self._new_saves(now) if whole_at_end(seen, save, ended, self._quiet)]
        if ready:
            copy = self._begin(ready)
            self._carry_out(copy)
            self._done(copy, now)
        atomic.remove_tree(self._folder.resume)

    # --- looking --------------------------------------------------------------------------------------

    def _found(self) -> list[Save]:
        assert self._order.checkpoints is not None
        return foreign.find_saves(self._workdir, self._order.checkpoints)

    def _new_saves(self, now: float) -> list[Save]:
        """Return the saves of this attempt that were not taken yet; notes how long each is unchanged."""
        memory = self._known()
        new = [
            save
            for save in self._found()
            if memory.taken.get(save.origin) != save.signature
            and self._not_before.get(save.origin, now) <= now
        ]
        written = being_written(self._workdir / save.origin for save in new) if new else frozenset()
        seen = {}
        for save in new:
            fresh = Seen(save.signature, now, self._workdir / save.origin in written)
            before = self._seen.get(save.origin, fresh)
            seen[save.origin] = before if before == replace(fresh, since=before.since) else fresh
        self._seen = seen
        return new

    def _known(self) -> _Memory:
        """Return what this attempt has taken: by this supervisor, or by one that died before it."""
        if self._memory is None:
            self._memory = _read_memory(self._folder)
        return self._memory

    # --- copying --------------------------------------------------------------------------------------

    def _begin(self, ready: Sequence[Save]) -> _Copy:
        """Return the copy of the latest save that is complete; the others are old already."""
        *older, save = ready
        memory = self._known()
        assert self._order.checkpoints is not None
        if save.origin in memory.taken and self._is_numbered(save):
            # The same number with other bytes: the first copy came too early.
            self._quiet = min(LONGEST_QUIET_SECONDS, self._quiet * 2)
        facts = store.Facts(
            run=self._order.run,
            attempt=self._folder.number,
            step=step_of(
                foreign.number_in(save.origin, self._order.checkpoints), memory.resumed, memory.last
            ),
            why=foreign.KIND,
            created=iso(SystemClock().now()),
            position=foreign.position_of(save),
        )
        return _Copy(save, facts, {one.origin: one.signature for one in older})

    def _is_numbered(self, save: Save) -> bool:
        assert self._order.checkpoints is not None
        return foreign.number_in(save.origin, self._order.checkpoints) is not None

    def _carry_out(self, copy: _Copy) -> None:
        """Copy one save; what comes of it is left in `copy`. Runs beside the supervisor's looks."""
        began = time.monotonic()
        try:
            copy.manifest = foreign.publish_copy(
                self._folder.run.checkpoints, self._workdir, copy.save, copy.facts, self._still_mine
            )
        except FileExistsError:
            copy.manifest = self._left_unsaid(copy)
            copy.error = Moved()
        except (OSError, LastroError, Moved) as error:
            copy.error = error
        copy.seconds = time.monotonic() - began

    def _left_unsaid(self, copy: _Copy) -> store.Manifest | None:
        """Return the copy that a supervisor published and died before it could say so.

        When it is of something else, or damaged, it is removed: nobody has heard of it.
        """
        folder = self._folder.run.checkpoints / copy.facts.name
        manifest = store.committed(folder)
        if (
            isinstance(manifest, str)
            or manifest.facts.position != copy.facts.position
            or store.verify(folder)
        ):
            atomic.withdraw_folder(folder)
            return None
        return manifest

    def _still_mine(self) -> bool:
        return self._seat.is_mine() and highest(self._folder.run.claims) == self._folder.number

    def _done(self, copy: _Copy, now: float) -> None:
        self._copy = None
        if copy.manifest is not None:
            self._announce(copy, copy.manifest)
        elif not isinstance(copy.error, (Moved, Fenced)):
            self._not_before[copy.save.origin] = now + RETRY_SECONDS
            self._stream.append(
                EventType.CHECKPOINT_REFUSED, folder=copy.facts.name, why=f"{copy.save.origin}: {copy.error}"
            )

    def _announce(self, copy: _Copy, manifest: store.Manifest) -> None:
        memory, save, name = self._known(), copy.save, copy.facts.name
        SignalWriter(self._folder.signals).send(
            Signal.CHECKPOINT,
            step=manifest.step,
            folder=name,
            bytes=manifest.size,
            seconds=round(copy.seconds, 4),
            why=foreign.KIND,
            origin=save.origin,
            signature=save.signature,
            older=copy.older,
        )
        checkpoints = self._folder.run.checkpoints
        if self._is_numbered(save):
            for early in memory.folders.pop(save.origin, ()):
                atomic.withdraw_folder(checkpoints / early)
        memory.taken.update({**copy.older, save.origin: save.signature})
        memory.folders.setdefault(save.origin, []).append(name)
        memory.last = manifest.step
        self._verified.add(name)
        apply_retention(checkpoints, self._order.checkpoint, self._verified)


def _read_memory(folder: AttemptFolder) -> _Memory:
    memory = _Memory()
    with contextlib.suppress(FileNotFoundError):  # when its supervisor died before the program was started
        memory.taken.update(strictjson.read(folder.saves_before))
    for line in LineReader(folder.signals).lines():
        try:
            facts = strictjson.loads(line)
            if facts["kind"] == Signal.RESTORED.value:
                memory.resumed = int(facts["step"])
            if facts["kind"] == Signal.CHECKPOINT.value and facts["why"] == foreign.KIND:
                memory.taken.update({**facts["older"], facts["origin"]: facts["signature"]})
                memory.folders.setdefault(facts["origin"], []).append(facts["folder"])
                memory.last = int(facts["step"])
        except (ValueError, KeyError, TypeError):
            continue  # a job can write anything into its own file
    return memory

"""Makes checkpoints beside the loop, which stands still for one copy of the state and then goes on.

One save at a time: a thread of its own writes, hashes, syncs, publishes and reads again, in calls that
release the interpreter's lock, and only then announces. What it meets is raised in the loop, at its next
safe point. A process that ends waits for the thread, so what was begun becomes durable or is told.
"""

from __future__ import annotations

import atexit
import contextlib
import threading
import time
from collections.abc import Callable, Collection, Iterator
from dataclasses import field
from pathlib import Path

from lastro import atomic
from lastro.checkpoint import retention, store
from lastro.checkpoint.snapshot import Snapshot
from lastro.disk.hold import Held
from lastro.errors import Fenced, StorageError
from lastro.job.checkpoint_room import CheckpointRoom
from lastro.job.joint_save import JointSave
from lastro.job.leaving import leave, tell
from lastro.job.place import Place
from lastro.job.room import FullDisk
from lastro.journal.signals import Signal, SignalWriter
from lastro.locale import _
from lastro.records import dataclass
from lastro.units import show_bytes

#: A smaller state is durable before the loop goes on: that takes milliseconds, so nothing would be won by
#: letting the loop run ahead of it.
BESIDE_FROM = 8 << 20
#: By so much a checkpoint has to be larger than the ones before for the room to be looked at again.
_MUCH_LARGER = 1.01


@dataclass(frozen=True, kw_only=True)
class Cost:
    """What one save has cost, in seconds.

    blocked: the loop stood still. durable: from its begin until it could not be lost any more. verified:
    until it was read again.
    """

    blocked: float
    durable: float
    verified: float


@dataclass
class _Save:
    """One save on its way. `left`: what is still to be done, in order; it goes on there after a full disk.

    `joint`: with the other processes of the job; None: this one makes it alone.
    """

    facts: store.Facts
    snapshot: Snapshot
    from_start: Collection[str]
    began: float
    joint: JointSave | None = None
    blocked: float = 0.0
    durable: float = 0.0
    verified: float = 0.0
    left: list[Callable[[_Save], None]] = field(default_factory=list)
    error: BaseException | None = None

    @property
    def size(self) -> int:
        return self.snapshot.size if self.joint is None else self.joint.size

    @property
    def cost(self) -> Cost:
        return Cost(blocked=self.blocked, durable=self.durable, verified=self.verified)


class CheckpointWriter:
    """Turns snapshots into checkpoints of one attempt. Used by the loop's thread alone."""

    def __init__(self, place: Place, full: FullDisk) -> None:
        self._place = place
        self._full = full
        self._checkpoints: Path = place.folder.run.checkpoints
        self._policy = place.attempt.order.checkpoint
        # Of its own: the thread must not wait for room where only the loop can make some.
        self._signals = SignalWriter(place.signals)
        self._verified: set[str] = set()
        self._room = CheckpointRoom(place)
        full.give_way = self._room.let_go
        self._foreseen = 0
        self._told_held: str | None = None
        self._save: _Save | None = None
        self._thread: threading.Thread | None = None
        atexit.register(self._tell_at_exit)

    def know(self, name: str) -> None:
        """Take note that every byte of a checkpoint was read by this process, and was right."""
        self._verified.add(name)

    def foresee(self, size: int, once: int = 0) -> None:
        """Hold the room for the checkpoints that are kept and the one being made; say when it is not there.

        Once, and again when they turn out larger. The first process sees to it for all.

        Args:
            size: bytes of one checkpoint.
            once: bytes that are written a single time.
        """
        if not self._place.ranks.first or size <= self._foreseen * _MUCH_LARGER:
            return
        self._foreseen = size
        there = len(store.names(self._checkpoints))
        keep = retention.most(self._policy)
        missing = keep + 1 - there
        if missing > 0:
            what = _("{keep} checkpoints of {size} and the one being made").format(
                keep=keep, size=show_bytes(size)
            )
            self._full.foresee(what, missing * size + once)
        held = self._room.take(size, once)
        if held is not None and (held.why_not or "") != self._told_held:
            self._tell_held(held)

    def make_way(self, size: int, once: int) -> None:
        """See to the room of a save of which other processes write parts, before any of them does.

        They do not know what the whole takes, and what is held or superfluous is not theirs to let go.

        Args:
            size: bytes of the whole checkpoint.
            once: bytes that are written beside it.
        """
        self.foresee(size, once)
        self._room.make_way()
        if not self._full.has_room_for(size + once) and not self._room.let_go():
            retention.make_room(self._checkpoints, self._policy, self._verified)

    def _tell_held(self, held: Held) -> None:
        self._told_held = held.why_not or ""
        with contextlib.suppress(OSError):
            self._signals.send(Signal.DISK_HELD, bytes=held.bytes, why_not=held.why_not)
        if held.why_not is not None:
            tell(_("no room is held for checkpoints: {why}").format(why=held.why_not))

    @contextlib.contextmanager
    def room_lent(self) -> Iterator[None]:
        """Lend what is held for checkpoints to what is written in this block."""
        with self._room.lent():
            yield

    def no_more(self) -> None:
        """Hold no room any more: the last save is through."""
        self._room.end()

    @property
    def in_flight(self) -> int | None:
        """The step whose save is not known to be safe yet; None: nothing is under way."""
        return None if self._save is None else self._save.facts.step

    @property
    def busy(self) -> bool:
        """Whether the thread is at work right now."""
        return self._thread is not None and self._thread.is_alive()

    def begin(
        self,
        facts: store.Facts,
        snapshot: Snapshot,
        from_start: Collection[str],
        began: float,
        joint: JointSave | None = None,
    ) -> None:
        """Begin to make a checkpoint of a snapshot; a small one is safe when this returns.

        Args:
            facts: of its manifest.
            snapshot: stays as it is until this save is settled.
            from_start: names of tensors that were not finite before the first step.
            began: monotonic seconds at which the loop was stopped for it.
            joint: for a part of a checkpoint that several processes make; all of them call this.
        """
        assert self._save is None, "one save at a time"
        self._save = save = _Save(facts, snapshot, from_start, began, joint)
        save.left = [self._publish, self._read_again]
        if joint is not None:
            save.left = [self._write_part, self._collect, *save.left]
        if joint is None or joint.first:
            save.left += [self._announce, self._let_go]
        if joint is None:
            self.foresee(snapshot.size, snapshot.to_write - snapshot.size)
        self._go_on(save)

    def settle(self, *, wait: bool = False) -> Cost | None:
        """Take up what the last save has come to; None while it is under way, or when there is none.

        A disk that was full is waited for here, and the save goes on.

        Args:
            wait: until it has ended.

        Raises:
            StorageError: the disk refuses, is gone, or does not return what was written.
        """
        while self._save is not None:
            if self.busy and not wait:
                return None
            if self._thread is not None:
                self._thread.join()
                self._thread = None
            save, error = self._save, self._save.error
            if error is None:
                self._save = None
                self._full.over()
                return save.cost
            self._judge(save, error)
            save.error = None
            save.began = time.monotonic()  # waiting for room is no part of what a save costs
            self._go_on(save)
        return None

    def _go_on(self, save: _Save) -> None:
        if save.snapshot.to_write < BESIDE_FROM:
            _carry_out(save)
            save.blocked = time.monotonic() - save.began
            return
        save.blocked = time.monotonic() - save.began
        # No daemon: the interpreter waits for it before it ends.
        self._thread = threading.Thread(target=_carry_out, args=(save,), name="lastro-checkpoint")
        self._thread.start()

    def _judge(self, save: _Save, error: BaseException) -> None:
        """End the process, raise, or return when it is worth another try."""
        if isinstance(error, OSError) and atomic.is_full(error):
            self._make_room(save)
            return
        self._save = None
        if isinstance(error, Fenced):
            leave(error.exit_code, error.message)
        if isinstance(error, OSError):
            raise StorageError(
                _("step {step} could not be saved: {error}").format(step=save.facts.step, error=error),
                hint=_("check the disk; earlier checkpoints are untouched"),
            ) from error
        raise error

    def _make_room(self, save: _Save) -> None:
        """Let go what is held, then what this save makes superfluous anyway; else wait for room."""
        if self._room.let_go():
            return
        # Of a checkpoint in parts each has read its own again, and only the first one has heard of all.
        mine = self._place.ranks.first
        if not (mine and retention.make_room(self._checkpoints, self._policy, self._verified)):
            self._full.wait(_("step {step}").format(step=save.facts.step), save.snapshot.to_write)

    def _tell_at_exit(self) -> None:
        """Say what nobody was left to hear: the script has passed no safe point since."""
        if self._save is not None and self._save.error is not None:
            error = self._save.error
            tell(_("step {step} was not saved: {error}").format(step=self._save.facts.step, error=error))

    # --- in the thread --------------------------------------------------------------------------------

    def _write_part(self, save: _Save) -> None:
        assert save.joint is not None
        self._place.require_disk()
        self._room.make_way()
        save.joint.write(save.snapshot)

    def _collect(self, save: _Save) -> None:
        assert save.joint is not None
        save.joint.collect()

    def _publish(self, save: _Save) -> None:
        self._place.require_disk()
        self._room.make_way()
        draft: store.Draft | None
        if save.joint is not None:
            draft = save.joint.publish(save.snapshot, save.from_start)
        else:
            with store.publish(self._checkpoints, save.facts, self._place.still_mine) as draft:
                save.snapshot.write(draft, save.from_start)
        save.durable = time.monotonic() - save.began
        if draft is not None and draft.health is not None and not draft.health.healthy:
            tell(_("checkpoint {name}: {why}").format(name=save.facts.name, why=draft.health.why_not))

    def _read_again(self, save: _Save) -> None:
        written = save.snapshot.base is not None and save.snapshot.base.staged is not None
        if save.joint is not None:
            problems = save.joint.read_again(base=written)
        else:
            problems = store.verify(self._checkpoints / save.facts.name, from_disk=True, base=written)
        if problems:
            raise StorageError(
                _("checkpoint {name} was written, but reads back differently: {problems}").format(
                    name=save.facts.name, problems="; ".join(problems)
                ),
                hint=_("do not trust this disk; earlier checkpoints are untouched"),
            )
        self._verified.add(save.facts.name)
        save.verified = time.monotonic() - save.began

    def _announce(self, save: _Save) -> None:
        self._signals.send(
            Signal.CHECKPOINT,
            step=save.facts.step,
            folder=save.facts.name,
            bytes=save.size,
            seconds=round(save.verified, 4),
            blocked=round(save.blocked or save.verified, 4),
            durable=round(save.durable, 4),
            why=save.facts.why,
        )

    def _let_go(self, save: _Save) -> None:
        retention.apply_retention(self._checkpoints, self._policy, self._verified)
        retention.remove_unused_base(self._checkpoints)
        self._room.take_again()


def _carry_out(save: _Save) -> None:
    """Do what is left of a save, as far as it goes."""
    try:
        while save.left:
            save.left[0](save)
            del save.left[0]
    except BaseException as error:  # noqa: BLE001 - whatever it is, the loop is to hear it
        save.error = error

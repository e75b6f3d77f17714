"""Restores once, saves at safe points, and leaves when it is asked to or when a stop rule speaks."""

from __future__ import annotations

import contextlib
import secrets
import time
from collections.abc import Iterator, Mapping
from datetime import timedelta
from typing import Any, NoReturn, Protocol

from lastro import atomic
from lastro.billing import Lease, LeaseKind
from lastro.checkpoint import retention, snapshot, state, store
from lastro.checkpoint.adapters import bridge
from lastro.checkpoint.adapters.base import Stateful
from lastro.checkpoint.arena import Arena
from lastro.checkpoint.base import Base
from lastro.checkpoint.due import Schedule, is_due, schedule
from lastro.checkpoint.interval import SaveCost
from lastro.clock import SystemClock, iso
from lastro.errors import EXIT_CODES, SAVED_ON_REQUEST, StoppedByRule, UsageError
from lastro.job.joint_save import JointSave
from lastro.job.leaving import LeaveRequest, leave, tell
from lastro.job.measurements import Measurements
from lastro.job.pace import Pace
from lastro.job.place import Place
from lastro.job.room import FullDisk
from lastro.job.writer import CheckpointWriter
from lastro.journal.signals import Heartbeat, Signal, SignalWriter
from lastro.locale import _
from lastro.probe.entry import current as current_probe
from lastro.rules import Stop, judge_resume, judge_values
from lastro.units import Money


class PlaceOfData(Stateful, Protocol):
    """Where a loader is that keeps its own place."""

    def gather(self) -> None:
        """Learn where the loaders of all processes are: called by all of them, before a save."""
        ...


class Saver:
    """The state of one attempt at its safe points.

    `step` counts the updates that are complete. A position is a tree of plain values; `{"step": n}` at
    least.
    """

    def __init__(
        self,
        place: Place,
        signals: SignalWriter,
        measurements: Measurements,
        request: LeaveRequest,
        full: FullDisk,
    ) -> None:
        self._place = place
        self._order = place.attempt.order
        self._ranks = place.ranks
        self._signals = signals
        self._measurements = measurements
        self._request = request
        self._heart = Heartbeat(place.heartbeat)
        self._full = full
        heard = Heartbeat(place.folder.heartbeat)  # by the supervisor, whichever process it is that waits
        full.sign_of_life = lambda: heard.beat(self.step)
        self._writer = CheckpointWriter(place, full)
        self._arena = Arena()
        self._base = Base()
        self._divided = False
        self._place_of_data: PlaceOfData | None = None
        self._renamed: dict[str, dict[str, str]] = {}
        self._left_by_break = False
        self._asked_for = False
        self._asked_to_keep: list[str] = []
        self._beside = self._ranks
        self._tracked: dict[str, Stateful] = {}
        self._restored = False
        self.step = 0
        self._position: Mapping[str, Any] = {"step": 0}
        self._moved = False
        #: Of the last save that was begun, which need not be durable yet; of the start before the first one.
        self._saved_step, self._saved_time = 0, time.monotonic()
        self._saved_name: str | None = None
        self._skipped_step = 0
        self._told_skipped: int | None = None
        self._told_interval: float | None = None
        self._pace = Pace()
        self._schedule: Schedule = schedule(self._order.checkpoint, None)
        self._not_finite_from_start: frozenset[str] = frozenset()
        best = self._order.checkpoint.best
        self._watched = None if best is None else best.metric
        self._measured: dict[str, float] = {}
        self._probe = current_probe()
        if self._probe is not None:
            self._probe.attached()

    # --- what is tracked ------------------------------------------------------------------------------

    def track(self, objects: Mapping[str, Any]) -> None:
        """Remember objects whose state makes up the run, each under its name.

        Raises:
            UsageError: too late, twice, under a name of lastro's own, or without state_dict.
        """
        for name, item in objects.items():
            if self._restored:
                raise UsageError(
                    _("{name} is tracked after the restore, so its state was not put back").format(name=name),
                    hint=_("call track before steps or restore"),
                )
            if name in snapshot.RESERVED or name in self._tracked:
                raise UsageError(_("{name} is tracked already").format(name=name))
            if not (hasattr(item, "state_dict") and hasattr(item, "load_state_dict")):
                raise UsageError(
                    _("{name} ({kind}) has no state_dict and load_state_dict").format(
                        name=name, kind=type(item).__name__
                    ),
                    hint=_("track models, optimizers, schedulers, scalers, or an object with these two"),
                )
            self._tracked[name] = item

    def rename(self, group: str, names: Mapping[str, str]) -> None:
        """Remember under which names a tracked object's parts stand in checkpoints from before.

        Raises:
            UsageError: nothing is tracked under that name, or it is too late.
        """
        if group not in self._tracked or self._restored:
            raise UsageError(
                _("{name} is not tracked, or was restored already").format(name=group),
                hint=_("call renamed after track and before steps or restore"),
            )
        self._renamed[group] = dict(names)

    def track_place(self, place: PlaceOfData, loader: Any, name: str) -> None:
        """Track the place of a loader under a name, or in the loader's stead where the script tracks that.

        Raises:
            UsageError: the script tracks something else under the name of its group.
        """
        own_name = next((own for own, item in self._tracked.items() if item is loader), None)
        if own_name is None:
            self.track({name: place})
        else:
            self._tracked[own_name] = place
        self._place_of_data = place

    # --- restore --------------------------------------------------------------------------------------

    def restore(self) -> Mapping[str, Any] | None:
        """Put everything back from the latest checkpoint that verifies. Returns its position.

        None: begin at the beginning, because nothing was ever saved (or the position is left out on
        purpose). Ends the process when something was saved and nothing can be used.

        Raises:
            UsageError: called twice.
            CheckpointDamaged: the checkpoint does not fit the tracked objects, by name.
        """
        if self._restored:
            raise UsageError(
                _("the state was restored already: an attempt has one training loop"),
                hint=_("give the number of epochs to steps"),
            )
        self._restored = True
        position = self._restore()
        if self._probe is not None:
            self._probe.restored(self.step, self._tracked, position)
        return position

    def _restore(self) -> Mapping[str, Any] | None:
        self._ranks.meet()
        (self._divided,) = self._ranks.any_of((bridge().is_divided(self._tracked),))
        if self._divided:
            self._beside = self._ranks.apart()
        began = time.monotonic()
        found = self._find() if self._ranks.first else store.Found(None, None, ())
        for folder, why in found.passed_over:
            self._signals.send(Signal.PASSED_OVER, folder=folder.name, why=why)
            tell(_("checkpoint {name} is passed over: {why}").format(name=folder.name, why=why))
        usable = found.manifest.step if found.manifest else None
        committed = self._place.attempt.committed_step
        # One that is not healthy counts as no progress, and still there is no beginning at step 0 after it.
        stop = judge_resume(committed if committed is not None else found.unhealthy_step, usable)
        if self._ranks.several:
            found, stop = self._with_first(found, stop)
        if stop is not None:
            self.stop(stop)
        if found.folder is None or found.manifest is None:
            self._not_finite_from_start = self._not_finite()
            if (expected := self._order.expected_save) is not None and self._ranks.first:
                self._writer.foresee(expected.bytes, expected.once)
            return None
        return self._put_back(found, began)

    def _not_finite(self) -> frozenset[str]:
        """Return which tensors hold NaN or an infinity now: at the first process, of all parts of them."""
        own = snapshot.not_finite(self._tracked, bridge(), self._arena)
        every = self._ranks.at_first(own) if self._divided else None
        return own if every is None else frozenset().union(*every)

    def _find(self) -> store.Found:
        """Read the latest checkpoint that can be used."""
        checkpoints = self._place.folder.run.checkpoints
        if self._place.still_mine():
            retention.remove_leftovers(checkpoints)
        return store.latest(
            checkpoints,
            self._order.run,
            lambda folder, manifest: snapshot.load(folder, manifest, bridge(), self._tracked),
        )

    def _with_first(self, found: store.Found, stop: Stop | None) -> tuple[store.Found, Stop | None]:
        """Go on from the very checkpoint that the first process has found, or stop as it does.

        Raises:
            CheckpointDamaged: this process cannot read what the first one has read.
        """
        name, stop = self._ranks.from_first((found.folder.name if found.folder else None, stop))
        if name is None or self._ranks.first:
            return found, stop
        folder = self._place.folder.run.checkpoints / name
        manifest = store.committed(folder)
        if isinstance(manifest, str):
            raise store.unlike_first(name, manifest)
        try:
            content = snapshot.load(folder, manifest, bridge(), self._tracked, every_file=False)
        except store.Unverified as error:
            raise store.unlike_first(name, str(error)) from error
        return store.Found(folder, manifest, (), content=content), stop

    def _put_back(self, found: store.Found, began: float) -> Mapping[str, Any] | None:
        assert found.folder is not None and found.manifest is not None
        if found.manifest.health is not None:
            self._not_finite_from_start = frozenset(found.manifest.health.from_start)
        library = bridge()
        leave_out = self._order.leave_out
        groups = snapshot.decode(found.content)
        for name, names in self._renamed.items():
            if name in groups and name not in leave_out:
                groups[name] = state.renamed(groups[name], names, name)
        snapshot.check_groups(groups, self._tracked, leave_out)
        if not snapshot.apply(groups, self._tracked, library, leave_out, rank=self._ranks.rank):
            tell(
                _("{name} was saved by fewer processes: this one has random states of its own").format(
                    name=found.folder.name
                )
            )
        for name, (before, here) in snapshot.moved(found.content, self._tracked, bridge()).items():
            tell(
                _("{name} was saved on {before} and goes on on {here}").format(
                    name=name, before=before, here=here
                )
            )
        self._writer.know(found.folder.name)
        self._writer.foresee(found.manifest.size)
        seconds = time.monotonic() - began
        self._signals.send(
            Signal.RESTORED, step=found.manifest.step, folder=found.folder.name, seconds=round(seconds, 4)
        )
        if snapshot.POSITION in leave_out:
            return None
        position: Mapping[str, Any] = groups[snapshot.POSITION]
        self.step = self._saved_step = position["step"]
        self._saved_name = found.folder.name
        self._position = position
        self._saved_time = time.monotonic()
        tell(_("goes on at step {step}, from {name}").format(step=self.step, name=found.folder.name))
        return position

    # --- safe points ----------------------------------------------------------------------------------

    def safe_point(self, position: Mapping[str, Any], *, last: bool = False) -> None:
        """Judge, save when due, asked or at the end, leave when asked. Everything before is complete.

        Args:
            position: where the work stands; its `step` counts completed updates.
            last: there is no more work after this.
        """
        step = position["step"]
        self._pace.arrived(time.monotonic(), beside=self._writer.in_flight is not None)
        if step > self.step and not self._moved:
            self._moved = True
            self._signals.send(Signal.FIRST_STEP, step=step)
        self._position, self.step = position, step
        self._heart.beat(step)
        if self._probe is not None:
            self._probe.safe_point(step, self._tracked, position)
        self._full.over()
        self.judge()
        self._settle()
        due = not (last or self._request.asked) and self._wants_save(step)
        due, asked, wanted = self._ranks.any_of((due, self._request.asked, self._asked_for))
        if last or asked:
            self.make_safe("end" if last else "asked")
            self._writer.no_more()
        elif wanted:
            self.make_safe("asked")
        elif due:
            self._save("due")
        for why in self._asked_to_keep:
            self.keep(why)
        self._asked_for, self._asked_to_keep = False, []
        if asked:
            self._ranks.wait_for_all()  # one that leaves first would have the others ended in their save
            self._signals.send(Signal.LEFT, step=step)
            text = _("leaves at step {step}: {meaning}").format(
                step=step, meaning=EXIT_CODES[SAVED_ON_REQUEST]
            )
            leave(SAVED_ON_REQUEST, text)
        self._pace.left(time.monotonic())

    @contextlib.contextmanager
    def room_lent(self) -> Iterator[None]:
        """Lend what is held for checkpoints to what is written in this block."""
        with self._writer.room_lent():
            yield

    def _is_due(self, step: int) -> bool:
        elapsed = time.monotonic() - self._saved_time
        return is_due(self._schedule, max(self._saved_step, self._skipped_step), step, elapsed)

    def _wants_save(self, step: int) -> bool:
        """Tell whether a save is due and can begin now; one that cannot is told. The first process says."""
        if not self._ranks.first or not self._is_due(step):
            return False
        if not self._writer.busy:
            return True
        if self._told_skipped != self._writer.in_flight:
            self._told_skipped = self._writer.in_flight
            self._signals.send(Signal.SKIPPED, step=step, in_flight=self._told_skipped)
            tell(
                _("no save at step {step}: that of step {before} is still being written").format(
                    step=step, before=self._told_skipped
                )
            )
        self._skipped_step = step if self._schedule.every_steps is not None else self._skipped_step
        return False

    def judge(self) -> None:
        """Write what was logged and kept back; end the process when a stop rule speaks on it."""
        for step, values in self._measurements.settle():
            if self._watched is not None and self._watched in values:
                self._measured = {self._watched: float(values[self._watched])}
            stop = judge_values(self._order.stop, step, values)
            if stop is not None:
                self.stop(stop)

    def stop(self, stop: Stop) -> NoReturn:
        """End the process because a rule that was written before the run says so. Nothing is saved."""
        self._signals.send(
            Signal.STOP,
            rule=stop.kind.value,
            why=stop.why,
            step=stop.step,
            metric=stop.metric,
            value=stop.value,
        )
        leave(StoppedByRule.exit_code, _("stopped by a rule: {why}").format(why=stop.why))

    def make_safe(self, why: str) -> None:
        """See that this step is saved, and wait until it is: durable and read again.

        Raises:
            CheckpointDamaged: a value cannot be saved exactly, by name.
            StorageError: the disk refuses, is gone, or does not return what was written. A full one is
                waited for.
            UsageError: the loop was left by `break`.
        """
        if self._left_by_break:
            raise UsageError(
                _("a save after `break` would hold a state that belongs to no place in the data"),
                hint=_("let the loop end by itself, or call save in the body before"),
            )
        self._settle(wait=True)
        if self.step > self._saved_step:
            self._save(why)
            self._settle(wait=True)

    def ask_for_save(self, keep: str | None) -> None:
        """See to a save at the next safe point: until then an update is half done. `keep`: see `keep`."""
        self._asked_for = True
        if keep is not None:
            self._asked_to_keep.append(keep)

    def left_by_break(self) -> None:
        """Take note that the loop was left in a body: the state is no more that of the last safe point."""
        if self._asked_for:
            tell(_("the save that was asked for was not made: the loop was left before its safe point"))
        self._left_by_break = True

    def keep(self, why: str) -> None:
        """See that this step is saved, and that its checkpoint stays.

        Raises:
            UsageError: nothing is saved yet: no update is complete.
            CheckpointDamaged, StorageError: as `make_safe` does.
        """
        self.make_safe("asked")
        if self._saved_name is None:
            raise UsageError(
                _("there is no checkpoint to keep: no update is complete"),
                hint=_("call save(keep=...) after the first safe point"),
            )
        if self._ranks.first:
            retention.keep_for(self._place.folder.run.checkpoints, self._saved_name, why)

    def _save(self, why: str) -> None:
        """Copy the state and begin to write it; the one before is settled."""
        began = time.monotonic()
        # The others may hear a moment later than the first one that the save before is through.
        self._settle(wait=self._divided)
        if self._place_of_data is not None:
            self._place_of_data.gather()
        random = self._ranks.at_first(bridge().random_state()) if self._ranks.several else None
        facts = store.Facts(
            run=self._order.run,
            attempt=self._place.attempt.number,
            step=self.step,
            why=why,
            created=iso(SystemClock().now()),
            position=self._position,
            measured=self._measured,
        )
        self._measured = {}
        if not self._ranks.first and not self._divided:
            self._saved_step, self._saved_name, self._saved_time = self.step, facts.name, began
            return
        taken = snapshot.take(
            self._tracked,
            self._position,
            bridge(),
            self._arena,
            self._base,
            look_again=why == "end",
            random=random,
            together=self._ranks if self._divided else None,
        )
        joint = self._joint(facts, taken) if self._divided else None
        self._saved_step, self._saved_name, self._saved_time = self.step, facts.name, began
        self._writer.begin(facts, taken, self._not_finite_from_start, began, joint)
        self._settle()

    def _joint(self, facts: store.Facts, taken: snapshot.Snapshot) -> JointSave:
        """Begin a save that each process has a part in. The first one sees to the room for all parts."""
        sizes = self._ranks.at_first((taken.size, taken.to_write - taken.size))
        if sizes is not None:
            self._writer.make_way(sum(size for size, _once in sizes), sum(once for _size, once in sizes))
        return JointSave(
            ranks=self._beside,
            facts=facts,
            checkpoints=self._place.folder.run.checkpoints,
            folder=self._ranks.from_first(f"{atomic.TEMPORARY}parts-{facts.name}-{secrets.token_hex(6)}"),
            still_mine=self._place.still_mine,
        )

    def _settle(self, *, wait: bool = False) -> None:
        cost = self._writer.settle(wait=wait)
        if cost is None:
            return
        slowdown = self._pace.slowdown()
        measured = SaveCost(
            blocked=timedelta(seconds=cost.blocked),
            durable=timedelta(seconds=cost.durable),
            slowdown=None if slowdown is None else timedelta(seconds=slowdown),
        )
        policy = self._order.checkpoint
        self._schedule = planned = schedule(policy, measured, _an_hour(self._order.limits.lease))
        if policy.every_steps is None and policy.every_seconds is None and planned.seconds is not None:
            told = self._told_interval
            if told is None or abs(planned.seconds - told) > told / 4:
                self._told_interval = planned.seconds
                self._signals.send(Signal.INTERVAL, seconds=round(planned.seconds, 3), why=planned.why)


def _an_hour(lease: Lease | None) -> Money | None:
    """Return what an hour costs under a lease; None where time has no price or it is not known."""
    return None if lease is None or lease.kind is LeaseKind.LOT else lease.price

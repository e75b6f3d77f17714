"""Restores once, saves at safe points, and leaves when it is asked to or when a stop rule speaks."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any, NoReturn

from lastro import atomic
from lastro.checkpoint import retention, snapshot, store
from lastro.checkpoint.adapters import bridge
from lastro.checkpoint.adapters.base import Stateful
from lastro.checkpoint.due import Schedule, is_due, schedule
from lastro.clock import SystemClock, iso
from lastro.errors import EXIT_CODES, SAVED_ON_REQUEST, Fenced, StoppedByRule, StorageError, UsageError
from lastro.job.leaving import LeaveRequest, leave, tell
from lastro.job.measurements import Measurements
from lastro.job.place import Place
from lastro.job.room import FullDisk
from lastro.journal.signals import Heartbeat, Signal, SignalWriter
from lastro.locale import _
from lastro.rules import Stop, judge_resume, judge_values


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
        self._signals = signals
        self._measurements = measurements
        self._request = request
        self._heart = Heartbeat(place.folder.heartbeat)
        self._full = full
        full.sign_of_life = lambda: self._heart.beat(self.step)
        self._bytes = 0
        self._tracked: dict[str, Stateful] = {}
        self._restored = False
        self.step = 0
        self._position: Mapping[str, Any] = {"step": 0}
        self._safe_step = 0
        self._moved = False
        self._safe_time = time.monotonic()
        self._schedule: Schedule = schedule(self._order.checkpoint, None)
        self._verified: set[str] = set()
        self._not_finite_from_start: frozenset[str] = frozenset()

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
        checkpoints = self._place.folder.run.checkpoints
        if self._place.still_mine():
            retention.remove_leftovers(checkpoints)
        began = time.monotonic()
        found = store.latest(checkpoints, self._order.run)
        for folder, why in found.passed_over:
            self._signals.send(Signal.PASSED_OVER, folder=folder.name, why=why)
            tell(_("checkpoint {name} is passed over: {why}").format(name=folder.name, why=why))
        usable = found.manifest.step if found.manifest else None
        committed = self._place.attempt.committed_step
        # One that is not healthy counts as no progress, and still there is no beginning at step 0 after it.
        stop = judge_resume(committed if committed is not None else found.unhealthy_step, usable)
        if stop is not None:
            self.stop(stop)
        if found.folder is None or found.manifest is None:
            self._not_finite_from_start = snapshot.not_finite(self._tracked, bridge())
            return None
        return self._put_back(found, began)

    def _put_back(self, found: store.Found, began: float) -> Mapping[str, Any] | None:
        assert found.folder is not None and found.manifest is not None
        if found.manifest.health is not None:
            self._not_finite_from_start = frozenset(found.manifest.health.from_start)
        library = bridge()
        leave_out = self._order.leave_out
        groups = snapshot.read(found.folder, found.manifest, library)
        snapshot.check_groups(groups, self._tracked, leave_out)
        snapshot.apply(groups, self._tracked, library, leave_out)
        self._verified.add(found.folder.name)
        self._bytes = found.manifest.size
        seconds = time.monotonic() - began
        self._signals.send(
            Signal.RESTORED, step=found.manifest.step, folder=found.folder.name, seconds=round(seconds, 4)
        )
        if snapshot.POSITION in leave_out:
            return None
        position: Mapping[str, Any] = groups[snapshot.POSITION]
        self.step = self._safe_step = position["step"]
        self._position = position
        self._safe_time = time.monotonic()
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
        if step > self.step and not self._moved:
            self._moved = True
            self._signals.send(Signal.FIRST_STEP, step=step)
        self._position, self.step = position, step
        self._heart.beat(step)
        self._full.over()
        self.judge()
        if step > self._safe_step:
            why = self._why(step, last)
            if why is not None:
                self.save(why)
        if self._request.asked:
            self._signals.send(Signal.LEFT, step=step)
            text = _("leaves at step {step}: {meaning}").format(
                step=step, meaning=EXIT_CODES[SAVED_ON_REQUEST]
            )
            leave(SAVED_ON_REQUEST, text)

    def _why(self, step: int, last: bool) -> str | None:
        if last:
            return "end"
        if self._request.asked:
            return "asked"
        elapsed = time.monotonic() - self._safe_time
        return "due" if is_due(self._schedule, self._safe_step, step, elapsed) else None

    def judge(self) -> None:
        """Write what was logged and kept back; end the process when a stop rule speaks on it."""
        for step, values in self._measurements.settle():
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

    def save_if_new(self, why: str) -> None:
        """Save, unless this step is safe already."""
        if self.step > self._safe_step:
            self.save(why)

    def save(self, why: str) -> None:
        """Save now: durable and read again before this returns. Older checkpoints go as the policy says.

        Raises:
            CheckpointDamaged: a value cannot be saved exactly, by name.
            StorageError: the disk refuses, is gone, or does not return what was written. A full one is
                waited for.
        """
        began = time.monotonic()
        while not self._published(why, began):
            began = time.monotonic()  # waiting for room is no part of what a save costs
        self._full.over()
        self._safe_step, self._safe_time = self.step, time.monotonic()
        self._schedule = schedule(self._order.checkpoint, self._safe_time - began)

    def _published(self, why: str, began: float) -> bool:
        """Publish; False when there was no room, and there may be now."""
        try:
            self._place.require_disk()
            self._publish(why, began)
        except Fenced as error:
            leave(error.exit_code, error.message)
        except OSError as error:
            if not atomic.is_full(error):
                raise StorageError(
                    _("step {step} could not be saved: {error}").format(step=self.step, error=error),
                    hint=_("check the disk; earlier checkpoints are untouched"),
                ) from error
            self._make_room()
            return False
        return True

    def _make_room(self) -> None:
        """Let go what the next save makes superfluous anyway; wait for room when that is nothing."""
        checkpoints, keep = self._place.folder.run.checkpoints, self._order.checkpoint.keep
        if retention.make_room(checkpoints, keep, self._verified):
            return
        self._full.wait(_("step {step}").format(step=self.step), self._bytes)

    def _publish(self, why: str, began: float) -> None:
        checkpoints = self._place.folder.run.checkpoints
        facts = store.Facts(
            run=self._order.run,
            attempt=self._place.attempt.number,
            step=self.step,
            why=why,
            created=iso(SystemClock().now()),
            position=self._position,
        )
        with store.publish(checkpoints, facts, self._place.still_mine) as draft:
            snapshot.write(
                draft, self._tracked, self._position, bridge(), from_start=self._not_finite_from_start
            )
        problems = store.verify(checkpoints / facts.name)
        if problems:
            raise StorageError(
                _("checkpoint {name} was written, but reads back differently: {problems}").format(
                    name=facts.name, problems="; ".join(problems)
                ),
                hint=_("do not trust this disk; earlier checkpoints are untouched"),
            )
        self._verified.add(facts.name)
        if draft.health is not None and not draft.health.healthy:
            tell(_("checkpoint {name}: {why}").format(name=facts.name, why=draft.health.why_not))
        self._bytes = size = sum(entry.bytes for entry in draft.files.values())
        seconds = round(time.monotonic() - began, 4)
        self._signals.send(
            Signal.CHECKPOINT, step=self.step, folder=facts.name, bytes=size, seconds=seconds, why=why
        )
        retention.apply_retention(checkpoints, self._order.checkpoint.keep, self._verified)

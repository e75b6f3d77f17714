"""One attempt: one life of a run's process on this machine, from its claim to its cause of end."""

from __future__ import annotations

import os
import platform
import signal
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from lastro import __version__, atomic, strictjson
from lastro.checkpoint.store import names
from lastro.clock import Clock, iso
from lastro.disk.hold import release_hold
from lastro.errors import SAVED_ON_REQUEST
from lastro.journal.events import EventType
from lastro.journal.settled import settled_facts
from lastro.journal.signals import SIGN_SECONDS, Heartbeat
from lastro.journal.streams import StreamWriter, read_stream
from lastro.paths import AttemptFolder, CampaignFolder, RunFolder, stream_of_attempt
from lastro.procs.identity import ProcessId
from lastro.procs.job import Exit, JobProcess, launch, take_over
from lastro.procs.killtree import NOBODY, Members, end_tree
from lastro.providers.environment import NOTICE
from lastro.rules import Attempt, Cause, End, Ended, Leave, Life, Order, Stay, cause_of
from lastro.run.attention import Watcher, watchers
from lastro.run.caches import EnvironmentWatch, keep_kernels, point_caches
from lastro.run.foreign import ForeignSaves
from lastro.run.mirror import MirrorWatch
from lastro.run.oom import MemoryWitness, score_of
from lastro.run.remains import ended_by
from lastro.run.resuming import command_of
from lastro.run.room import DiskWatch, LastWords, is_short
from lastro.run.seat import Claim, Seat
from lastro.run.seen import Seen
from lastro.run.setup import with_setup
from lastro.run.trackers import tracker_environment
from lastro.run.watch import Watch
from lastro.run.wheels import with_wheels

#: Seconds between two looks at a running job; its exit is seen at once.
LOOK_SECONDS = 0.2
#: Seconds that a notice may come after the TERM that it explains: a machine looks ten times a second.
LATE_NOTICE_SECONDS = 2.0


class RunningAttempt:
    """The attempt that is alive now. Made by `begin` or `take_up`; `live` returns when it has ended."""

    def __init__(
        self, folder: AttemptFolder, order: Order, seat: Seat, stream: StreamWriter, before: int | None
    ) -> None:
        self.folder, self.stream = folder, stream
        self._order, self._seat, self._before = order, seat, before
        self._job: JobProcess | None = None
        self._started = time.monotonic()
        self._watch = Watch(folder, order, stream, self._started)
        disk_watch = DiskWatch(_campaign(order).disk, order.disk)
        tree: set[int] = set()
        self._mirror = MirrorWatch(folder, order, stream)
        self._watchers: tuple[Watcher, ...] = (
            disk_watch,
            *watchers(folder, order, seat, stream, tree, self._mirror),
        )
        self._memory = MemoryWitness(folder, tree)
        self._saves = ForeignSaves(folder, order, seat, stream)
        self._leave: Leave | None = None
        self._deadline: float | None = None
        self._grace_over = False
        self._ended: Members = NOBODY
        self._beat = Heartbeat(folder.run.supervisor_beat)
        self._next_sign = 0.0

    # --- beginning ------------------------------------------------------------------------------------

    @classmethod
    def begin(
        cls,
        run: RunFolder,
        order: Order,
        seat: Seat,
        claim: Claim,
        before: int | None,
        workdir: Path,
        me: ProcessId,
        clock: Clock,
    ) -> RunningAttempt:
        """Start a new life of the job. `before`: the highest step committed so far."""
        folder = run.attempt(claim.number)
        atomic.make_folder(folder.root)
        told = Attempt(
            number=claim.number,
            token=claim.token,
            order=order,
            claimed_at=iso(clock.now()),
            committed_step=before,
            inherited=tuple(path.name for path in names(run.checkpoints)),
        )
        atomic.write_text(folder.attempt, strictjson.pretty(told.as_json()))
        attempt = cls(folder, order, seat, _open_stream(order, claim.number, clock), before)
        attempt.stream.append(
            EventType.ATTEMPT_STARTED,
            run=order.run,
            name=order.name,
            attempt=claim.number,
            machine=order.machine,
            node=order.node,
            token=claim.token,
            committed_step=before,
            mono=attempt._started,
        )
        attempt._mirror.open()
        command = command_of(folder, order, before)
        if command is not None:
            attempt._saves.note_what_is_there()
            attempt._launch(command, workdir, me)
        return attempt

    def _launch(self, command: Sequence[str], workdir: Path, me: ProcessId) -> None:
        run = self.folder.run
        for folder in (run.outputs, run.checkpoints, run.tensorboard):
            atomic.make_folder(folder)
        given = {**os.environ, **self._order.environment}
        disk = _campaign(self._order).disk
        pointed = point_caches(disk, given, self.stream)
        environment = {
            **given,
            **pointed,
            **tracker_environment(given, self._order.run, run.tensorboard),
            "LASTRO_ATTEMPT": str(self.folder.root),
            "LASTRO_OUTPUTS": str(run.outputs),
            "LASTRO_CHECKPOINTS": str(run.checkpoints),
            "LASTRO_RUN": self._order.run,
            "PYTHONUNBUFFERED": "1",
        }
        told = with_setup(
            tuple(command),
            self._order.setup,
            run,
            self._order.machine,
            lambda setup: with_wheels(setup, workdir, disk),
        )
        self._watchers = (
            *self._watchers,
            EnvironmentWatch(self.folder, self.stream, pointed, time.monotonic()),
        )
        self._job = launch(self.folder, told, cwd=workdir, env=environment)
        self.stream.append(
            EventType.ATTEMPT_LAUNCHED,
            shim=self._job.shim.as_json(),
            job=self._job.job.as_json(),
            supervisor=me.as_json(),
            oom_score_adj={"supervisor": score_of("self"), "job": score_of(self._job.job.pid)},
        )

    @classmethod
    def take_up(
        cls, run: RunFolder, order: Order, seat: Seat, number: int, me: ProcessId, clock: Clock
    ) -> RunningAttempt | None:
        """Go on with a life whose supervisor died on this machine; None when there is none to go on with."""
        folder = run.attempt(number)
        campaign = CampaignFolder(Path(order.campaign_folder))
        events = read_stream(campaign.stream(stream_of_attempt(order.run, number))).events
        started = next((event for event in events if event.type is EventType.ATTEMPT_STARTED), None)
        if started is None or any(event.type is EventType.ATTEMPT_ENDED for event in events):
            return None
        if started.facts["machine"] != order.machine:
            return None
        attempt = cls(
            folder, order, seat, _open_stream(order, number, clock), started.facts["committed_step"]
        )
        attempt._started = started.facts["mono"]
        attempt._watch = Watch(folder, order, attempt.stream, attempt._started)
        attempt._watch.take_up(events)
        attempt._job = take_over(folder)
        attempt.stream.append(
            EventType.ATTEMPT_ADOPTED, supervisor=me.as_json(), found=attempt._job is not None
        )
        return attempt

    # --- living ---------------------------------------------------------------------------------------

    def live(self) -> Life:
        """Watch the job until it has ended and nothing of it is alive; record and return its life."""
        ended: Exit | None = None
        while self._job is not None and ended is None:
            ended = self._job.wait(LOOK_SECONDS)
            self._watch.look()
            self._give_a_sign()
            self._saves.look(time.monotonic())
            if ended is None:
                self._heed(self._job)
        if self._job is not None and ended is not None and self._leave is None:
            self._listen_once_more(self._job, ended)
        self._ended |= end_tree(self._marker, [self._job.job] if self._job else [])
        self._saves.finish(ended, self._watch.look)
        self._watch.look(last=True)
        keep_kernels(_campaign(self._order).disk, self.stream)
        self._mirror.finish()
        cause = self._cause(ended)
        release_hold(_campaign(self._order).disk.hold(self._order.campaign, self._order.run))
        self.stream.append(
            EventType.ATTEMPT_ENDED,
            cause=cause.as_json(),
            step=cause.step,
            committed_step=self._committed,
            seconds=round(time.monotonic() - self._started, 3),
            ended_by=ended_by(self._ended, ended.left if ended else 0),
        )
        files = settled_facts(_campaign(self._order).root, self.folder.records())
        self.stream.append(EventType.FILES_SETTLED, files=files)
        self._mirror.send_records()
        return Life(
            number=self.folder.number,
            cause=cause,
            progress_before=self._before,
            progress_after=self._committed,
            items_before=self._watch.items.before,
            items_after=self._watch.items.done,
        )

    def _listen_once_more(self, job: JobProcess, ended: Exit) -> None:
        """Wait a moment for the notice that goes with a TERM which others than lastro have sent.

        A batch system sends it to every process at once, so the job may be gone before its machine has said
        why; without the reason it would count as one that fails, or be started again on a machine that goes.
        """
        if ended.signal != signal.SIGTERM and ended.code != SAVED_ON_REQUEST:
            return
        until = time.monotonic() + LATE_NOTICE_SECONDS
        while NOTICE in os.environ and self._leave is None and time.monotonic() < until:
            self._heed(job)
            time.sleep(LOOK_SECONDS / 4)

    def abandon(self) -> None:
        """End everything of the job: what it does can be neither recorded nor kept."""
        end_tree(self._marker, [self._job.job] if self._job else [])

    def _give_a_sign(self) -> None:
        """Tell home that this supervisor lives. Not at every look: each sign is a write to the disk."""
        now = time.monotonic()
        if now >= self._next_sign:
            self._beat.beat(self.folder.number)
            self._next_sign = now + SIGN_SECONDS

    @property
    def _marker(self) -> tuple[str, str]:
        return ("LASTRO_ATTEMPT", str(self.folder.root))

    @property
    def _committed(self) -> int | None:
        committed = self._watch.committed_step
        return committed if committed is not None else self._before

    def _step(self) -> int | None:
        return self._watch.step

    def _heed(self, job: JobProcess) -> None:
        """Act on a reason to leave, or on a stop rule; end the job when its grace is over."""
        now = time.monotonic()
        seen = Seen(now=now, started=self._started, step=self._step, job=job.job.pid)
        self._memory.look(seen)
        for watcher in self._watchers:
            reason = watcher.look(seen)
            if isinstance(reason, Stay):
                self._stay()
            elif reason is not None:
                self._leave = self._leave or reason
                self._ask_to_leave(job, now, reason.seconds)
        if self._watch.stop is not None and self._deadline is None:
            self._ask_to_leave(job, now, self._order.grace_seconds)
        if self._deadline is not None and now >= self._deadline and not self._grace_over:
            self._grace_over = True
            self._ended |= end_tree(self._marker, [job.job], spare=[job.shim])

    def _ask_to_leave(self, job: JobProcess, now: float, seconds: float) -> None:
        """TERM to the job itself, never to its children: the save needs its workers."""
        self._deadline = min(now + seconds, self._deadline if self._deadline is not None else now + seconds)
        if seconds > 0:
            job.terminate()

    def _stay(self) -> None:
        """Forget a notice that was taken back. A job that leaves all the same is started again here."""
        if self._leave is not None and self._leave.end is End.NOTICE and not self._grace_over:
            self._leave, self._deadline = None, None

    # --- ending ---------------------------------------------------------------------------------------

    def _cause(self, ended: Exit | None) -> Cause:
        at_once = self._leave is not None and self._leave.seconds == 0
        return cause_of(
            Ended(
                exit_code=ended.code if ended else None,
                signal=ended.signal if ended else None,
                step=self._watch.step,
                leave=self._leave,
                stop=self._watch.stop,
                failure=self._watch.failure,
                grace_over=self._grace_over and not at_once,
                killer=self._memory.tell(ended),
                full=self._watch.found_no_room or is_short(_campaign(self._order).disk),
            )
        )


def _campaign(order: Order) -> CampaignFolder:
    return CampaignFolder(Path(order.campaign_folder))


def _open_stream(order: Order, number: int, clock: Clock) -> StreamWriter:
    campaign = _campaign(order)
    opening: dict[str, Any] = {
        "campaign": order.campaign,
        "lastro": __version__,
        "host": platform.node(),
        "home_stream": order.home_stream,
        "home_head": order.home_head,
    }
    path = campaign.stream(stream_of_attempt(order.run, number))
    return StreamWriter(path, clock, opening, LastWords(campaign.disk, clock))

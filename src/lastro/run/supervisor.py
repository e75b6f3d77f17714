"""Carries out one order: attempts of a run on this machine, until the rules say otherwise."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Sequence
from pathlib import Path

from lastro import atomic, strictjson
from lastro.clock import Clock
from lastro.errors import Fenced, LastroError, StorageError
from lastro.journal.events import EventType
from lastro.journal.signals import Heartbeat
from lastro.journal.streams import StreamWriter, read_stream
from lastro.locale import _
from lastro.paths import CampaignFolder, RunFolder, stream_of_attempt
from lastro.procs.identity import ProcessId, identity_of
from lastro.procs.killtree import end_tree
from lastro.providers.shell_signs import ShellSigns
from lastro.rules import End, Life, Next, Order, Verdict, after_attempt
from lastro.run.attempt import RunningAttempt
from lastro.run.history import committed_step, read_lives
from lastro.run.limits import release_after, releases
from lastro.run.orphans import orphans_of
from lastro.run.rescuing import rescue_own_storage
from lastro.run.room import make_way, require_disk, wait_for_room
from lastro.run.seat import Seat, claim_attempt, highest, take_seat
from lastro.run.workdir import prepare

#: Seconds to wait before another start of a job that has just failed: the first, and the longest.
BACKOFF_SECONDS = (0.5, 30.0)


def supervise(folder: RunFolder, clock: Clock) -> Next:
    """Be the one supervisor of a run on this machine until nothing more is to be started here.

    Raises:
        Fenced: another living process supervises the run.
        StorageError: the order cannot be read, or the disk refuses what must be written.
    """
    try:
        order = Order.from_json(strictjson.read(folder.order))
    except (KeyError, TypeError, ValueError) as error:
        raise StorageError(
            _("{path} is not an order that this version understands: {error}").format(
                path=folder.order, error=error
            ),
            hint=_("use the same version of lastro at home and on the machine"),
        ) from error
    disk = CampaignFolder(Path(order.campaign_folder)).disk
    require_disk(disk, order.disk)
    make_way(disk)
    me = identity_of(os.getpid())
    assert me is not None
    seat = take_seat(folder, me, order.machine)
    if seat is None:
        raise Fenced(
            _("run {run} is supervised by another process of this machine").format(run=order.run),
            hint=_("look at it with `lastro status`"),
        )
    # The sign that home looks for where it cannot ask for the process; 0 says good-bye.
    sign = Heartbeat(folder.supervisor_beat)
    sign.beat(highest(folder.claims) + 1)
    try:
        _end_orphans(order, clock)
        return _Supervisor(folder, order, seat, me, clock).carry_out()
    finally:
        if seat.is_mine():
            sign.beat(0)


def _end_orphans(order: Order, clock: Clock) -> None:
    """Let jobs save and end that work on here unseen, before this run begins beside them."""
    campaign = CampaignFolder(Path(order.campaign_folder))
    for orphan in orphans_of(campaign, order.machine, order.run):
        why = _("its supervisor has died, and '{name}' is to run here now").format(name=order.name)
        atomic.write_text(orphan.stop_request, strictjson.pretty({"why": why}))
        try:
            supervise(orphan, clock)
        except Fenced:
            continue  # somebody else sees to it
        except LastroError:
            end_tree(("LASTRO_ATTEMPT", str(orphan.attempt(highest(orphan.claims)).root)))


class _Supervisor:
    def __init__(self, folder: RunFolder, order: Order, seat: Seat, me: ProcessId, clock: Clock) -> None:
        self._folder, self._order, self._seat, self._me, self._clock = folder, order, seat, me, clock
        self._campaign = CampaignFolder(Path(order.campaign_folder))

    def carry_out(self) -> Next:
        last = highest(self._folder.claims)
        lives = read_lives(self._campaign, self._order.run, last)
        current = self._take_up(last)
        if current is None and (decided := self._undecided(last, lives)) is not None:
            return decided
        if current is not None:
            lives = [life for life in lives if life.number != last]
        while True:
            current = current or self._begin(lives)
            lives.append(self._live(current))
            decided = after_attempt(lives, self._order.restart)
            if decided.verdict is not Verdict.RESTART:
                self._end(current.stream, decided)
                # One that is not heard of any more is found out by the vigil that is kept after this.
                held = self._order.machine in ShellSigns(self._campaign).held(self._clock.monotonic())
                if releases(lives[-1].cause, self._order.limits.lease, held=held):
                    rescue_own_storage(self._campaign.disk, self._clock)
                release_after(lives[-1].cause, self._order.limits.lease, held=held)
                return decided
            if lives[-1].cause.end is End.DISK_FULL:
                wait_for_room(self._folder, self._campaign.disk, self._seat, current.stream, self._clock)
            current.stream.close()
            current = None
            self._clock.sleep(_backoff(lives))

    def _live(self, current: RunningAttempt) -> Life:
        """Let an attempt live; end it when its disk does not take what has to be recorded of it."""
        try:
            return current.live()
        except OSError as error:
            current.abandon()
            raise StorageError(
                _("attempt {number} was ended: nothing can be recorded on {path}: {error}").format(
                    number=current.folder.number, path=self._campaign.disk.root, error=error.strerror or error
                ),
                hint=_("make room on the disk, or make it writable; `lastro run` then goes on"),
            ) from error

    def _take_up(self, last: int) -> RunningAttempt | None:
        if last == 0:
            return None
        return RunningAttempt.take_up(self._folder, self._order, self._seat, last, self._me, self._clock)

    def _undecided(self, last: int, lives: Sequence[Life]) -> Next | None:
        """Say what an earlier supervisor of this machine had no time to say of a life that ended."""
        path = self._campaign.stream(stream_of_attempt(self._order.run, last))
        events = read_stream(path).events
        kinds = {event.type for event in events}
        if EventType.ATTEMPT_ENDED not in kinds or EventType.RUN_ENDED in kinds:
            return None
        decided = after_attempt(lives, self._order.restart)
        if decided.verdict in (Verdict.RESTART, Verdict.INTERRUPTED, Verdict.PAUSED):
            return None
        self._end(StreamWriter(path, self._clock, {}), decided)
        return decided

    def _begin(self, lives: Sequence[Life]) -> RunningAttempt:
        require_disk(self._campaign.disk, self._order.disk)
        make_way(self._campaign.disk)
        workdir = prepare(self._order, self._folder)
        claim = claim_attempt(self._folder, self._order, self._clock)
        return RunningAttempt.begin(
            self._folder,
            self._order,
            self._seat,
            claim,
            self._committed_before(lives),
            workdir,
            self._me,
            self._clock,
        )

    def _committed_before(self, lives: Sequence[Life]) -> int | None:
        """Return the highest step ever committed: by what this disk tells, and by what home has seen."""
        known = (committed_step(lives), self._order.committed_step)
        return max((step for step in known if step is not None), default=None)

    def _end(self, stream: StreamWriter, decided: Next) -> None:
        stream.append(EventType.RUN_ENDED, verdict=decided.verdict.value, why=decided.why)
        stream.close()
        with contextlib.suppress(FileNotFoundError):
            self._folder.stop_request.unlink()


def _backoff(lives: Sequence[Life]) -> float:
    """Return how long to wait before the next start: longer with each start that brought nothing."""
    barren = 0
    for life in reversed(lives):
        if life.progressed:
            break
        barren += 1
    first, longest = BACKOFF_SECONDS
    return min(longest, first * 2.0 ** max(0, barren - 1))

"""A full disk under a job: it says so, waits at this very place, and goes on when there is room.

Nothing is dropped. The process stays alive with all its state, which costs rent and no work; whoever asks
it to leave meanwhile ends the wait.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable

from lastro.disk.reserve import Room, keep_reserve, release_reserve, room_on
from lastro.errors import StorageError
from lastro.job.leaving import LeaveRequest, leave, tell
from lastro.job.place import Place
from lastro.journal.signals import OnFull, Signal, SignalWriter
from lastro.locale import _
from lastro.units import show_bytes

#: Seconds between two looks: the first, and the longest; a request to leave is heeded as soon.
LOOK_SECONDS = (0.1, 1.0)
#: Seconds after which it is tried again although no room shows: a quota may be what was used up.
RETRY_SECONDS = 300.0
#: Bytes more than what was not enough: the least that makes another try worth while.
MORE_BYTES = 64 * 1024


class FullDisk:
    """Waits for room, as often as that is needed. `sign_of_life` is called at each look.

    Where several processes train together, all of them wait while one does, and the supervisor listens to the
    first one: so each of them speaks in its place here.
    """

    def __init__(self, place: Place, request: LeaveRequest) -> None:
        self._disk = place.disk
        self._ranks = place.ranks
        self._request = request
        # Of its own: the words that tell of a full disk must not wait for room themselves.
        self._words = SignalWriter(place.folder.signals)
        self._since: float | None = None
        self._what = ""
        self.sign_of_life: Callable[[], None] = lambda: None
        #: Lets go what is held for checkpoints; tells whether that was anything.
        self.give_way: Callable[[], bool] = lambda: False

    def on_full(self, what: str) -> OnFull:
        """Return what a writer of lines asks when its disk is full. `what`: the lines, for people."""

        def wait(_error: OSError) -> bool:
            self.wait(what)
            return True

        return wait

    def wait(self, what: str, least: int = 0) -> None:
        """Wait until more fits than just now, and at least so many bytes. Ends the process when asked to.

        Args:
            what: what found no room, for people.
            least: bytes that it needs, as far as that is known.
        """
        if self.give_way():
            return
        room = self._look()
        needed = max(least, room.for_work + MORE_BYTES)
        if not self._ranks.first:
            what = _("{what} (process {rank})").format(what=what, rank=self._ranks.rank)
        self._say_full(what, room, needed)
        began, pause = time.monotonic(), LOOK_SECONDS[0]
        while not self._request.asked:
            time.sleep(pause)
            pause = min(2 * pause, LOOK_SECONDS[1])
            self.sign_of_life()
            if self._look().for_work >= needed or time.monotonic() - began >= RETRY_SECONDS:
                return
        leave(
            StorageError.exit_code,
            _("asked to leave while the disk is full: {what} could not be kept").format(what=what),
        )

    def has_room_for(self, needed: int) -> bool:
        """Tell whether so many bytes are free, beside what keeps a full disk manageable."""
        return self._look().for_work >= needed

    def foresee(self, what: str, needed: int) -> None:
        """Say in time that the disk will not hold what is still to come; nothing waits for it yet.

        Args:
            what: what is to come, for people.
            needed: bytes of it.
        """
        room = self._look()
        if room.for_work >= needed:
            return
        with contextlib.suppress(OSError):
            self._words.send(Signal.DISK_SHORT, what=what, free=room.for_work, needed=needed)
        tell(
            _("the disk will be full: {what} need {needed}, {free} are free on {path}").format(
                what=what,
                needed=show_bytes(needed),
                free=show_bytes(room.for_work),
                path=self._disk.root,
            )
        )

    def over(self) -> None:
        """Say that there is room again, if there was none; called when something was written."""
        if self._since is None:
            return
        with contextlib.suppress(OSError):
            keep_reserve(self._disk)
            seconds = round(time.monotonic() - self._since, 3)
            free = self._look().for_work
            self._words.send(Signal.DISK_ROOM, what=self._what, free=free, seconds=seconds)
            self._since = None
            tell(_("the disk has room again: {free} free; goes on").format(free=show_bytes(free)))

    def _say_full(self, what: str, room: Room, needed: int) -> None:
        if self._since is not None:
            return
        self._since, self._what = time.monotonic(), what
        release_reserve(self._disk)
        with contextlib.suppress(OSError):  # then the supervisor finds the disk full by itself
            self._words.send(Signal.DISK_FULL, what=what, free=room.for_work, needed=needed)
        tell(
            _("the disk is full: {what} needs {needed}, {free} are free; waits for room on {path}").format(
                what=what,
                needed=show_bytes(needed),
                free=show_bytes(room.for_work),
                path=self._disk.root,
            )
        )

    def _look(self) -> Room:
        try:
            return room_on(self._disk)
        except OSError as error:
            raise StorageError(
                _("the disk {path} cannot be asked for its room: {error}").format(
                    path=self._disk.root, error=error.strerror
                ),
                hint=_("attach it again; what was committed before lies on it"),
            ) from error

"""After a supervisor's last word: a machine on which everything has ended lets itself go if home is dead.

A living home lets its machines go, or sends them something else to do. Of a dead one nobody would hear, and
the machine would be paid for until somebody types `lastro run`.
"""

from __future__ import annotations

import contextlib
import os

from lastro.clock import Clock
from lastro.locale import _
from lastro.paths import CampaignFolder
from lastro.procs.identity import ProcessId, is_alive
from lastro.providers.home_sign import HomeSign
from lastro.providers.shell_signs import ShellSigns
from lastro.records import dataclass
from lastro.run.limits import can_let_go, let_machine_go
from lastro.run.rescuing import rescue_own_storage
from lastro.run.seat import read_seat, read_seat_machine

#: How often home is listened for within the time that it may be silent, and at most so many seconds apart.
_LOOKS = 5
_SECONDS_APART = 15.0


@dataclass(frozen=True)
class Watch:
    """Which machine is watched, where home's signs are, and how long none may be seen (seconds)."""

    campaign: CampaignFolder
    machine: str
    seconds: float


def leave_vigil(watch: Watch, me: ProcessId, clock: Clock) -> None:
    """Leave a child behind that keeps the vigil; called by a supervisor as the last thing that it does.

    `me`: this process. The child begins when it is gone, because a seat that is held is work.
    """
    if not can_let_go() or os.fork() != 0:
        return
    with contextlib.suppress(BaseException):
        os.setsid()
        os.closerange(3, 256)  # a disk on which nothing is open can be taken away
        while is_alive(me):
            clock.sleep(0.05)
        keep_vigil(watch, clock)
    os._exit(0)


def keep_vigil(watch: Watch, clock: Clock) -> None:
    """Listen for home until the machine has work again; ask it to end when home was silent for too long."""
    home = HomeSign(watch.campaign, clock.monotonic())
    shells = ShellSigns(watch.campaign)
    while not at_work(watch):
        now = clock.monotonic()
        held = watch.machine in shells.held(now)  # somebody is there, home or no home
        if home.silent_seconds(now) >= watch.seconds and not held:
            rescue_own_storage(watch.campaign.disk, clock)
            let_machine_go(_("everything has ended, and home is silent"))
            return
        clock.sleep(min(watch.seconds / _LOOKS, _SECONDS_APART))


def at_work(watch: Watch) -> bool:
    """Tell whether a living supervisor of this machine has work; its end has a vigil of its own."""
    runs = watch.campaign.runs
    try:
        folders = [watch.campaign.run(path.name) for path in runs.iterdir()]
        seated = [folder for folder in folders if read_seat_machine(folder) == watch.machine]
        return any((holder := read_seat(folder)) is not None and is_alive(holder) for folder in seated)
    except OSError:  # a disk that is away says nothing of work
        return False

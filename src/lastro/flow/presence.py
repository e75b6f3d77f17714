"""Whether a run has a supervisor: asked of the process table on this box, else of the signs that it gives."""

from __future__ import annotations

from collections.abc import Collection

from lastro.clock import boot_id
from lastro.journal.signals import read_beat
from lastro.paths import CampaignFolder, RunFolder
from lastro.procs.identity import ProcessId, is_alive
from lastro.providers.base import Link
from lastro.run.seat import read_seat, read_seat_machine


def supervisors(campaign: CampaignFolder) -> list[ProcessId]:
    """Return who sits, or sat last, in the seats of a campaign's runs."""
    runs = sorted(campaign.runs.iterdir()) if campaign.runs.is_dir() else []
    return [holder for path in runs if (holder := read_seat(RunFolder(path))) is not None]


def is_supervised(run: RunFolder, gone: Collection[str | None], link: Link | None = None) -> bool:
    """Tell whether somebody sits in a run's seat and has not said good-bye.

    A process of another boot (another machine, or a jail) cannot be asked. It counts as there until it says
    good-bye or its machine is gone; one that is silent for too long is given up (see `silence`).

    Args:
        run: the run's folder on the disk.
        gone: machines that are known to be gone.
        link: the way to the computer that it works on, where that is another one.
    """
    holder = read_seat(run)
    if holder is not None and holder.pid == 0:
        return False  # the seat was taken away, and nobody sits there
    if link is not None and holder is not None and read_seat_machine(run) not in gone:
        # Of whom nobody has asked yet nothing is known: the process table here is that of another computer.
        told = link.alive(holder)
        return told is None or told
    if holder is None or is_alive(holder):
        return holder is not None
    if holder.boot_id in ("", boot_id()) or read_seat_machine(run) in gone:
        return False
    beat = read_beat(run.supervisor_beat)
    return beat is not None and beat.step > 0

"""Jobs on this machine whose supervisor has died, of runs that nobody sends a supervisor to any more."""

from __future__ import annotations

from collections.abc import Iterator

from lastro.paths import CampaignFolder, RunFolder
from lastro.procs.identity import is_alive
from lastro.procs.job import adopt
from lastro.run.seat import highest, read_seat, read_seat_machine


def orphans_of(campaign: CampaignFolder, machine: str, run: str) -> Iterator[RunFolder]:
    """Yield the runs beside `run` whose job lives on this machine without a living supervisor.

    A machine has one run at a time. Home sends a supervisor again to each that is to go on; what is left was
    set aside, as when the code changed.
    """
    roots = sorted(campaign.runs.iterdir()) if campaign.runs.is_dir() else []
    for root in roots:
        folder = RunFolder(root)
        if root.name == run or read_seat_machine(folder) != machine:
            continue
        holder = read_seat(folder)
        job = adopt(folder.attempt(highest(folder.claims)))
        if (holder is None or not is_alive(holder)) and job is not None and is_alive(job.job):
            yield folder

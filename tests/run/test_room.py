"""The supervisor on a disk that is full, gone, or another one: it records, waits, and says so by name."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path

from lastro import atomic
from lastro.disk.facts import open_disk
from lastro.disk.reserve import keep_reserve, room_on
from lastro.journal.events import EventType
from lastro.paths import Disk, RunFolder
from lastro.procs.killtree import members
from lastro.run.seat import highest
from tests.disk.small import break_disk, fill, on_a_small_disk
from tests.run.jobs import RUN, events_of, kinds_of, order_for, start_supervisor, wait_for, write_order

MIB = 2**20


def _disk(tmp_path: Path) -> Disk:
    disk = Disk(tmp_path / "disk")
    open_disk(disk)
    assert keep_reserve(disk)
    return disk


def _of(kind: EventType, folder: RunFolder, number: int = 1) -> dict[str, object]:
    return dict(next(event for event in events_of(folder, number) if event.type is kind).facts)


#: Fills its disk, then fails to print, as any program does then. The second life finds the file `again`.
_PRINTS = """
import os, sys, pathlib
root = pathlib.Path(sys.argv[1])
if (root / "again").exists():
    sys.exit(0)
(root / "again").touch()
with open(root / "disk" / "ballast", "wb", buffering=0) as ballast:
    try:
        while True:
            ballast.write(bytes(65536))
    except OSError:
        pass
while True:
    print("x" * 1000, flush=True)
"""


@on_a_small_disk(8 * MIB)
def test_a_job_that_dies_of_a_full_disk_is_started_again_when_there_is_room(tmp_path: Path) -> None:
    _disk(tmp_path)
    folder, _order = order_for(tmp_path, sys.executable, "-c", _PRINTS, str(tmp_path))
    supervisor = start_supervisor(folder)
    wait_for(lambda: EventType.DISK_FULL in kinds_of(folder, 1))
    ended = _of(EventType.ATTEMPT_ENDED, folder)["cause"]
    assert isinstance(ended, dict)
    assert ended["end"] == "disk_full"
    assert "the disk is full" in ended["why"]
    time.sleep(1.0)
    assert highest(folder.claims) == 1, "it was started again on a full disk"

    (tmp_path / "disk/ballast").unlink()

    assert supervisor.wait(60) == 0
    assert EventType.DISK_ROOM in kinds_of(folder, 1)
    assert _of(EventType.RUN_ENDED, folder, 2)["verdict"] == "completed"
    assert room_on(Disk(tmp_path / "disk")).held > 0


@on_a_small_disk(8 * MIB)
def test_on_a_full_disk_an_attempt_begins_and_ends_with_its_last_words(tmp_path: Path) -> None:
    """Seat, claim, attempt.json, stream, the shim's records: all of it fits where the reserve was."""
    disk = _disk(tmp_path)
    folder, _order = order_for(tmp_path, "true")
    fill(disk.root)

    assert start_supervisor(folder).wait(60) == 0

    ends = [EventType.ATTEMPT_ENDED, EventType.FILES_SETTLED, EventType.RUN_ENDED]
    assert kinds_of(folder, 1)[-3:] == ends
    assert _of(EventType.RUN_ENDED, folder)["verdict"] == "completed"
    assert room_on(disk).held == 0


@on_a_small_disk(8 * MIB)
def test_a_disk_that_goes_away_ends_the_job_and_leaves_nothing_alive(tmp_path: Path) -> None:
    disk = _disk(tmp_path)
    folder, order = order_for(tmp_path, "sleep", "600")
    write_order(folder, order, disk=open_disk(disk).uuid)
    supervisor = start_supervisor(folder)
    wait_for(lambda: EventType.ATTEMPT_LAUNCHED in kinds_of(folder, 1))
    marker = ("LASTRO_ATTEMPT", str(folder.attempt(1).root))
    assert members(marker).all

    subprocess.run(["umount", "--lazy", str(disk.root)], check=True)

    supervisor.wait(60)
    assert not members(marker).all
    assert list(disk.root.iterdir()) == [], "something was made where the disk had been"


@on_a_small_disk(32 * MIB, "ext4")
def test_a_disk_that_turns_read_only_ends_the_job_with_code_8(tmp_path: Path) -> None:
    """What happens can be neither recorded nor kept: going on would only cost money."""
    disk = _disk(tmp_path)
    folder, order = order_for(tmp_path, "sleep", "600")
    write_order(folder, order, disk=open_disk(disk).uuid)
    supervisor = start_supervisor(folder)
    wait_for(lambda: EventType.ATTEMPT_LAUNCHED in kinds_of(folder, 1))
    marker = ("LASTRO_ATTEMPT", str(folder.attempt(1).root))
    request = folder.stop_request  # something that has to be recorded
    atomic.write_text(request, json.dumps({"why": "to see"}))

    break_disk(disk.root)

    # The request may have been recorded just before the disk broke; then the job's end cannot be.
    assert supervisor.wait(60) == 8
    assert not members(marker).all


def test_a_supervisor_that_was_sent_to_another_disk_refuses_by_name(tmp_path: Path) -> None:
    open_disk(Disk(tmp_path / "disk"))
    folder, order = order_for(tmp_path, "true")
    write_order(folder, order, disk="00000000-another")

    assert start_supervisor(folder).wait(60) == 8

    assert "is another disk" in folder.supervisor_log.read_text()
    assert highest(folder.claims) == 0


_RESTORES = """
import lastro
attempt = lastro.attach()
print("went on at", attempt.restore(), flush=True)
"""


def test_a_disk_without_the_checkpoints_that_home_has_seen_is_no_beginning_at_step_0(tmp_path: Path) -> None:
    """The disk was restored from an old copy: its own streams know of no checkpoint, home does."""
    folder, order = order_for(tmp_path, sys.executable, "-c", _RESTORES)
    write_order(folder, order, committed_step=40)

    start_supervisor(folder).wait(60)

    ended = _of(EventType.RUN_ENDED, folder)
    assert ended["verdict"] == "stopped"
    assert "step 40 was committed before, but no checkpoint can be used here" in str(ended["why"])
    assert "went on" not in folder.attempt(1).log.read_text()
    assert list(folder.checkpoints.iterdir()) == []
    assert folder.root.name == RUN

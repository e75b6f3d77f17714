"""A job on a disk that is full: it waits where it is, says so, and goes on without having lost anything."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

from lastro import strictjson
from lastro.checkpoint import store
from lastro.disk.facts import open_disk
from lastro.disk.reserve import keep_reserve, room_on
from lastro.paths import AttemptFolder, Disk
from lastro.rules import CheckpointPolicy
from tests.disk.small import break_disk, fill, on_a_small_disk
from tests.job.hand import Run, environment, kinds, make_run, signals

MIB = 2**20
STEPS = 30

#: Its state is a megabyte of text. It goes on when the file `go` is there, so that a test can fill the disk.
SCRIPT = """
import os, sys, time
from pathlib import Path
import lastro

class Counter:
    def __init__(self):
        self.total, self.pad = 0, "x" * 1_000_000
    def state_dict(self):
        return {"total": self.total, "pad": self.pad}
    def load_state_dict(self, state):
        self.total, self.pad = state["total"], state["pad"]

attempt = lastro.attach()
counter = Counter()
attempt.track(counter=counter)
gate = Path(sys.argv[1])
for step in range(attempt.restore() + 1, 31):
    counter.total += step
    if step == 15:
        (gate / "waits").touch()
        while not (gate / "go").exists():
            time.sleep(0.01)
    for _ in range(int(sys.argv[2])):
        attempt.log(loss=1.0 / step)
    attempt.safe_point(step)
with attempt.output("total.txt") as path:
    path.write_text(str(counter.total))
"""


def _wait_for(condition: Callable[[], object]) -> None:
    deadline = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < deadline, "it never came"
        time.sleep(0.02)


def _begin(
    tmp_path: Path, *, keep: int = 2, every: int = 10, lines: int = 1
) -> tuple[Run, AttemptFolder, subprocess.Popen[bytes]]:
    """Start the job on the small disk and let it come to step 15."""
    disk = Disk(tmp_path / "disk")
    open_disk(disk)
    assert keep_reserve(disk)
    (tmp_path / "train.py").write_text(SCRIPT)
    run = make_run(disk.campaign("c").root, checkpoint=CheckpointPolicy(every_steps=every, keep=keep))
    folder = run.attempt()
    job = subprocess.Popen(
        [sys.executable, str(tmp_path / "train.py"), str(tmp_path), str(lines)],
        env=environment(folder),
        cwd=tmp_path,
        stderr=(tmp_path / "err.txt").open("w"),
    )
    _wait_for((tmp_path / "waits").exists)
    return run, folder, job


def _points(folder: AttemptFolder) -> list[int]:
    return [strictjson.loads(line)["s"] for line in folder.measurements().read_bytes().splitlines()]


@on_a_small_disk(8 * MIB)
def test_a_save_waits_for_room_and_goes_on(tmp_path: Path) -> None:
    run, folder, job = _begin(tmp_path)
    ballast = fill(tmp_path / "disk", leave=300_000)  # enough for lines, not for a save
    (tmp_path / "go").touch()

    _wait_for(lambda: "disk_full" in kinds(folder))
    told = next(line for line in signals(folder) if line["kind"] == "disk_full")
    assert job.poll() is None
    assert told["what"] == "step 20"
    assert told["free"] < told["needed"] and told["needed"] >= 1_000_000
    assert "the disk is full: step 20 needs" in (tmp_path / "err.txt").read_text()
    assert [path.name for path in run.folder.checkpoints.iterdir()] == ["10-a1"]

    ballast.unlink()
    assert job.wait(60) == 0, (tmp_path / "err.txt").read_text()
    assert kinds(folder).index("disk_room") > kinds(folder).index("disk_full")
    assert (run.folder.outputs / "total.txt").read_text() == str(sum(range(STEPS + 1)))
    found = store.latest(run.folder.checkpoints)
    assert found.manifest is not None and found.manifest.step == STEPS and found.passed_over == ()
    assert room_on(Disk(tmp_path / "disk")).held > 0, "the reserve was not made again"


@on_a_small_disk(8 * MIB)
def test_measurements_wait_and_none_is_lost_or_half_written(tmp_path: Path) -> None:
    _run, folder, job = _begin(tmp_path, every=100, lines=2000)
    ballast = fill(tmp_path / "disk")
    (tmp_path / "go").touch()

    _wait_for(lambda: "disk_full" in kinds(folder))
    assert next(line for line in signals(folder) if line["kind"] == "disk_full")["what"] == "a measurement"
    assert folder.measurements().read_bytes().endswith(b"}\n")
    size = folder.measurements().stat().st_size
    time.sleep(0.5)
    assert folder.measurements().stat().st_size == size, "what the reserve left was used for work"

    ballast.unlink()
    assert job.wait(60) == 0, (tmp_path / "err.txt").read_text()
    assert _points(folder) == [step for step in range(1, STEPS + 1) for _ in range(2000)]


@on_a_small_disk(8 * MIB)
def test_what_the_next_save_makes_superfluous_goes_first(tmp_path: Path) -> None:
    """Three checkpoints do not fit, two do: with keep 2 the older one goes before the save, not after it."""
    run, folder, job = _begin(tmp_path, keep=2, every=5)
    assert sorted(path.name for path in run.folder.checkpoints.iterdir()) == ["10-a1", "5-a1"]
    fill(tmp_path / "disk", leave=500_000)
    (tmp_path / "go").touch()

    assert job.wait(60) == 0, (tmp_path / "err.txt").read_text()
    assert "disk_full" not in kinds(folder)
    assert [path.name for path in store.names(run.folder.checkpoints)] == ["30-a1", "25-a1"]


@on_a_small_disk(8 * MIB)
def test_a_job_that_is_asked_to_leave_while_it_waits_leaves_with_what_was_saved_before(
    tmp_path: Path,
) -> None:
    run, folder, job = _begin(tmp_path)
    fill(tmp_path / "disk", leave=300_000)
    (tmp_path / "go").touch()
    _wait_for(lambda: "disk_full" in kinds(folder))

    job.send_signal(signal.SIGTERM)

    assert job.wait(60) == 8
    assert "step 20 could not be kept" in (tmp_path / "err.txt").read_text()
    assert [path.name for path in run.folder.checkpoints.iterdir()] == ["10-a1"]


@on_a_small_disk(32 * MIB, "ext4")
def test_a_disk_that_turns_read_only_ends_the_job_by_name(tmp_path: Path) -> None:
    _run, _folder, job = _begin(tmp_path, lines=0)
    break_disk(tmp_path / "disk")
    (tmp_path / "go").touch()

    assert job.wait(60) == 8
    assert (
        "step 20 could not be saved: [Errno 30] Read-only file system" in (tmp_path / "err.txt").read_text()
    )


@on_a_small_disk(32 * MIB, "ext4")
def test_on_a_real_file_system_a_save_waits_for_room_too(tmp_path: Path) -> None:
    run, folder, job = _begin(tmp_path)
    ballast = fill(tmp_path / "disk", leave=300_000)
    (tmp_path / "go").touch()
    _wait_for(lambda: "disk_full" in kinds(folder))

    ballast.unlink()

    assert job.wait(60) == 0, (tmp_path / "err.txt").read_text()
    assert (run.folder.outputs / "total.txt").read_text() == str(sum(range(STEPS + 1)))


@on_a_small_disk(8 * MIB)
def test_a_disk_that_is_gone_ends_the_job_and_nothing_is_made_in_its_place(tmp_path: Path) -> None:
    _run, _folder, job = _begin(tmp_path)
    subprocess.run(["umount", "--lazy", str(tmp_path / "disk")], check=True)
    (tmp_path / "go").touch()

    assert job.wait(60) == 8
    assert "the disk is gone" in (tmp_path / "err.txt").read_text()
    assert list((tmp_path / "disk").iterdir()) == []


@on_a_small_disk(8 * MIB)
def test_a_disk_that_will_be_too_small_is_told_at_the_first_save(tmp_path: Path) -> None:
    """Nine megabytes for nine checkpoints do not fit on eight; the first one does."""
    _run, folder, job = _begin(tmp_path, keep=8)

    (told,) = (line for line in signals(folder) if line["kind"] == "disk_short")
    assert told["needed"] > 9_000_000 > told["free"]
    assert "the disk will be full: 8 checkpoints of " in (tmp_path / "err.txt").read_text()
    assert "checkpoint" in kinds(folder)
    job.kill()
    job.wait()

"""The room for a run's checkpoints is held before its first step, and never in anybody's way."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from lastro.checkpoint import store
from lastro.disk.facts import open_disk
from lastro.job.checkpoint_room import missing_bytes
from lastro.paths import Disk
from lastro.rules import CheckpointPolicy, ExpectedSave
from tests.disk.small import on_a_small_disk
from tests.job.hand import environment, kinds, make_run, signals

MIB = 2**20
EXPECTED = ExpectedSave(bytes=40 * MIB, once=0, why="measured")
#: Its state is 40 MB of text, a little less than is expected.
SCRIPT = """
import sys
from pathlib import Path
import lastro
from lastro.disk.hold import held
from lastro.paths import Disk

class Counter:
    def __init__(self):
        self.total, self.pad = 0, "x" * 40_000_000
    def state_dict(self):
        return {"total": self.total, "pad": self.pad}
    def load_state_dict(self, state):
        self.total, self.pad = state["total"], state["pad"]

disk = Disk(Path(sys.argv[1]))
hold = disk.hold("test", "r1")
attempt = lastro.attach()
counter = Counter()
attempt.track(counter=counter)
for step in range(attempt.restore() + 1, 7):
    print(step, held(hold) // 1_000_000, flush=True)
    counter.total += step
    if step == 5:
        with attempt.output("middle.bin") as path:
            print("lent", held(hold) // 1_000_000, flush=True)
            path.write_bytes(bytes(1000))
    if step == 6 and len(sys.argv) > 2:
        with open(disk.root / "ballast", "wb", buffering=0) as ballast:
            try:
                while True:
                    ballast.write(bytes(65536))
            except OSError:
                pass
        for _ in range(1000):
            attempt.log(loss=1.0)
    attempt.safe_point(step)
    if step % 2 == 0:
        attempt.save()  # waits for the one that is due
attempt.end(6)
print("end", held(hold) // 1_000_000, flush=True)
"""


@pytest.mark.parametrize(("there", "once", "expected"), [(0, 7, 307), (1, 0, 200), (2, 0, 100), (5, 0, 100)])
def test_what_is_missing_to_those_that_stay_and_the_one_being_made(
    there: int, once: int, expected: int
) -> None:
    """Two of 100 stay: with none there three are to be written, and one more always."""
    assert missing_bytes(100, once, keep=2, there=there) == expected


def _trained(
    tmp_path: Path, *words: str, keep: int = 2, expected: ExpectedSave | None = EXPECTED
) -> tuple[list[str], Disk, list[str]]:
    """Let the job train on the small disk; returns what it printed, the disk, and what it told of it."""
    disk = Disk(tmp_path / "disk")
    open_disk(disk)
    (tmp_path / "train.py").write_text(SCRIPT)
    run = make_run(disk.campaign("c").root, checkpoint=CheckpointPolicy(every_steps=2, keep=keep))
    folder = run.attempt(expected_save=expected)
    done = subprocess.run(
        [sys.executable, str(tmp_path / "train.py"), str(disk.root), *words],
        env=environment(folder), cwd=tmp_path, capture_output=True, text=True, timeout=100, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    found = store.latest(run.folder.checkpoints).manifest
    assert found is not None and found.step == 6
    assert not [*disk.root.glob(".lastro/hold-*")], "no checkpoint is to come"
    assert "disk_full" not in kinds(folder)
    told = [f"{one['bytes']} {one['why_not']}" for one in signals(folder) if one["kind"] == "disk_held"]
    return done.stdout.splitlines(), disk, told


@on_a_small_disk(256 * MIB)
def test_it_is_held_before_the_first_step_given_to_saves_lent_to_outputs_and_gone_at_the_end(
    tmp_path: Path,
) -> None:
    """Of 41.9 MB each, as was expected: three at first, and one less with each save, but one always."""
    printed, _disk, told = _trained(tmp_path)

    assert printed == ["1 125", "2 125", "3 83", "4 83", "5 41", "lent 0", "6 41", "end 0"]
    assert told == [f"{3 * EXPECTED.bytes} None"]


@on_a_small_disk(256 * MIB)
def test_who_finds_the_disk_full_gets_it_and_waits_for_nothing(tmp_path: Path) -> None:
    printed, disk, _told = _trained(tmp_path, "fill")

    assert printed[-3:] == ["lent 0", "6 41", "end 0"]
    assert (disk.root / "ballast").stat().st_size > 50_000_000


@on_a_small_disk(86 * MIB)
def test_a_disk_that_it_would_fill_is_told_of_and_left_alone(tmp_path: Path) -> None:
    """One of 40 MB and the tenth that has to stay free are 49 MB; beside the first one there are 47.

    90.2 MB, less 2.8 for the reserve.
    """
    printed, _disk, told = _trained(tmp_path, keep=1, expected=None)

    assert printed == ["1 0", "2 0", "3 0", "4 0", "5 0", "lent 0", "6 0", "end 0"]
    assert len(told) == 1 and told[0].startswith("0 80 MB more are needed")

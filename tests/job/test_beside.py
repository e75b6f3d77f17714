"""Lives of a training process whose state is large enough to be written beside its loop."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
import safetensors.torch

from lastro.checkpoint import store
from lastro.disk.facts import open_disk
from lastro.paths import AttemptFolder, Disk
from lastro.rules import CheckpointPolicy
from tests.disk.small import fill, on_a_small_disk
from tests.job.conftest import Ended, Nursery
from tests.job.hand import Run, environment, kinds, make_run, signals

SCRIPT = Path(__file__).with_name("large.py")
MIB = 2**20


def live(
    run: Run, nursery: Nursery, *, strike: int | None = None, at: int | None = None, **wish: Any
) -> tuple[Ended, AttemptFolder]:
    folder = run.attempt()
    environ = {**environment(folder), "WISH": json.dumps({"steps": 35, **wish})}
    return nursery.run(folder, SCRIPT, signal=strike, step=at, environ=environ), folder


def saved(folder: AttemptFolder) -> list[tuple[int, str]]:
    return [(line["step"], line["why"]) for line in signals(folder) if line["kind"] == "checkpoint"]


def value_of(run: Run, name: str) -> float:
    """Return what every element of the weight is in a checkpoint that verifies: they are all the same."""
    folder = run.folder.checkpoints / name
    assert store.verify(folder) == ()
    weight = safetensors.torch.load_file(folder / "tensors.safetensors")["model/weight"]
    assert bool((weight == weight[0]).all())
    return float(weight[0])


def test_what_changes_while_a_save_is_written_is_not_in_it(tmp_path: Path, nursery: Nursery) -> None:
    run = make_run(tmp_path, checkpoint=CheckpointPolicy(every_steps=10, keep=9))

    ended, folder = live(run, nursery, slow=16)

    assert ended.code == 0, ended.log
    assert saved(folder)[0] == (10, "due")
    assert value_of(run, "10-a1") == 10, "the loop was at step 16 when the first byte was written"


def test_a_save_that_is_due_while_one_is_in_flight_is_skipped_and_told(
    tmp_path: Path, nursery: Nursery
) -> None:
    run = make_run(tmp_path, checkpoint=CheckpointPolicy(every_steps=10, keep=9))

    ended, folder = live(run, nursery, slow=33)

    assert saved(folder) == [(10, "due"), (35, "end")]
    skipped = [line for line in signals(folder) if line["kind"] == "skipped"]
    assert [(line["step"], line["in_flight"]) for line in skipped] == [(20, 10)]
    assert "no save at step 20: that of step 10 is still being written" in ended.log
    assert (value_of(run, "10-a1"), value_of(run, "35-a1")) == (10, 35)


def test_what_is_announced_was_blocked_for_less_than_it_took(tmp_path: Path, nursery: Nursery) -> None:
    run = make_run(tmp_path)

    _ended, folder = live(run, nursery, slow=16)

    told = next(line for line in signals(folder) if line["kind"] == "checkpoint")
    assert 0 < told["blocked"] < told["durable"] < told["seconds"]


def test_asked_to_leave_it_waits_for_the_save_in_flight_and_saves_once_more(
    tmp_path: Path, nursery: Nursery
) -> None:
    run = make_run(tmp_path, checkpoint=CheckpointPolicy(every_steps=10, keep=9))

    ended, folder = live(run, nursery, strike=signal.SIGTERM, at=13, slow=12)

    assert ended.code == 85
    assert saved(folder) == [(10, "due"), (13, "asked")]
    assert kinds(folder)[-1] == "left"
    assert (value_of(run, "10-a1"), value_of(run, "13-a1")) == (10, 13)


@pytest.mark.parametrize(("end", "code"), [("exit", 3), ("raise", 1), ("break", 0)])
def test_a_script_that_ends_in_the_middle_of_a_save_waits_for_it(
    tmp_path: Path, nursery: Nursery, end: str, code: int
) -> None:
    run = make_run(tmp_path)

    ended, folder = live(run, nursery, slow=14, end_at=14, end=end)

    assert ended.code == code, ended.log
    assert saved(folder) == [(10, "due")]
    assert value_of(run, "10-a1") == 10


def test_a_save_that_was_asked_for_in_a_body_is_made_when_its_update_is_complete(
    tmp_path: Path, nursery: Nursery
) -> None:
    """In the body of update 8 the weights are those of 8 already, and the place in the data that of 7."""
    run = make_run(tmp_path, checkpoint=CheckpointPolicy(every_steps=1000))

    _ended, folder = live(run, nursery, save_at=8, strike=signal.SIGKILL, at=9)

    assert saved(folder) == [(8, "asked")]
    assert value_of(run, "8-a1") == 8


def test_killed_in_the_middle_of_a_save_it_goes_on_from_the_one_before(
    tmp_path: Path, nursery: Nursery
) -> None:
    run = make_run(tmp_path)
    live(run, nursery, strike=signal.SIGKILL, at=13)
    ended, _folder = live(run, nursery, strike=signal.SIGKILL, at=23, slow=30)
    assert ended.signal == signal.SIGKILL
    assert any(path.name.startswith(".tmp-") for path in run.folder.checkpoints.iterdir())

    ended, third = live(run, nursery)

    assert ended.code == 0, ended.log
    assert not any(path.name.startswith(".tmp-") for path in run.folder.checkpoints.iterdir())
    restored = [line["step"] for line in signals(third) if line["kind"] == "restored"]
    assert restored in ([10], []), "nothing before the first save that was durable"


def test_a_disk_that_does_not_keep_what_it_was_given_ends_the_job_at_a_safe_point(
    tmp_path: Path, nursery: Nursery
) -> None:
    run = make_run(tmp_path)

    ended, folder = live(run, nursery, flip=True, steps=100_000)

    assert ended.code == 8
    assert "checkpoint 10-a1 was written, but reads back differently" in ended.log
    assert saved(folder) == []


def test_the_failure_of_a_save_that_nobody_waits_for_is_told_at_the_end(
    tmp_path: Path, nursery: Nursery
) -> None:
    run = make_run(tmp_path)

    ended, folder = live(run, nursery, flip=True, slow=14, end_at=14, end="break")

    assert saved(folder) == []
    assert "step 10 was not saved: checkpoint 10-a1 was written, but reads back" in ended.log


def test_workers_that_are_forked_beside_a_save_do_not_disturb_it(tmp_path: Path, nursery: Nursery) -> None:
    run = make_run(tmp_path, checkpoint=CheckpointPolicy(every_steps=5, keep=9))

    ended, folder = live(run, nursery, workers=2)

    assert ended.code == 0, ended.log
    assert saved(folder)[-1] == (35, "end")
    for step, _why in saved(folder):
        assert value_of(run, f"{step}-a1") == step


def test_a_replaced_attempt_publishes_nothing_of_what_it_had_in_flight(tmp_path: Path) -> None:
    run, gate = make_run(tmp_path), tmp_path / "gate"
    folder = run.attempt()
    wish = {"steps": 2_000_000, "until": str(gate)}
    with folder.log.open("wb") as log:
        job = subprocess.Popen(
            [sys.executable, str(SCRIPT)],
            env={**environment(folder), "WISH": json.dumps(wish)},
            stderr=log,
        )
        deadline = time.monotonic() + 60
        while "skipped" not in kinds(folder):
            assert time.monotonic() < deadline
            time.sleep(0.01)
        run.attempt()
        gate.touch()
        job.wait(60)

    assert job.returncode == 12, folder.log.read_text()
    assert store.names(run.folder.checkpoints) == []


@on_a_small_disk(32 * MIB)
def test_on_a_full_disk_the_loop_waits_at_its_next_safe_point_and_nothing_is_dropped(tmp_path: Path) -> None:
    disk, gate = Disk(tmp_path / "disk"), tmp_path / "gate"
    open_disk(disk)
    run = make_run(disk.campaign("c").root, checkpoint=CheckpointPolicy(every_steps=10, keep=1))
    folder = run.attempt()
    wish = {"steps": 35, "slow": 12, "until": str(gate)}
    with (tmp_path / "log").open("wb") as log:
        job = subprocess.Popen(
            [sys.executable, str(SCRIPT)],
            env={**os.environ, **environment(folder), "WISH": json.dumps(wish)},
            stderr=log,
        )
    deadline = time.monotonic() + 60
    while not run.folder.checkpoints.exists() or not list(run.folder.checkpoints.iterdir()):
        assert time.monotonic() < deadline
        time.sleep(0.01)
    ballast = fill(tmp_path / "disk", leave=8 * MIB)
    gate.touch()
    while "disk_full" not in kinds(folder):
        assert time.monotonic() < deadline, (tmp_path / "log").read_text()
        time.sleep(0.01)
    assert job.poll() is None

    ballast.unlink()

    assert job.wait(60) == 0, (tmp_path / "log").read_text()
    told = kinds(folder)
    assert told.index("disk_full") < min(told.index("disk_room"), told.index("checkpoint"))
    assert saved(folder)[-1] == (35, "end")
    assert value_of(run, "35-a1") == 35


def test_an_interval_that_is_left_open_is_told_with_its_reason(tmp_path: Path, nursery: Nursery) -> None:
    run = make_run(tmp_path, checkpoint=CheckpointPolicy())

    ended, folder = live(run, nursery)

    assert ended.code == 0, ended.log
    told = [line for line in signals(folder) if line["kind"] == "interval"]
    assert len(told) == 1
    assert told[0]["seconds"] > 0
    assert "a save takes" in told[0]["why"] and "is durable after" in told[0]["why"]

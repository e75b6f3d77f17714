"""Two processes on a small disk: room is held for all of a save, and while one waits for room all do."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from lastro.checkpoint import store
from lastro.disk.facts import open_disk
from lastro.disk.reserve import keep_reserve
from lastro.journal.signals import read_beat
from lastro.paths import AttemptFolder, Disk
from lastro.rules import CheckpointPolicy, ExpectedSave
from tests.disk.small import fill, on_a_small_disk
from tests.job.conftest import Ended, Nursery, start_divided_nursery
from tests.job.hand import Run, environment, kinds, make_run, signals
from tests.procs.real import eventually

SCRIPT = Path(__file__).with_name("shards.py")
MIB = 2**20
#: Of 1500 x 1500 weights of 4 bytes, each with two moments: 27 MB, 13.5 of them at each process.
WHOLE, PART = 27_200_000, 13_600_000


def a_run(disk: Disk) -> Run:
    return make_run(disk.campaign("c").root, checkpoint=CheckpointPolicy(every_steps=5, keep=2))


def a_disk(tmp_path: Path) -> Disk:
    disk = Disk(tmp_path / "disk")
    open_disk(disk)
    assert keep_reserve(disk)
    return disk


@contextmanager
def living(
    run: Run, nursery: Nursery, disk: Disk, **wish: Any
) -> Iterator[tuple[AttemptFolder, Future[Ended]]]:
    """Let two processes live, while the block looks at them."""
    folder = run.attempt(**wish.pop("order", {}))
    told = {"batch": 4, "hidden": 1500, "disk": str(disk.root), **wish}
    environ = {**environment(folder), "SHARDS": json.dumps(told)}
    with ThreadPoolExecutor(1) as beside:
        try:
            yield folder, beside.submit(nursery.run, folder, SCRIPT, environ=environ, ranks=2)
        except BaseException:
            for line in [*told_of(folder, "started"), *_of_second(folder)]:  # they would wait for ever
                if line["kind"] == "started":
                    os.kill(line["pid"], signal.SIGKILL)
            raise


def told_of(folder: AttemptFolder, kind: str) -> list[dict[str, Any]]:
    return [line for line in signals(folder) if line["kind"] == kind]


def published(run: Run) -> list[str]:
    return [path.name for path in store.names(run.folder.checkpoints)]


@on_a_small_disk(160 * MIB)
def test_room_for_the_parts_of_all_is_held_before_the_first_step_and_is_there_when_the_disk_is_full(
    tmp_path: Path,
) -> None:
    """Three of 27 MB: two that stay and the one being made. The second process fills the disk at update 3."""
    disk = a_disk(tmp_path)
    run = a_run(disk)
    expected = ExpectedSave(bytes=WHOLE, once=0, why="measured")
    with (
        start_divided_nursery() as nursery,
        living(run, nursery, disk, fill_at=[1, 3], order={"expected_save": expected}) as (folder, life),
    ):
        ended = life.result()

    assert ended.code == 0, ended.log
    assert kinds(folder).index("disk_held") < kinds(folder).index("first_step")
    assert told_of(folder, "disk_held")[0]["bytes"] == 3 * WHOLE
    assert "disk_full" not in kinds(folder)
    assert published(run) == ["16-a1", "15-a1"]
    assert store.verify(run.folder.checkpoints / "16-a1") == ()


@on_a_small_disk(160 * MIB)
def test_while_one_waits_for_room_all_do_and_nothing_is_half_published(tmp_path: Path) -> None:
    """There is room for one checkpoint and a part: the first process has written its own, and waits too."""
    disk = a_disk(tmp_path)
    run = a_run(disk)
    ballast = fill(disk.root, leave=WHOLE + PART + 3_000_000)
    with start_divided_nursery() as nursery:
        with living(run, nursery, disk, second=True) as (folder, life):
            _wait_until_full(folder, "step 10 (process 1)", least=PART - 200_000)
            first = read_beat(folder.heartbeat)
            eventually(lambda: read_beat(folder.heartbeat) != first)  # the supervisor sees that it lives
            assert published(run) == ["5-a1"]
            (second,) = (line["pid"] for line in _of_second(folder) if line["kind"] == "started")
            os.kill(second, signal.SIGTERM)
            ended = life.result(60)
        assert ended.code, "asked to leave, it does, and the other one does not wait for it"
        assert "step 10 (process 1) could not be kept" in ended.log
        assert published(run) == ["5-a1"]

        with living(run, nursery, disk, second=True) as (folder, life):
            _wait_until_full(folder, "step 10 (process 1)", least=PART - 200_000)
            ballast.unlink()
            ended = life.result(60)
        assert ended.code == 0, ended.log
        assert [line["step"] for line in told_of(folder, "restored")] == [5]
        assert kinds(folder).index("disk_room") > kinds(folder).index("disk_full")
        assert published(run) == ["16-a2", "15-a2"]
        assert store.verify(run.folder.checkpoints / "16-a2") == ()


def _wait_until_full(folder: AttemptFolder, what: str, least: int) -> None:
    """Wait until this process says so; the other one may have been short of room before it."""
    (told, *_again) = eventually(lambda: [one for one in told_of(folder, "disk_full") if one["what"] == what])
    assert told["needed"] >= least > told["free"]


def _of_second(folder: AttemptFolder) -> list[dict[str, Any]]:
    return [json.loads(line) for line in folder.rank_signals(1).read_text().splitlines()]


@pytest.mark.long
@on_a_small_disk(160 * MIB)
def test_where_the_first_process_saves_alone_the_others_wait_for_it(tmp_path: Path) -> None:
    disk = a_disk(tmp_path)
    run = a_run(disk)
    ballast = fill(disk.root, leave=WHOLE + 3_000_000)
    with start_divided_nursery() as nursery, living(run, nursery, disk, whole=True) as (folder, life):
        _wait_until_full(folder, "step 10", least=WHOLE - 200_000)
        assert not life.done()
        assert published(run) == ["5-a1"]
        ballast.unlink()
        ended = life.result(60)

    assert ended.code == 0, ended.log
    assert published(run) == ["16-a1", "15-a1"]

"""What a job does with its surroundings is told while it runs: stray results, and another environment."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from lastro.clock import SystemClock
from lastro.disk.facts import open_disk
from lastro.journal.events import EventType
from lastro.journal.streams import StreamWriter, read_stream
from lastro.paths import CampaignFolder, MachineFolder
from lastro.providers.environment import MACHINE, RELEASE
from lastro.rules import Order
from lastro.run.caches import EnvironmentWatch
from lastro.run.seen import Seen
from lastro.run.valuables import FIRST_SECONDS, ValuablesWatch, watched
from tests.disk.guard import planting
from tests.run.jobs import order_for


@pytest.fixture
def stream(tmp_path: Path) -> Iterator[StreamWriter]:
    writer = StreamWriter(tmp_path / "stream.jsonl", SystemClock(), {"campaign": "c"})
    yield writer
    writer.close()


@pytest.fixture
def order(tmp_path: Path) -> Order:
    _folder, made = order_for(tmp_path, "true")
    open_disk(CampaignFolder(Path(made.campaign_folder)).disk)
    return made


def told(tmp_path: Path, kind: EventType) -> list[dict[str, object]]:
    events = read_stream(tmp_path / "stream.jsonl").events
    return [dict(event.facts) for event in events if event.type is kind]


def look(watch: ValuablesWatch, now: float) -> None:
    """Let the watch begin to look, and end."""
    watch.look(Seen(now=now, started=0.0, step=lambda: None, job=os.getpid()))
    thread = watch._thread
    if thread is not None:
        thread.join()
        watch.look(Seen(now=now, started=0.0, step=lambda: None, job=os.getpid()))


def test_what_a_job_writes_beside_itself_is_told_once(
    tmp_path: Path, order: Order, stream: StreamWriter, monkeypatch: pytest.MonkeyPatch
) -> None:
    machine = MachineFolder(tmp_path / "local/machines/local-0123")
    monkeypatch.setenv(MACHINE, "local-0123")
    monkeypatch.setenv(RELEASE, str(machine.release))
    stray = planting.put(machine.work / "out/last.pt", planting.torch_zip())
    watch = ValuablesWatch(order, stream)
    now = time.monotonic()

    look(watch, now)
    assert told(tmp_path, EventType.GUARD_WARNED) == []
    look(watch, now + FIRST_SECONDS + 1)
    look(watch, now + 2000)
    planting.put(machine.work / "more.pt", planting.torch_zip())
    look(watch, now + 4000)

    warned = told(tmp_path, EventType.GUARD_WARNED)
    assert [event["files"] for event in warned] == [1, 2]
    assert warned[0]["what"] == [stray]


def test_where_the_disk_lives_as_long_as_home_nothing_is_looked_at(order: Order) -> None:
    disk = CampaignFolder(Path(order.campaign_folder)).disk
    here = replace(order, workdir=str(disk.root.parent))

    scope = watched(here, disk, 0, {})

    assert scope is None or str(disk.root.parent) not in scope.roots


def test_a_process_of_the_job_that_has_another_cache_is_told_once(
    tmp_path: Path, stream: StreamWriter
) -> None:
    _folder, order = order_for(tmp_path, "true")
    attempt = CampaignFolder(Path(order.campaign_folder)).run(order.run).attempt(1)
    path = {"PATH": os.environ["PATH"]}
    set_otherwise = {"LASTRO_ATTEMPT": str(attempt.root), "HF_HOME": "/somewhere", **path}
    process = subprocess.Popen(
        [sys.executable, "-S", "-c", "input()"], env=set_otherwise, stdin=subprocess.PIPE
    )
    pointed = {"HF_HOME": "/disk/cache/huggingface", **path}
    watch = EnvironmentWatch(attempt, stream, pointed, began=0.0)
    try:
        for now in (1.0, 3.0, 10.0, 60.0):
            watch.look(Seen(now=now, started=0.0, step=lambda: None, job=process.pid))
    finally:
        process.kill()
        process.wait()
        assert process.stdin is not None
        process.stdin.close()

    assert told(tmp_path, EventType.ENVIRONMENT_DIFFERS) == [
        {
            "differences": [
                {"variable": "HF_HOME", "told": pointed["HF_HOME"], "found": "/somewhere"},
            ]
        }
    ]

"""A machine that freezes is told, given up and replaced; when it thaws it finds itself fenced."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from lastro import strictjson
from lastro.checkpoint import store
from lastro.journal.events import EventType
from lastro.journal.signals import read_beat
from lastro.journal.streams import read_stream
from lastro.paths import RunFolder
from lastro.procs.identity import ProcessId, send
from lastro.procs.killtree import end_tree, members
from lastro.providers import environment
from lastro.run.seat import take_seat_away
from tests.flow.campaigns import JOB, SmallCampaign, wait_for
from tests.run.jobs import events_of, kinds_of, order_for, start_supervisor, write_order

SUM_TO_40 = 40 * 41 // 2


def _freeze(machine: str) -> frozenset[ProcessId]:
    """Stop a whole machine, and whatever it starts meanwhile; return what was stopped."""
    frozen: frozenset[ProcessId] = frozenset()
    while fresh := members(environment.marker(machine)).all - frozen:
        for process in fresh:
            send(process, signal.SIGSTOP)
        frozen |= fresh
    return frozen


def test_a_machine_that_freezes_is_told_replaced_and_paid_for(campaign: SmallCampaign) -> None:
    campaign.edit("pace: 0.02", "pace: 0.1")
    campaign.edit("provider: local", "provider: local\nsilence: 3s")
    driver = campaign.start("run")
    beat = wait_for(
        lambda: next(
            (
                path
                for path in campaign.disk.glob("campaigns/small/runs/*/attempts/1/heartbeat")
                if (seen := read_beat(path)) is not None and seen.step >= 12
            ),
            None,
        )
    )
    machine = strictjson.read(beat.parent / "attempt.json")["order"]["machine"]

    host = strictjson.read(campaign.home / "local/machines" / machine / "host.json")["process"]
    send(ProcessId.from_json(host), signal.SIGSTOP)
    _freeze(machine)
    driver.wait(timeout=120)

    result = campaign.json("status")
    first, second = result["runs"][0]["attempts"]
    assert first["end"] == "lost" and "silent" in first["why"]
    assert second["resumed_step"] == first["committed_step"] >= 10
    assert campaign.totals() == {"control": SUM_TO_40, "better": SUM_TO_40}
    assert [one["state"] for one in result["machines"]] == ["gone", "gone"]
    assert len([line for line in result["cost"]["lines"] if line["amount"]]) == 2
    home = next((campaign.disk / "campaigns/small/journal").glob("home-*.jsonl"))
    silent = [event for event in read_stream(home).events if event.type is EventType.MACHINE_SILENT]
    assert [event.facts["machine"] for event in silent] == [machine]


@pytest.fixture
def run(tmp_path: Path) -> Iterator[RunFolder]:
    folder, order = order_for(tmp_path, sys.executable, "job.py", "60", "0.05", "6")
    (tmp_path / "work" / "job.py").write_text(JOB)
    write_order(folder, order)
    yield folder
    end_tree(_marker(folder))


def _marker(folder: RunFolder) -> tuple[str, str]:
    """Return what everything of a test inherits, so that nothing stays frozen when it fails."""
    return ("FROZEN_TEST", str(folder.root))


def _supervise(folder: RunFolder) -> subprocess.Popen[bytes]:
    return start_supervisor(folder, **dict([_marker(folder)]))


def _tree_of(folder: RunFolder, supervisor: subprocess.Popen[bytes]) -> list[int]:
    job = members(("LASTRO_ATTEMPT", str(folder.attempt(1).root))).all
    return [supervisor.pid, *(process.pid for process in job)]


def _replace(folder: RunFolder) -> subprocess.Popen[bytes]:
    """Do what home does with a machine that is silent for too long, and leave it alive."""
    told = strictjson.read(folder.order)
    take_seat_away(folder, "home-1")
    folder.order.write_text(json.dumps({**told, "machine": "m-2", "node": "n-2"}))
    return _supervise(folder)


def _beats(folder: RunFolder, attempt: int, step: int) -> bool:
    beat = read_beat(folder.attempt(attempt).heartbeat)
    return beat is not None and beat.step >= step


def test_a_machine_that_thaws_after_its_replacement_began_is_fenced(run: RunFolder) -> None:
    first = _supervise(run)
    wait_for(lambda: _beats(run, 1, 14))
    frozen = _tree_of(run, first)
    for pid in frozen:
        os.kill(pid, signal.SIGSTOP)

    second = _replace(run)
    wait_for(lambda: _beats(run, 2, 14))
    for pid in frozen:
        os.kill(pid, signal.SIGCONT)

    first.wait(60)
    second.wait(60)
    ends = [
        next(event for event in events_of(run, number) if event.type is EventType.ATTEMPT_ENDED).facts[
            "cause"
        ]
        for number in (1, 2)
    ]
    assert [cause["end"] for cause in ends] == ["fenced", "done"]
    assert EventType.ATTEMPT_RESUMED in kinds_of(run, 2)
    assert json.loads((run.outputs / "total.json").read_text()) == {"total": 60 * 61 // 2}
    assert not [path.name for path in store.names(run.checkpoints) if path.name.endswith("-a1")]


def test_a_thawed_job_whose_supervisor_stays_frozen_ends_itself_at_its_next_publish(run: RunFolder) -> None:
    first = _supervise(run)
    wait_for(lambda: _beats(run, 1, 14))
    frozen = _tree_of(run, first)
    for pid in frozen:
        os.kill(pid, signal.SIGSTOP)
    saved = {path.name for path in run.checkpoints.glob("*-a1")}
    second = _replace(run)
    wait_for(lambda: _beats(run, 2, 14))
    for pid in frozen[1:]:
        os.kill(pid, signal.SIGCONT)

    wait_for(run.attempt(1).exit.exists)
    assert {path.name for path in run.checkpoints.glob("*-a1")} <= saved, "it has published one more"
    assert strictjson.read(run.attempt(1).exit)["code"] == 12
    assert "replaced by a later one" in run.attempt(1).log.read_text()
    os.kill(first.pid, signal.SIGCONT)
    assert [first.wait(60), second.wait(60)] == [0, 0]

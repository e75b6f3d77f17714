"""Two terminals, two providers, two versions of the code: what one campaign does with each."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest

from lastro import atomic
from lastro.journal.signals import read_beat
from lastro.paths import RunFolder
from lastro.procs.identity import send
from lastro.run.seat import read_seat
from tests.flow.campaigns import SmallCampaign, wait_for


def _attempts_at_work(campaign: SmallCampaign) -> list[Path]:
    """Return the folders of the attempts that have done a few steps."""
    beats = campaign.disk.glob("campaigns/small/runs/*/attempts/*/heartbeat")
    return [beat.parent for beat in beats if (seen := read_beat(beat)) is not None and seen.step >= 3]


def _killed_at_work(campaign: SmallCampaign, *arguments: str) -> None:
    """Start a run, and kill the command alone once a job works."""
    driver = campaign.start("run", *arguments)
    wait_for(lambda: _attempts_at_work(campaign))
    os.killpg(driver.pid, signal.SIGKILL)
    driver.wait()


def test_a_stop_is_not_undone_by_a_run_that_only_follows(campaign: SmallCampaign) -> None:
    campaign.edit("steps: 40, pace: 0.02", "steps: 600, pace: 0.1")
    driver = campaign.start("run")
    wait_for(lambda: _attempts_at_work(campaign))
    with (campaign.home / "follower.txt").open("w") as told:
        follower = campaign.start("run", stdout=told)
    wait_for(lambda: "following it" in (campaign.home / "follower.txt").read_text())

    campaign.lastro("stop")
    codes = [driver.wait(timeout=120), follower.wait(timeout=120)]

    status = campaign.json("status")
    assert codes == [11, 11]
    assert [run["status"] for run in status["runs"]] == ["paused", "waiting"]
    assert len(status["runs"][0]["attempts"]) == 1


def _hasten(campaign: SmallCampaign) -> None:
    """Change the code, to one that needs no time."""
    job = campaign.folder / "job.py"
    job.write_text(job.read_text().replace("time.sleep(pace)", "time.sleep(0)"))


def test_the_old_code_has_ended_before_the_new_code_begins(campaign: SmallCampaign) -> None:
    campaign.edit("pace: 0.02", "pace: 0.5")
    _killed_at_work(campaign)
    _hasten(campaign)

    result = campaign.json("run")

    old = next(run for run in result["runs"] if run["status"] == "superseded")
    new = next(run for run in result["runs"] if run["name"] == "control" and run is not old)
    (first,) = old["attempts"]
    assert first["end"] == "asked"
    assert first["committed_step"] == first["last_step"] < 40
    assert first["ended_at"] <= new["attempts"][0]["started_at"]


def test_a_job_whose_supervisor_died_has_ended_before_the_new_code_begins(campaign: SmallCampaign) -> None:
    campaign.edit("pace: 0.02", "pace: 0.5")
    _killed_at_work(campaign)
    (attempt,) = _attempts_at_work(campaign)
    supervisor = read_seat(RunFolder(attempt.parent.parent))
    assert supervisor is not None
    os.kill(supervisor.pid, signal.SIGKILL)
    _hasten(campaign)

    result = campaign.json("run")

    old = next(run for run in result["runs"] if run["status"] == "superseded")
    new = next(run for run in result["runs"] if run["name"] == "control" and run is not old)
    (first,) = old["attempts"]
    assert first["end"] == "asked"
    assert first["committed_step"] == first["last_step"] < 40
    assert first["ended_at"] <= new["attempts"][0]["started_at"]


def test_another_provider_is_refused_while_a_machine_is_rented(campaign: SmallCampaign) -> None:
    campaign.edit("steps: 40", "steps: 200")
    _killed_at_work(campaign)

    refused = campaign.lastro("run", "--on", "here")
    result = campaign.json("run")

    assert refused.returncode == 2
    assert "--on local" in refused.stderr
    assert result["decision"]["verdict"] == "adopt"
    assert result["plan"]["revisions"] == []


def test_a_stop_that_nobody_has_heeded_is_heeded_by_the_next_supervisor(campaign: SmallCampaign) -> None:
    campaign.edit("steps: 40", "steps: 400")
    _killed_at_work(campaign)
    (attempt,) = _attempts_at_work(campaign)
    run = RunFolder(attempt.parent.parent)
    supervisor = read_seat(run)
    assert supervisor is not None and send(supervisor, signal.SIGKILL)
    atomic.write_text(run.stop_request, '{"why": "the card is needed elsewhere"}')

    halted = campaign.lastro("run")
    status = campaign.json("status")

    assert halted.returncode == 11
    assert [life["end"] for life in status["runs"][0]["attempts"]] == ["asked"]
    assert status["runs"][0]["attempts"][0]["last_step"] < 400


def test_a_supervisor_that_cannot_do_its_work_is_not_started_for_ever(campaign: SmallCampaign) -> None:
    campaign.edit("steps: 40", "steps: 4000")
    _killed_at_work(campaign)
    (attempt,) = _attempts_at_work(campaign)
    run = RunFolder(attempt.parent.parent)
    supervisor = read_seat(run)
    assert supervisor is not None and send(supervisor, signal.SIGKILL)
    # Where the supervisor's beat belongs lies a folder: each start adopts the job, and fails right after.
    run.supervisor_beat.unlink()
    run.supervisor_beat.mkdir()

    done = campaign.lastro("run", "--only", "control")

    status = campaign.json("status")
    assert status["runs"][0]["status"] == "failed"
    assert "could not do its work" in done.stdout
    assert [machine["state"] for machine in status["machines"]] == ["gone"]


@pytest.mark.long
def test_a_fault_is_recorded_once_however_often_the_command_is_typed(campaign: SmallCampaign) -> None:
    campaign.edit("steps: 40", "steps: 100")
    (campaign.folder / "faults.yaml").write_text("faults:\n  - {run: control, step: 5}\n")
    driver = campaign.start("run", "--faults", "faults.yaml")
    wait_for(lambda: any(path.name == "2" for path in _attempts_at_work(campaign)))
    os.killpg(driver.pid, signal.SIGKILL)
    driver.wait()

    result = campaign.json("run", "--faults", "faults.yaml")

    assert [fault["index"] for fault in result["faults"]] == [0]

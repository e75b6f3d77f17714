"""`lastro run` from a campaign file to its report, and whatever a terminal can do to it on the way."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
from pathlib import Path

import pytest

from lastro.journal.signals import read_beat
from lastro.procs.killtree import members
from tests.flow.campaigns import SmallCampaign, wait_for

SUM_TO_40 = 40 * 41 // 2


def _control(campaign: SmallCampaign) -> Path | None:
    """Return the folder of the first attempt that has done a few steps."""
    for beat in campaign.disk.glob("campaigns/small/runs/*/attempts/1/heartbeat"):
        seen = read_beat(beat)
        if seen is not None and seen.step >= 3:
            return beat.parent
    return None


def test_a_campaign_runs_to_its_decision(campaign: SmallCampaign) -> None:
    result = campaign.json("run")

    assert result["decision"]["verdict"] == "adopt"
    assert [run["name"] for run in result["runs"]] == ["control", "better"]
    assert all(len(run["attempts"]) == 1 for run in result["runs"])
    assert {item["status"] for item in result["deliverables"]} == {"accepted"}
    assert result["cost"]["total"]["currency"] == "USD"
    assert float(result["cost"]["total"]["amount"]) > 0
    assert result["cost"]["per_accepted"] is None
    assert result["cost"]["reason"]
    assert Path(result["report"]).read_text().startswith("<!doctype html>")
    assert campaign.totals() == {"control": SUM_TO_40, "better": SUM_TO_40}


def test_machines_are_taken_away_and_the_work_goes_on_where_it_was(campaign: SmallCampaign) -> None:
    (campaign.folder / "faults.yaml").write_text(
        "faults:\n  - {run: control, step: 24}\n  - {run: better, step: 15, notice: 5s}\n"
    )

    result = campaign.json("run", "--faults", "faults.yaml")

    assert result["decision"]["verdict"] == "adopt"
    control, better = result["runs"]
    assert control["attempts"][0]["end"] == "lost"
    lost = control["attempts"][0]
    assert lost["last_step"] >= 24
    assert lost["lost_steps"] == lost["last_step"] - lost["committed_step"]
    assert control["attempts"][1]["resumed_step"] == control["attempts"][0]["committed_step"]
    assert better["attempts"][0]["end"] == "notice"
    assert better["attempts"][0]["lost_steps"] == 0
    assert len(result["machines"]) == 3
    assert len(result["faults"]) == 2
    assert campaign.totals() == {"control": SUM_TO_40, "better": SUM_TO_40}


def test_a_fault_that_never_fires_fails_the_command(campaign: SmallCampaign) -> None:
    (campaign.folder / "faults.yaml").write_text("faults:\n  - {run: control, step: 4000}\n")

    done = campaign.lastro("run", "--faults", "faults.yaml")
    again = campaign.lastro("run", "--faults", "faults.yaml")

    assert [done.returncode, again.returncode] == [11, 11]
    assert "control at step 4000" in done.stderr
    assert "control at step 4000" in again.stderr


def test_faults_are_refused_where_machines_are_real(campaign: SmallCampaign) -> None:
    (campaign.folder / "faults.yaml").write_text("faults:\n  - {run: control, step: 4}\n")

    done = campaign.lastro("run", "--on", "here", "--faults", "faults.yaml")

    assert done.returncode == 2
    assert "--on local" in done.stderr


def test_a_closed_campaign_prints_its_result_again_with_the_same_code(campaign: SmallCampaign) -> None:
    first = campaign.json("run")

    again = campaign.lastro("run")

    assert again.returncode == first["exit_code"] == 0
    assert "closed" in again.stdout
    assert campaign.json("run")["decision"] == first["decision"]


def test_killing_the_whole_session_of_run_stops_nothing_and_the_next_call_finds_the_same_process(
    campaign: SmallCampaign,
) -> None:
    campaign.edit("pace: 0.02", "pace: 0.1")
    first = campaign.start("run")
    attempt = wait_for(lambda: _control(campaign))
    os.killpg(first.pid, signal.SIGKILL)
    first.wait()
    step = read_beat(attempt / "heartbeat").step  # type: ignore[union-attr]

    status = campaign.json("status")
    wait_for(lambda: read_beat(attempt / "heartbeat").step > step)  # type: ignore[union-attr]
    logs = campaign.lastro("logs")
    result = campaign.json("run")

    assert status["runs"][0]["status"] == "running"
    assert status["now"][0]["step"] >= 3
    process = status["runs"][0]["attempts"][0]["process"]
    assert result["runs"][0]["attempts"][0]["process"] == process
    assert status["now"][0]["pid"] == process["pid"]
    assert "step 3" in logs.stdout
    assert [life["number"] for life in result["runs"][0]["attempts"]] == [1]
    assert result["decision"]["verdict"] == "adopt"
    assert campaign.totals() == {"control": SUM_TO_40, "better": SUM_TO_40}


def test_two_runs_started_at_once_give_one_attempt_each_and_both_tell_the_result(
    campaign: SmallCampaign,
) -> None:
    both = [campaign.start("run"), campaign.start("run")]
    codes = [process.wait(timeout=120) for process in both]

    result = campaign.json("status")

    assert codes == [0, 0]
    assert [len(run["attempts"]) for run in result["runs"]] == [1, 1]
    assert len(result["machines"]) == 1


def test_a_campaign_goes_on_when_nobody_reads_what_it_tells(campaign: SmallCampaign) -> None:
    """As in `lastro run | head -1`."""
    driver = campaign.start("run", stdout=subprocess.PIPE)
    assert driver.stdout is not None
    driver.stdout.readline()
    driver.stdout.close()

    code = driver.wait(timeout=90)
    status = campaign.json("status")

    assert code == 0
    assert status["closed_at"] is not None
    assert status["decision"]["verdict"] == "adopt"


def test_stop_saves_and_run_goes_on(campaign: SmallCampaign) -> None:
    # Slow enough not to be over before the command that stops it has started, on a box as busy as it may be.
    campaign.edit("pace: 0.02", "pace: 0.3")
    campaign.edit("{score: 8}", "{score: 8, pace: 0.02}")
    driver = campaign.start("run")
    wait_for(lambda: _control(campaign))

    stopped = campaign.json("stop")
    code = driver.wait(timeout=120)
    paused = campaign.json("status")
    result = campaign.json("run")

    assert [(run["status"], run["damage"]) for run in stopped["stopped"]] == [("paused", [])]
    assert stopped["stopped"][0]["saved_step"] > 0
    assert code == 11
    first = paused["runs"][0]["attempts"][0]
    assert first["end"] == "asked"
    assert first["committed_step"] == first["last_step"] > 0
    assert all(machine["state"] == "gone" for machine in paused["machines"])
    assert result["runs"][0]["attempts"][1]["resumed_step"] == first["committed_step"]
    assert campaign.totals() == {"control": SUM_TO_40, "better": SUM_TO_40}


def test_a_second_campaign_of_the_same_name_on_the_same_disk_is_refused(campaign: SmallCampaign) -> None:
    campaign.lastro("plan", "--freeze")
    other = SmallCampaign(campaign.folder.parent / "other", campaign.home)
    shutil.copytree(campaign.folder, other.folder, ignore=shutil.ignore_patterns("disk"))

    refused = other.lastro("run", "--disk", str(campaign.disk))

    assert refused.returncode == 2
    assert str(campaign.folder / "campaign.yaml") in refused.stderr


def test_a_run_that_failed_fails_the_command_that_asked_for_it_alone(campaign: SmallCampaign) -> None:
    (campaign.folder / "job.py").write_text("raise SystemExit('no data here')\n")

    assert campaign.lastro("run", "--only", "better").returncode == 1


def test_nothing_of_a_machine_is_alive_after_the_campaign(campaign: SmallCampaign) -> None:
    result = campaign.json("run")

    for machine in result["machines"]:
        assert not members(("LASTRO_MACHINE", machine["id"])).all
        scratch = campaign.home / "local/machines" / machine["id"] / "scratch"
        assert not scratch.exists() or not any(scratch.iterdir())


def test_here_runs_in_the_own_folder_and_wipes_nothing(campaign: SmallCampaign) -> None:
    result = campaign.json("run", "--on", "here")

    assert result["decision"]["verdict"] == "adopt"
    assert result["cost"]["total"] is None
    assert result["cost"]["reason"]
    assert (campaign.folder / "job.py").exists()
    assert campaign.totals() == {"control": SUM_TO_40, "better": SUM_TO_40}


def test_changed_code_is_a_new_run_beside_the_old_one(campaign: SmallCampaign) -> None:
    campaign.edit("pace: 0.02", "pace: 0.1")
    driver = campaign.start("run")
    wait_for(lambda: _control(campaign))
    campaign.lastro("stop")
    driver.wait(timeout=120)
    with (campaign.folder / "job.py").open("a") as job:
        job.write("# a correction\n")

    result = campaign.json("run")

    old = [run for run in result["runs"] if run["status"] == "superseded"]
    assert [run["name"] for run in old] == ["control"]
    assert len(old[0]["attempts"]) == 1
    assert result["plan"]["revisions"][0]["why"] == "the code changed: job.py is different"
    assert result["decision"]["verdict"] == "adopt"


@pytest.mark.long
def test_output_that_is_sent_to_a_file_beside_the_code_is_no_change_of_it(campaign: SmallCampaign) -> None:
    with (campaign.folder / "out.txt").open("w") as out:
        first = campaign.start("run", "--no-close", stdout=out)
        code = first.wait(timeout=120)

    result = campaign.json("run")

    assert code == 0
    assert "attempt 1" in (campaign.folder / "out.txt").read_text()
    assert result["plan"]["revisions"] == []
    assert [len(run["attempts"]) for run in result["runs"]] == [1, 1]


def test_changed_rules_need_a_reason(campaign: SmallCampaign) -> None:
    campaign.lastro("plan", "--freeze")
    campaign.edit("+0.1 over control", "+0.3 over control")

    refused = campaign.lastro("run")
    revised = campaign.json("run", "--revise", "a tenth is within the noise")

    assert refused.returncode == 2
    assert "decision" in refused.stderr
    assert "--revise" in refused.stderr
    assert revised["decision"]["verdict"] == "keep_control"
    assert revised["plan"]["revisions"][0]["why"] == "a tenth is within the noise"


def test_a_run_that_a_rule_stops_is_kept_as_cost_and_never_accepted(campaign: SmallCampaign) -> None:
    text = (campaign.folder / "job.py").read_text()
    (campaign.folder / "job.py").write_text(
        text.replace("loss=1.0 / step", "loss=float('nan') if step == 25 and score == '8' else 1.0 / step")
    )

    done = campaign.lastro("run", "--json")

    result = json.loads(done.stdout)
    better = result["runs"][1]
    assert better["status"] == "stopped"
    assert "loss is nan at step 25" in better["why"]
    assert better["attempts"][0]["committed_step"] == 20
    assert [item["status"] for item in result["deliverables"] if item["run"] == better["id"]] == ["missing"]
    assert result["decision"]["verdict"] == "stopped"
    assert done.returncode == 6


def test_a_job_that_cannot_start_ends_the_campaign_with_its_cause(campaign: SmallCampaign) -> None:
    (campaign.folder / "job.py").write_text("raise SystemExit('no data here')\n")

    done = campaign.lastro("run")

    assert done.returncode == 11
    assert "exit code 1" in done.stdout

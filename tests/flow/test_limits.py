"""Limits with nobody at home: the machine goes by itself, and the next `lastro run` says why."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest

from lastro.clock import SystemClock
from lastro.journal.signals import read_beat
from lastro.paths import Home, RunFolder
from lastro.procs.killtree import members
from lastro.providers.base import MachineState
from lastro.providers.local import Local
from lastro.run.seat import read_seat
from tests.flow.campaigns import SmallCampaign, wait_for


def home_is_killed_at_work(campaign: SmallCampaign) -> None:
    """Start a run, and kill the command once a job has done a few steps."""
    driver = campaign.start("run")
    beats = campaign.disk.glob
    wait_for(
        lambda: any(
            (beat := read_beat(path)) is not None and beat.step >= 3
            for path in beats("campaigns/small/runs/*/attempts/*/heartbeat")
        )
    )
    os.killpg(driver.pid, signal.SIGKILL)
    driver.wait()


def the_machine_goes(campaign: SmallCampaign) -> str:
    """Return why the machine ended, asked of the provider alone: nothing of lastro at home is alive."""
    local = Local(Home(campaign.home), SystemClock())
    (machine,) = local.machines()
    gone = wait_for(lambda: (now := local.describe(machine.id)).state is MachineState.GONE and now)
    assert not members(("LASTRO_MACHINE", machine.id)).all
    return str(gone.cause)


def stuck(campaign: SmallCampaign) -> None:
    """Make the control's first attempt do nothing at all from its twentieth step on."""
    job = campaign.folder / "job.py"
    text = job.read_text()
    assert "    time.sleep(pace)\n" in text
    waits = "time.sleep(600 if (step, done, score) == (20, 0, '6') else pace)"
    job.write_text(text.replace("time.sleep(pace)", waits))


def test_an_idle_machine_lets_itself_go_and_the_run_goes_on_when_it_is_asked_to(
    campaign: SmallCampaign,
) -> None:
    campaign.edit("budget: 5 USD", "budget: 5 USD\nidle: 3s")
    stuck(campaign)
    home_is_killed_at_work(campaign)

    cause = the_machine_goes(campaign)
    status = campaign.json("status")
    result = campaign.json("run")

    assert cause == "released by its supervisor: idle"
    assert status["runs"][0]["status"] == "paused"
    assert "idle" in status["runs"][0]["why"]
    first, second = result["runs"][0]["attempts"]
    assert first["end"] == "limit"
    assert second["resumed_step"] == first["committed_step"] > 0
    assert result["decision"]["verdict"] == "adopt"


def test_a_machine_on_which_everything_has_ended_lets_itself_go_when_home_is_dead(
    campaign: SmallCampaign,
) -> None:
    campaign.edit("budget: 5 USD", "budget: 5 USD\nidle: 5s")
    home_is_killed_at_work(campaign)
    wait_for(lambda: campaign.json("status")["runs"][0]["status"] == "completed")

    waiting, told = campaign.json("status"), campaign.lastro("status").stdout
    cause = the_machine_goes(campaign)
    result = campaign.json("run")

    assert waiting["unattended"] == [waiting["machines"][0]["id"]]
    assert "lets itself go 5.0 s after its last run has ended" in told.replace("\n", " ")
    assert cause == "released by its supervisor: everything has ended, and home is silent"
    assert result["runs"][0]["status"] == "completed"
    assert [machine["state"] for machine in result["machines"]] == ["gone", "gone"]


def test_a_machine_on_which_nothing_was_started_lets_itself_go_when_home_is_dead(
    campaign: SmallCampaign,
) -> None:
    offers = campaign.folder / "offers.yaml"
    offers.write_text(offers.read_text().replace("boot: 0s", "boot: 2s"))
    campaign.edit("budget: 5 USD", "budget: 5 USD\nidle: 2s")
    driver = campaign.start("run")
    wait_for(lambda: list(Home(campaign.home).local_machines.glob("*/host.json")))
    os.killpg(driver.pid, signal.SIGKILL)
    driver.wait()

    cause = the_machine_goes(campaign)
    result = campaign.json("run")

    assert cause == "nothing runs on it, and home is silent"
    assert result["decision"]["verdict"] == "adopt"
    assert [machine["state"] for machine in result["machines"]] == ["gone", "gone"]


def test_a_machine_whose_supervisor_was_killed_lets_itself_go_when_its_job_has_ended(
    campaign: SmallCampaign,
) -> None:
    campaign.edit("budget: 5 USD", "budget: 5 USD\nidle: 2s")
    home_is_killed_at_work(campaign)
    seats = [read_seat(RunFolder(run)) for run in campaign.disk.glob("campaigns/small/runs/*")]
    (supervisor,) = filter(None, seats)
    os.kill(supervisor.pid, signal.SIGKILL)

    cause = the_machine_goes(campaign)
    result = campaign.json("run")

    assert cause == "nothing runs on it, and home is silent"
    assert [len(run["attempts"]) for run in result["runs"]] == [2, 1]
    assert result["decision"]["verdict"] == "adopt"


@pytest.mark.long
def test_a_budget_lets_the_machine_go_and_needs_a_larger_one_to_go_on(campaign: SmallCampaign) -> None:
    """0.36 USD an hour are 0.0001 a second: 0.0060 USD last a minute."""
    offers = campaign.folder / "offers.yaml"
    offers.write_text(offers.read_text().replace("1.00 USD, unit: 1min", "0.36 USD, unit: 1s"))
    campaign.edit("budget: 5 USD", "budget: 0.0060 USD")
    campaign.edit("pace: 0.02", "pace: 3")
    home_is_killed_at_work(campaign)

    cause = the_machine_goes(campaign)
    halted = campaign.json("run")
    campaign.edit("budget: 0.0060 USD", "budget: 5 USD")
    campaign.edit("pace: 3", "pace: 0.02")
    revised = campaign.lastro("run", "--revise", "it is worth more")

    assert cause == "released by its supervisor: budget"
    assert halted["exit_code"] == 11
    assert float(halted["cost"]["total"]["amount"]) <= 0.0060
    assert "budget" in halted["halted"]
    assert revised.returncode == 0


def test_a_window_that_is_over_starts_nothing(campaign: SmallCampaign) -> None:
    campaign.edit("window: 1h", "window: 20s")

    done = campaign.lastro("run")

    assert done.returncode == 11
    assert "deadline" in done.stdout
    assert "was taken from" not in done.stdout


def test_a_refused_machine_is_asked_for_again(campaign: SmallCampaign) -> None:
    (campaign.folder / "faults.yaml").write_text(
        "faults:\n  - {create: 1}\n  - {create: 2}\n  - {run: control, step: 15}\n"
    )

    done = campaign.lastro("run", "--faults", "faults.yaml")
    result = campaign.json("status")

    assert done.returncode == 0
    assert "number 2; asked again in 2.0 s" in done.stdout
    assert [machine["id"] is None for machine in result["machines"]] == [True, True, False, False]
    assert len([line for line in result["cost"]["lines"] if line["amount"]]) == 2


def test_stop_with_release_lets_the_machine_go_without_a_living_run(campaign: SmallCampaign) -> None:
    campaign.edit("steps: 40", "steps: 400")
    home_is_killed_at_work(campaign)

    kept = campaign.lastro("stop")
    status = campaign.json("status")
    released = campaign.json("stop", "--release")
    after = campaign.json("status")

    assert "stays rented, for 1.00 USD an hour" in kept.stdout
    assert status["cost"]["per_hour"] == {"amount": "1.00", "currency": "USD"}
    assert released["released"] == [after["machines"][0]["id"]]
    assert after["machines"][0]["state"] == "gone"
    assert not members(("LASTRO_MACHINE", after["machines"][0]["id"])).all
    assert after["cost"]["per_hour"] is None


def test_stop_with_release_leaves_a_machine_on_which_another_run_is_alive(campaign: SmallCampaign) -> None:
    campaign.edit("steps: 40", "steps: 4000")
    campaign.edit("disk: ./disk", "disk: ./disk\nmachines: 2")
    driver = campaign.start("run")
    beats = campaign.disk.glob
    wait_for(lambda: len(list(beats("campaigns/small/runs/*/attempts/1/heartbeat"))) == 2)
    os.killpg(driver.pid, signal.SIGKILL)
    driver.wait()

    result = campaign.json("stop", "control", "--release")

    assert result["released"] == []
    assert len(result["still_rented"]) == 2


def test_a_lease_bought_by_hand_is_what_here_costs(campaign: SmallCampaign) -> None:
    campaign.edit("budget: 5 USD", "budget: 60 USD")
    added = campaign.json(
        "lease", "add", "--order", "4711", "--price", "47.14 USD", "--until", "2999-12-03T12:00Z"
    )

    result = campaign.json("run", "--on", "here")
    order = next(Path(campaign.disk).glob("campaigns/small/runs/*/order.json")).read_text()

    assert added["lease"]["until"] == "2999-12-03T12:00:00.000000Z"
    assert result["cost"]["total"] == {"amount": "47.14", "currency": "USD"}
    assert [line["what"] for line in result["cost"]["lines"]] == ["lease 4711"]
    assert '"lease_end_at": "2999-12-03T12:00:00.000000Z"' in order
    assert campaign.json("lease")["leases"] == [added["lease"]]
    assert campaign.lastro("journal", "verify").returncode == 0


def test_a_lease_that_is_over_is_refused(campaign: SmallCampaign) -> None:
    done = campaign.lastro("lease", "add", "--order", "1", "--price", "5 USD", "--until", "2026-01-01T00:00Z")

    assert done.returncode == 2
    assert "is over" in done.stderr

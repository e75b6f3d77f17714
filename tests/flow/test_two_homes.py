"""Two homes and one campaign on one disk: one drives, the other reads, until it is told to take over."""

from __future__ import annotations

import json
import os
import signal
from dataclasses import replace
from pathlib import Path

import pytest

from lastro import strictjson
from lastro.clock import SystemClock
from lastro.journal.events import EventType
from lastro.journal.signals import read_beat
from lastro.journal.streams import read_stream
from lastro.paths import Home
from lastro.procs.killtree import members
from lastro.providers.base import MachineState
from lastro.providers.local import Local
from tests.flow.campaigns import SmallCampaign, wait_for
from tests.flow.elsewhere import Elsewhere

SUM_TO_40 = 40 * 41 // 2


@pytest.fixture
def other(campaign: SmallCampaign, tmp_path: Path) -> SmallCampaign:
    """Return the same campaign and disk, seen from another home."""
    return replace(campaign, home=tmp_path / "other-home")


def _steps(campaign: SmallCampaign) -> bool:
    beats = [read_beat(path) for path in campaign.disk.glob("campaigns/small/runs/*/attempts/1/heartbeat")]
    return any(beat is not None and beat.step >= 3 for beat in beats)


def test_a_second_home_only_reads(campaign: SmallCampaign, other: SmallCampaign) -> None:
    assert campaign.lastro("run", "--no-close").returncode == 0
    before = sorted(path for path in campaign.disk.rglob("*"))

    refused = other.lastro("run")
    others = [
        other.lastro(*words)
        for words in (
            ("close",),
            ("plan", "--freeze"),
            ("stop",),
            ("lease", "add", "--order", "1", "--price", "1 USD", "--until", "2999-01-01"),
        )
    ]
    status = other.json("status")

    assert [done.returncode for done in (refused, *others)] == [12] * 5
    assert "owned by another home: home-" in refused.stderr
    assert "--take-over" in refused.stderr
    assert [run["status"] for run in status["runs"]] == ["completed", "completed"]
    assert sorted(path for path in campaign.disk.rglob("*")) == before


def test_a_home_that_takes_over_goes_on_with_what_runs_and_the_first_one_leaves(
    campaign: SmallCampaign, other: SmallCampaign
) -> None:
    campaign.edit("pace: 0.02", "pace: 0.1")
    first = campaign.start("run")
    wait_for(lambda: _steps(campaign))

    done = other.lastro("run", "--take-over", "--json")

    assert done.returncode == 0, done.stdout + done.stderr
    result = json.loads(done.stdout)
    assert first.wait(timeout=120) == 12
    assert result["decision"]["verdict"] == "adopt"
    assert [len(run["attempts"]) for run in result["runs"]] == [1, 1]
    assert campaign.totals() == {"control": SUM_TO_40, "better": SUM_TO_40}
    # The machine of the first home is one of this box: it was taken over, used, and let go.
    assert [machine["state"] for machine in result["machines"]] == ["gone"]
    number = strictjson.read(campaign.disk / "campaigns/small/owners/2.json")
    stream = campaign.disk / "campaigns/small/journal" / f"{number['home']}.jsonl"
    took = [event for event in read_stream(stream).events if event.type is EventType.HOME_TOOK_OVER]
    assert [event.facts["number"] for event in took] == [2]
    # The result is everybody's to read.
    assert campaign.json("status")["decision"] == campaign.json("run")["decision"] == result["decision"]


def killed(campaign: SmallCampaign) -> None:
    """Have the home that drives a campaign die while a run of it works."""
    first = campaign.start("run")
    wait_for(lambda: _steps(campaign))
    os.killpg(first.pid, signal.SIGKILL)
    first.wait()


@pytest.mark.long
def test_a_home_that_was_replaced_still_lets_its_own_machine_go(
    campaign: SmallCampaign, tmp_path: Path
) -> None:
    """The other home is on another computer, which cannot ask for a process of this one."""
    campaign.edit("pace: 0.02", "pace: 0.1")
    other = Elsewhere(campaign.folder, tmp_path / "other-home")
    killed(campaign)
    done = other.lastro("run", "--take-over", "--no-close")
    assert done.returncode == 0, done.stderr
    (mine,) = Local(Home(campaign.home), SystemClock()).machines()
    assert mine.state is MachineState.RUNNING

    released = campaign.json("stop", "--release")
    status = other.json("status")

    assert released["released"] == [mine.id]
    assert [machine["state"] for machine in status["machines"] if machine["id"] == mine.id] == ["gone"]


def test_a_home_that_knew_nothing_of_a_campaign_ends_what_another_one_has_left(
    campaign: SmallCampaign, other: SmallCampaign
) -> None:
    campaign.edit("steps: 40, pace: 0.02", "steps: 4000, pace: 0.05")
    killed(campaign)
    (left,) = Local(Home(campaign.home), SystemClock()).machines()
    refused = other.lastro("close")

    done = other.lastro("close", "--take-over", "--json")

    assert refused.returncode == 2 and "no campaign was started from" in refused.stderr
    result = json.loads(done.stdout)
    assert result["decision"]["verdict"] == "undecided", done.stderr
    assert [(one["id"], one["state"]) for one in result["machines"]] == [(left.id, "gone")]
    assert result["runs"][0]["status"] == "paused" and result["runs"][0]["attempts"][0]["committed_step"]
    assert not members(("LASTRO_MACHINE", left.id)).all
    assert Local(Home(campaign.home), SystemClock()).describe(left.id).state is MachineState.GONE
    assert campaign.lastro("run").returncode == done.returncode  # it is closed, for whoever asks
    assert other.lastro("journal", "verify").returncode == 0


def test_what_cannot_be_asked_from_another_computer_is_told_and_not_called_gone(
    campaign: SmallCampaign, tmp_path: Path
) -> None:
    campaign.edit("steps: 40, pace: 0.02", "steps: 4000, pace: 0.05")
    campaign.edit("provider: local", "provider: local\nsilence: 10s")
    other = Elsewhere(campaign.folder, tmp_path / "other-home")
    killed(campaign)

    done = other.lastro("close", "--take-over", "--json")
    status = other.json("status")

    assert [one["state"] for one in json.loads(done.stdout)["machines"]] == ["ready"], done.stderr
    assert "unknown, may bill" in done.stderr and "until 'local' says that it is gone" in done.stderr
    assert [one["state"] for one in status["machines"]] == ["ready"]


def test_a_home_that_was_killed_is_replaced_by_one_that_takes_over_and_can_take_back(
    campaign: SmallCampaign, other: SmallCampaign
) -> None:
    campaign.edit("pace: 0.02", "pace: 0.1")
    killed(campaign)

    assert other.lastro("run").returncode == 12
    assert other.lastro("run", "--take-over", "--only", "better").returncode == 0
    refused = campaign.lastro("run")
    assert refused.returncode == 12, refused.stderr
    result = campaign.json("run", "--take-over")

    assert result["decision"]["verdict"] == "adopt", result
    assert [len(run["attempts"]) for run in result["runs"]] == [1, 1]
    owners = sorted(path.name for path in (campaign.disk / "campaigns/small/owners").iterdir())
    assert owners == ["1.json", "2.json", "3.json"]

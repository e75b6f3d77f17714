"""A pilot ends, a person decides, and it goes on: real machines of the local provider, jobs of seconds."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Callable, Sequence
from typing import Any

import pytest

from lastro.clock import SystemClock
from lastro.paths import Home
from lastro.providers.local import Local
from tests.flow.campaigns import SmallCampaign, wait_for

SUM_TO_40 = 40 * 41 // 2
#: The whole is declared as 10.08 s, so the pilot is half of it: 5.04 s. Forty steps of 0.25 s take 10 s.
STAGES = """\
stages:
  pilot: {run: control, gpu: 1, part: 50 %, decide: true}
  train: {each: run, gpu: 1, hours: 0.0028, steps: 40}
checkpoint:"""


@pytest.fixture
def piloted(campaign: SmallCampaign) -> SmallCampaign:
    """Give a campaign whose control is piloted, and whose useful variant takes no time."""
    campaign.edit("pace: 0.02", "pace: 0.25")
    campaign.edit(
        "{changes: {score: 8}, priority: required}", "{changes: {score: 8, pace: 0.01}, priority: useful}"
    )
    campaign.edit("checkpoint:", STAGES)
    return campaign


def home_events(campaign: SmallCampaign) -> Sequence[dict[str, Any]]:
    lines = [
        line
        for path in campaign.home.glob("campaigns/*/journal/home-*.jsonl")
        for line in path.read_text().splitlines(keepends=True)
    ]
    return [json.loads(line) for line in lines if line.endswith("\n")]


def types_of(campaign: SmallCampaign) -> list[str]:
    return [event["type"] for event in home_events(campaign)]


def kill_home_once(campaign: SmallCampaign, condition: Callable[[], bool]) -> None:
    """Start `lastro run`, and kill it as soon as this holds."""
    driver = campaign.start("run")
    wait_for(condition)
    os.killpg(driver.pid, signal.SIGKILL)
    driver.wait()


def test_a_pilot_ends_a_person_decides_and_the_run_goes_on_from_its_checkpoint(
    piloted: SmallCampaign,
) -> None:
    first = piloted.json("run")
    before = len(home_events(piloted))
    again = piloted.lastro("run")
    after = types_of(piloted)[before:]
    shown = piloted.lastro("status")
    decided = piloted.json("decide", "continue", "--why", "it falls as it should")
    last = piloted.json("run")
    late = piloted.json("decide", "continue", "--why", "once more")

    control = first["runs"][0]
    measured = first["waiting"]["measured"]["runs"][0]
    assert (first["exit_code"], again.returncode) == (11, 11)
    assert first["state"] == "waiting"
    assert [run["status"] for run in first["runs"]] == ["paused", "waiting"]
    assert control["attempts"][0]["end"] == "limit"
    assert "the pilot is over" in control["attempts"][0]["why"]
    assert measured["planned_hours"] == pytest.approx(0.0014)
    assert measured["worked_hours"] >= 0.0014
    assert measured["committed_step"] == control["steps"] > 0
    assert measured["whole_hours"] > measured["worked_hours"]
    assert first["waiting"]["estimates"][0]["count"] == 1
    assert first["waiting"]["updated"]["total_hours"] != first["waiting"]["planned"]["total_hours"]
    assert [machine["state"] for machine in first["machines"]] == ["gone"]
    assert not {"machine.intended", "run.dispatched", "decision.awaited"} & set(after)
    assert "lastro decide continue" in again.stdout
    assert "A person decides after pilot" in shown.stdout
    assert decided["left_out"] == []
    assert last["exit_code"] == 0
    one, two = last["runs"][0]["attempts"]
    assert (last["runs"][0]["id"], one["lost_steps"]) == (control["id"], 0)
    assert two["resumed_step"] == one["committed_step"]
    assert piloted.totals() == {"control": SUM_TO_40, "better": SUM_TO_40}
    assert last["plan"]["decisions"][0]["why"] == "it falls as it should"
    assert late["exit_code"] == 2
    assert piloted.lastro("journal", "verify").returncode == 0


@pytest.mark.long
def test_reduced_the_useful_run_is_left_out_and_named_also_when_home_is_killed_in_between(
    piloted: SmallCampaign,
) -> None:
    kill_home_once(piloted, lambda: "decision.awaited" in types_of(piloted))

    early = piloted.json("decide", "continue", "--why", "first thought")
    changed = piloted.json("decide", "reduce", "--why", "the window is too small")
    assert changed["exit_code"] == 0, changed
    kill_home_once(piloted, lambda: "plan.revised" in types_of(piloted))
    refused = piloted.lastro("decide", "continue", "--why", "too late")
    last = piloted.lastro("run")
    result = piloted.json("status")

    assert (early["before"], changed["before"]) == (None, "continue")
    assert changed["left_out"] == ["better"]
    assert refused.returncode == 2
    assert last.returncode == 11  # one run alone decides nothing
    assert "left out by the reduced protocol: better" in last.stdout
    assert [run["name"] for run in result["runs"]] == ["control"]
    assert result["runs"][0]["status"] == "completed"
    assert result["plan"]["left_out"] == ["better"]
    assert result["plan"]["revisions"][0]["why"] == "the window is too small"
    assert types_of(piloted).count("plan.revised") == types_of(piloted).count("decision.awaited") == 1
    (total,) = piloted.disk.glob("campaigns/small/runs/*/outputs/total.json")
    assert json.loads(total.read_text()) == {"total": SUM_TO_40}


@pytest.mark.long
def test_a_pilot_ends_with_home_dead_and_can_be_revised_before_home_was_there_again(
    piloted: SmallCampaign,
) -> None:
    # That the run was dispatched says only what home is about to do; here its supervisor goes on by itself.
    kill_home_once(piloted, lambda: any(piloted.disk.glob("campaigns/small/runs/*/attempts/1/heartbeat")))
    local = Local(Home(piloted.home), SystemClock())
    (machine,) = local.machines()
    gone = wait_for(lambda: (now := local.describe(machine.id)).cause and now)

    without = piloted.lastro("decide", "revise")
    revised = piloted.json("decide", "revise", "--why", "the pace was wrong")
    waits = piloted.lastro("run")
    piloted.edit("pace: 0.25", "pace: 0.01")
    still = piloted.lastro("run")
    frozen = piloted.lastro("plan", "--freeze", "--revise", "a faster pace")
    last = piloted.json("run")

    assert gone.cause == "released by its supervisor: pilot"
    assert (without.returncode, revised["exit_code"]) == (2, 0)
    assert "--why" in without.stderr
    assert (waits.returncode, still.returncode) == (11, 11)
    assert "plan --freeze --revise" in waits.stdout
    assert frozen.returncode == 0
    assert last["decision"]["verdict"] == "adopt"
    assert sorted(run["status"] for run in last["runs"]) == ["completed", "completed", "superseded"]


def test_nothing_is_decided_where_nothing_is_awaited(campaign: SmallCampaign) -> None:
    campaign.edit("steps: 40", "steps: 3")
    unknown = campaign.lastro("decide", "continue", "--why", "x")
    campaign.json("run", "--no-close")

    early = campaign.lastro("decide", "continue", "--why", "x")

    assert [unknown.returncode, early.returncode] == [2, 2]
    assert "nothing waits for a decision" in early.stderr
    assert "`decide: true`" in early.stderr


def test_a_person_decides_before_anything_is_rented_where_the_first_stage_asks_for_it(
    campaign: SmallCampaign,
) -> None:
    stages = "stages:\n  review: {person: 10min, decide: true}\n  train: {each: run, gpu: 1, hours: 0.01}\n"
    campaign.edit("checkpoint:", f"{stages}checkpoint:")
    campaign.edit("pace: 0.02", "pace: 0")

    waits = campaign.json("run")
    campaign.json("decide", "continue", "--why", "reviewed")
    done = campaign.json("run")

    assert (waits["exit_code"], waits["machines"]) == (11, [])
    assert done["decision"]["verdict"] == "adopt"

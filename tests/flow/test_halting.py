"""`lastro stop` while nothing is alive, but a `lastro run` lives that would start the next run."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from lastro.flow import policy
from lastro.flow.halting import HaltRequest
from lastro.journal.events import EventType as E
from lastro.journal.streams import read_stream
from tests.flow.campaigns import SmallCampaign, wait_for
from tests.flow.test_policy_money import plan_of, situation
from tests.view.story import Story, planned

HALT = HaltRequest(token="t", why="the card is needed", only=None)


def _home_events(campaign: SmallCampaign, *kinds: E) -> list[str]:
    (stream,) = Path(campaign.disk / "campaigns/small/journal").glob("home-*.jsonl")
    return [event.type.value for event in read_stream(stream).events if event.type in kinds]


def test_a_stop_while_nothing_is_alive_ends_the_command_that_would_start_the_next_run(
    campaign: SmallCampaign,
) -> None:
    refusals = "".join(f"  - {{create: {number}}}\n" for number in range(1, 7))
    (campaign.folder / "faults.yaml").write_text(f"faults:\n{refusals}")
    told = campaign.home.parent / "told.txt"
    with told.open("w") as output:
        driver = campaign.start("run", "--faults", "faults.yaml", stdout=output)
    wait_for(lambda: "asked again in 2.0 s" in told.read_text())

    stopped = campaign.lastro("stop", "--why", "the card is needed")
    code = driver.wait(timeout=60)
    status = campaign.json("status")
    result = campaign.json("run")

    assert stopped.returncode == 0
    assert "nothing is started any more; `lastro run` goes on" in stopped.stdout
    assert code == 11
    assert "halted: stopped on request: the card is needed" in told.read_text()
    assert "was taken from" not in told.read_text()
    assert "stopped on request: the card is needed" in status["decision"]["why"]
    assert [run["status"] for run in status["runs"]] == ["waiting", "waiting"]
    assert result["decision"]["verdict"] == "adopt"
    changes = _home_events(campaign, E.CAMPAIGN_HALTED, E.CAMPAIGN_RESUMED)
    assert changes == ["campaign.halted", "campaign.resumed"]


@pytest.mark.long
def test_a_stop_with_nobody_to_heed_it_is_lifted_by_the_next_run(campaign: SmallCampaign) -> None:
    campaign.lastro("run", "--only", "control")

    assert campaign.lastro("stop").returncode == 0
    result = campaign.json("run")

    assert result["decision"]["verdict"] == "adopt"
    assert _home_events(campaign, E.CAMPAIGN_HALTED, E.CAMPAIGN_RESUMED) == ["campaign.resumed"]


def test_stop_says_that_nothing_runs_when_everything_is_over(campaign: SmallCampaign) -> None:
    campaign.lastro("run")

    done = campaign.lastro("stop")

    assert (done.returncode, "nothing runs" in done.stdout) == (0, True)
    assert campaign.lastro("run").returncode == 0


def _story() -> Story:
    story = Story(planned("wide"))
    story.machine("m-1", 0)
    return story


def _next(story: Story, **changed: object) -> policy.Action:
    return policy.next_action(situation(story.view(10), plan_of(), **changed))


def test_a_halt_starts_nothing_and_lets_the_machine_go() -> None:
    assert isinstance(_next(_story()), policy.Dispatch)
    assert _next(_story(), halt=HALT) == policy.Release(
        machine="m-1", why="stopped on request: the card is needed; `lastro run` goes on"
    )


def test_a_halt_rents_and_checks_nothing() -> None:
    assert isinstance(_next(Story(planned("wide"))), policy.Rent)
    assert isinstance(_next(Story(planned("wide")), halt=HALT), policy.Halt)
    assert isinstance(_next(_story(), checked=frozenset(), halt=HALT), policy.Release)


@pytest.mark.parametrize(("only", "asked"), [(None, True), ("id-control", True), ("id-wide", False)])
def test_a_run_that_begins_in_spite_of_a_halt_is_asked_to_end(only: str | None, asked: bool) -> None:
    """Its supervisor was sent off just before the request, so nobody could ask the run itself."""
    action = _next(_story(), supervised=frozenset({"id-control"}), halt=replace(HALT, only=only))

    assert isinstance(action, policy.Retire if asked else policy.Wait)

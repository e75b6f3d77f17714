"""Offers that fail one after the other, played by the local provider: what the campaign does then."""

from __future__ import annotations

import json
import subprocess
from typing import Any

import pytest

from lastro.clock import SystemClock
from lastro.flow.campaign import Wish, run_campaign
from lastro.journal.nodes import Fault, NodeRecord
from lastro.paths import Home
from lastro.view.as_json import page_json
from tests.flow.campaigns import SmallCampaign

OFFERS = """\
offers:
  - {name: cheap, kind: hourly, price: 1.00 USD, unit: 1min, provider: local, seen: 2026-11-30}
  - {name: dear, kind: hourly, price: 2.00 USD, unit: 1min, provider: local, seen: 2026-11-30}
"""
SPOT = """\
offers:
  - {name: storm, kind: spot, price: 0.40 USD, provider: local, interruptions: 6h, seen: 2026-11-30}
  - {name: calm, kind: hourly, price: 1.00 USD, provider: local, seen: 2026-11-30}
"""
STAGES = "stages:\n  run: {each: run, hours: 0.01, gpu: 1}\n"
#: One run, and no closing: what is looked at here is over before.
RUN = ("run", "--only", "control", "--faults", "faults.yaml")


def prepared(campaign: SmallCampaign, faults: str, move_on: str, offers: str = OFFERS) -> SmallCampaign:
    (campaign.folder / "offers.yaml").write_text(offers)
    (campaign.folder / "faults.yaml").write_text(f"faults:\n{faults}")
    path = campaign.folder / "campaign.yaml"
    path.write_text(path.read_text() + STAGES + f"move_on: {{{move_on}}}\n")
    return campaign


def ran(done: subprocess.CompletedProcess[str], code: int = 0) -> dict[str, Any]:
    assert done.returncode == code, done.stderr
    result: dict[str, Any] = json.loads(done.stdout)
    return result


def asked(result: dict[str, Any]) -> list[str]:
    """Return the offer of each machine that was asked for, in order."""
    return [one["lease"]["offer"] for one in result["machines"]]


def moves(result: dict[str, Any]) -> list[tuple[str, str, str]]:
    return [(one["offer"], one["to"], one["what"]) for one in result["plan"]["moves"]]


def test_a_refused_offer_is_left_for_the_next_and_the_run_ends_there(campaign: SmallCampaign) -> None:
    prepared(campaign, "  - {create: 1, offer: cheap}\n  - {create: 2, offer: cheap}\n", "refusals: 2")

    result = ran(campaign.lastro(*RUN, "--json"))

    assert asked(result) == ["cheap", "cheap", "dear"]
    assert moves(result) == [("cheap", "dear", "refused")]
    assert result["runs"][0]["status"] == "completed"
    assert [line["source"] for line in result["cost"]["lines"]] == ["offer 'dear', declared, 2026-11-30"]


def test_a_bad_box_is_replaced_and_an_offer_that_does_not_boot_is_left(campaign: SmallCampaign) -> None:
    faults = (
        "  - {create: 1, offer: cheap, preflight: gpu_heat}\n  - {create: 2, offer: cheap, boot: never}\n"
    )
    prepared(campaign, faults, "boot: 2s")

    done = campaign.lastro(*RUN, "--json")

    result = ran(done)
    assert asked(result) == ["cheap", "cheap", "dear"]
    assert moves(result) == [("cheap", "dear", "boot")]
    assert [one["cause"] for one in result["machines"][:2]] == ["deleted", "deleted"]
    assert all(one["seconds"] > 0 for one in result["machines"])
    assert "had not booted after" in done.stderr
    assert len(result["cost"]["lines"]) == 3  # what was let go is paid for the time that it was there


def test_a_machine_that_this_home_knows_something_against_is_left_to_others(
    campaign: SmallCampaign, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every node has a record. The one of the last offer is used all the same: there is no other."""
    prepared(campaign, "  - {create: 9}\n", "boxes: 1")
    monkeypatch.setenv("LASTRO_HOME", str(campaign.home))
    found = Fault(at="2026-11-29T00:00:00Z", campaign="earlier", what="a job hung")
    known = NodeRecord(
        node="n", names=("n",), providers=("local",), machines=1, hours=1.0, faults=(found,), notes=(),
        low=0.0, high=1.0,
    )  # fmt: skip
    monkeypatch.setattr("lastro.flow.campaign.bad_record", lambda _home, _clock, _node: known)
    told: list[str] = []
    wish = Wish(campaign_file=campaign.folder / "campaign.yaml", only="control")

    outcome = run_campaign(wish, Home(campaign.home), SystemClock(), told.append)

    result = page_json(outcome.page)
    assert asked(result) == ["cheap", "dear"]
    assert moves(result) == [("cheap", "dear", "boxes")]
    assert result["runs"][0]["status"] == "completed"
    assert [life["machine"] for life in result["runs"][0]["attempts"]] == [result["machines"][1]["id"]]
    assert any("which this home knows" in line and "it is let go" in line for line in told)


def test_spot_that_was_lost_twice_goes_back_on_demand_while_it_runs(campaign: SmallCampaign) -> None:
    """The state is the sum of the steps that were done: 40 * 41 / 2."""
    faults = "  - {run: control, step: 12}\n  - {run: control, step: 24}\n"
    prepared(campaign, faults, "spot_losses: 2", SPOT).edit("pace: 0.02", "pace: 0.1")

    result = ran(campaign.lastro(*RUN, "--json"))

    assert asked(result) == ["storm", "storm", "calm"]
    assert moves(result) == [("storm", "calm", "spot")]
    first, second, third = (life["resumed_step"] for life in result["runs"][0]["attempts"])
    assert first is None and 10 <= second <= third and third >= 20
    outputs = campaign.disk / "campaigns/small/runs" / result["runs"][0]["id"] / "outputs"
    assert json.loads((outputs / "total.json").read_text()) == {"total": 820}


def test_with_no_offer_left_a_person_is_asked_and_may_have_them_tried_again(campaign: SmallCampaign) -> None:
    prepared(campaign, "  - {create: 1}\n  - {create: 2}\n", "refusals: 1, when_none_left: ask")

    halted = ran(campaign.lastro(*RUN, "--json"), 11)
    result = ran(campaign.lastro(*RUN, "--revise", "they have machines again", "--json"))

    assert "no offer of the plan is left" in halted["halted"]
    assert "`lastro run` asks once more" in halted["halted"]
    assert halted["plan"]["no_offer_left"]["then"] == "ask"
    assert halted["plan"]["no_offer_left"]["figures"]["slack_hours"] > 0
    assert asked(result) == ["cheap", "dear", "cheap"]
    assert [one["reopened"] for one in result["plan"]["moves"]] == ["they have machines again"]
    assert result["runs"][0]["status"] == "completed"


def test_with_no_offer_left_it_waits_and_asks_them_in_turn(campaign: SmallCampaign) -> None:
    faults = "".join(f"  - {{create: {number}}}\n" for number in range(1, 5))
    prepared(campaign, faults, "refusals: 1, ask_every: 0.2s, when_none_left: wait")

    done = campaign.lastro(*RUN, "--json")

    result = ran(done)
    assert asked(result) == ["cheap", "dear", "cheap", "dear", "cheap"]
    assert "of slack are left, of which each hour uses one" in done.stderr
    assert result["runs"][0]["status"] == "completed"


def test_with_no_offer_left_it_stops_with_what_each_has_shown(campaign: SmallCampaign) -> None:
    faults = "".join(f"  - {{create: {number}}}\n" for number in range(1, 20))
    prepared(campaign, faults, "refusals: 1, ask_every: 0.2s")

    done = campaign.lastro(*RUN)

    assert done.returncode == 7
    assert "no machine was to be had from 'local' in 13 tries" in done.stderr
    assert "the plan's other offers: dear" in done.stderr

"""What freezing brings to the disk."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from lastro.clock import SystemClock
from lastro.flow.freeze import draw_up
from lastro.rules import Best
from tests.flow.campaigns import SmallCampaign


def test_a_corpus_that_was_changed_on_the_disk_is_not_trained_on(campaign: SmallCampaign) -> None:
    (campaign.folder / "data.csv").write_text("1\n2\n3\n")
    campaign.edit("stop:\n", "corpus: {path: data.csv, rows: 3}\nstop:\n")
    campaign.lastro("plan", "--freeze")
    (copy,) = campaign.disk.glob("data/*/data.csv")
    copy.write_text("1\n")

    refused = campaign.lastro("run")
    copy.unlink()
    repaired = campaign.lastro("plan", "--freeze")

    assert refused.returncode == 8
    assert str(copy) in refused.stderr
    assert not list(campaign.disk.glob("campaigns/small/runs/*/attempts/1"))
    assert repaired.returncode == 0
    assert copy.read_text() == "1\n2\n3\n"


def test_a_frozen_plan_that_a_kill_has_kept_from_the_disk_is_put_there(campaign: SmallCampaign) -> None:
    campaign.lastro("plan", "--freeze")
    plan = campaign.disk / "campaigns/small/plan.json"
    frozen = plan.read_text()
    plan.write_text(frozen.replace('"small"', '"other"'))

    campaign.lastro("plan", "--freeze")

    assert plan.read_text() == frozen


@pytest.mark.long
def test_a_frozen_plan_does_not_change_by_what_is_learned_later(campaign: SmallCampaign) -> None:
    """What is declared, six minutes, is far above what it takes."""
    stages = "stages:\n  train: {each: run, gpu: 1, hours: 0.1}\n"
    campaign.edit("checkpoint:", f"{stages}checkpoint:")
    campaign.edit("steps: 40", "steps: 2")
    frozen = campaign.json("plan", "--freeze")
    campaign.json("run", "--no-close")

    again = campaign.json("plan", "--freeze")
    fresh = campaign.json("plan")
    declared = campaign.json("plan", "--as-declared")
    revised = campaign.json("plan", "--freeze", "--revise", "durations as they were measured")

    assert frozen["estimates"] == []
    assert again["digest"] == frozen["digest"]
    assert [(one["run"], one["count"]) for one in fresh["estimates"]] == [("control", 1), ("better", 1)]
    assert fresh["calendar"]["reserved_hours"] < declared["calendar"]["reserved_hours"]
    assert declared["calendar"] == frozen["calendar"]
    assert "(declared: 0.1 h)" in fresh["calendar"]["slots"][0]["origin"]
    assert revised["estimates"] == fresh["estimates"]


def test_a_plan_that_was_frozen_without_a_best_checkpoint_goes_on_without(campaign: SmallCampaign) -> None:
    """Where none is frozen the best one is that of the decision."""
    fresh = draw_up(campaign.folder / "campaign.yaml", SystemClock()).plan
    frozen = campaign.disk / "campaigns/small/plan.json"
    frozen.parent.mkdir(parents=True)
    before = replace(fresh, checkpoint=replace(fresh.checkpoint, best=None))
    frozen.write_text(json.dumps(before.as_json()))

    again = draw_up(campaign.folder / "campaign.yaml", SystemClock()).plan

    assert fresh.checkpoint.best == Best(metric="accuracy", higher=True)
    assert again.checkpoint == before.checkpoint
    assert {one.code for one in fresh.findings} - {one.code for one in again.findings} == {"best_by_decision"}


def test_the_offers_that_follow_change_by_a_persons_word_only(campaign: SmallCampaign) -> None:
    campaign.edit("checkpoint:", "stages:\n  train: {each: run, gpu: 1, hours: 0.1}\ncheckpoint:")
    offers = campaign.folder / "offers.yaml"
    row = "  - {name: NAME, kind: hourly, price: 2.00 USD, provider: local, seen: 2026-11-30}\n"
    offers.write_text(offers.read_text() + row.replace("NAME", "second"))
    frozen = campaign.json("plan", "--freeze")
    offers.write_text(offers.read_text() + row.replace("NAME", "third"))

    again = campaign.json("plan", "--freeze")
    revised = campaign.json("plan", "--freeze", "--revise", "there is a third one now")

    assert [rung["offer"] for rung in frozen["ladder"]] == ["box", "second"]
    assert again["digest"] == frozen["digest"]
    assert [rung["offer"] for rung in revised["ladder"]] == ["box", "second", "third"]

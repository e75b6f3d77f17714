"""Runs that can no longer change the answer are not started."""

from __future__ import annotations

from typing import Any

import pytest

from lastro.closeout.conclude import Answer, conclude, evidence_of
from lastro.closeout.judge import judgements_of
from lastro.closeout.promise import promise_of
from lastro.flow.moot import moot_runs
from lastro.journal.views import CampaignView, RunView
from tests.flow.campaigns import SmallCampaign
from tests.view.story import Story, planned

RULE: dict[str, Any] = {
    "metric": "accuracy", "better": "higher", "adopt_margin": "0.01", "over": "control", "unit": None,
}  # fmt: skip


def ran(end: str = "done", **rule: Any) -> CampaignView:
    """A control that has ended, a variant that waits, and one that is at work."""
    story = Story(planned("wide", "deep", decision={**RULE, **rule}))
    story.machine("m-1", 0)
    story.start("control", 1, 1)
    story.end("control", 1, 20, end, 300)
    story.start("deep", 1, 2)
    return story.view()


def moot(view: CampaignView, metric: float | None) -> dict[str, str]:
    def metric_of(_run: RunView) -> float | None:
        return metric

    return dict(moot_runs(promise_of(view.plan or {}).decision, view, metric_of))


def test_no_variant_is_started_when_none_can_reach_the_margin() -> None:
    """The best accuracy is 1: above 0.99 no gain of 0.01 is left. Who is at work goes on."""
    assert list(moot(ran(), 0.995)) == ["id-wide"]
    assert "no variant can reach the margin of 0.01" in moot(ran(), 0.995)["id-wide"]
    assert moot(ran(), 0.99) == {}, "exactly the margin can still be reached"


def test_no_variant_is_started_when_there_is_nothing_to_compare_with() -> None:
    assert list(moot(ran("stop_rule"), None)) == ["id-wide"]


@pytest.mark.parametrize(
    ("rule", "metric"),
    [
        ({"metric": "mse", "better": "higher"}, 5.0),
        ({"unit": "run"}, 1.0),
        ({"over": "nobody"}, 1.0),
        ({}, None),
    ],
)
def test_every_run_is_started_where_one_may_matter(rule: dict[str, Any], metric: float | None) -> None:
    """A metric without a bound, outputs that are counted, no control, a metric that nobody knows."""
    assert moot(ran(**rule), metric) == {}


def test_a_control_that_nothing_can_beat_is_kept_although_no_variant_has_run() -> None:
    story = Story(planned("wide", decision=RULE))
    story.machine("m-1", 0)
    story.start("control", 1, 1)
    story.end("control", 1, 20, "done", 300)
    story.judge("control", 0.995)
    view = story.view()
    promise = promise_of(view.plan or {})
    runs = [evidence_of(run, promise, judgements_of(view)) for run in view.runs]

    told = conclude(promise.decision, runs)

    assert told.verdict is Answer.KEEP_CONTROL
    assert told.why.startswith("no variant can reach the margin of 0.01")


def test_home_begins_no_such_run_and_the_report_says_so(campaign: SmallCampaign) -> None:
    """The control is right in all ten rows. A run that is named is begun all the same."""
    campaign.edit("score: 6}", "score: 10}")
    campaign.edit(
        "priority: required}", "priority: required}\n  odd: {changes: {score: 3}, priority: exploratory}"
    )
    campaign.edit("pace: 0.02", "pace: 0.001")

    asked = campaign.lastro("run", "--only", "odd")
    done = campaign.lastro("run")
    report = campaign.json("close")

    assert asked.returncode == 0, asked.stderr
    assert done.returncode == 0, done.stderr
    assert "better is not started: no variant can reach the margin of 0.1" in done.stdout
    runs = {run["name"]: run for run in report["runs"]}
    assert (runs["odd"]["status"], runs["better"]["status"]) == ("completed", "waiting")
    assert "no variant can reach" in runs["better"]["why"]
    assert report["decision"]["verdict"] == "keep_control"

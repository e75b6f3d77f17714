"""What stands beside the answer."""

from __future__ import annotations

from typing import Any

from lastro.closeout.conclude import conclude, evidence_of
from lastro.closeout.disagree import SHOWN, disagreement
from lastro.closeout.evidence import with_details
from lastro.closeout.judge import Judgement, Verdict
from lastro.closeout.metric import Example
from lastro.closeout.promise import promise_of
from lastro.journal.events import EventType as E
from tests.view.story import Story, planned


def examples(right: str, rows: int = 10) -> dict[str, Example]:
    """Return rows of which those whose digit is named are right."""
    return {
        str(row): Example("1" if str(row) in right else "0", "1", float(str(row) in right))
        for row in range(rows)
    }


def judged(run: str, right: str) -> Judgement:
    found = examples(right)
    return Judgement(
        run=f"id-{run}", name="predictions", path="p.csv", verdict=Verdict.ACCEPTED, why="",
        metric=len(right) / 10, examples=found,
    )  # fmt: skip


def evidence(story: Story, *judgements: Judgement) -> dict[str, Any]:
    view = story.view()
    promise = promise_of(view.plan or {})
    runs = [evidence_of(run, promise, judgements) for run in view.runs if run.superseded_by is None]
    told = conclude(promise.decision, runs)
    return with_details(told.evidence, view, runs, promise, judgements)


def ran(*names: str, **changed: Any) -> Story:
    story = Story(planned(*names[1:], **changed))
    story.machine("m-1", 0)
    for name in names:
        story.start(name, 1, 1)
        story.end(name, 1, 20, "done", 300)
    return story


def test_each_run_has_its_interval_and_a_variant_the_paired_one() -> None:
    """The control is right in 0 to 4, the variant in 2 to 7: 3 gained, 2 lost, 0.1 better."""
    found = evidence(ran("control", "wide"), judged("control", "01234"), judged("wide", "234567"))

    control, wide = found["runs"]
    assert control["interval"]["low"] <= 0.5 <= control["interval"]["high"]
    assert (control["difference"], control["disagreement"]) == (None, None)
    assert round(wide["difference"]["mean"], 9) == 0.1
    assert wide["difference"]["low"] < 0 < wide["difference"]["high"], "ten rows prove nothing"
    table = wide["disagreement"]
    assert (table["better"], table["worse"], table["same"]) == (3, 2, 5)
    assert [row["id"] for row in table["rows_better"]] == ["5", "6", "7"]
    assert table["rows_worse"][0] == {"id": "0", "label": "1", "control": "1", "variant": "0"}


def test_rows_of_the_largest_difference_come_first_and_only_some_are_told() -> None:
    """Of squared errors lower is better."""
    control = {str(row): Example("0", "0", 9.0) for row in range(100)}
    variant = {str(row): Example("0", "0", float(row % 20)) for row in range(100)}

    table = disagreement(control, variant, "lower")

    assert (table["better"], table["worse"], table["same"]) == (45, 50, 5)
    assert [row["id"] for row in table["rows_worse"][:2]] == ["19", "39"]
    assert len(table["rows_better"]) == SHOWN


def test_a_run_that_does_not_count_says_why_and_has_no_interval() -> None:
    story = ran("control")
    found = evidence(story, judged("control", "01234"))
    missing = evidence(ran("control", "wide"), judged("control", "01234"))

    assert found["runs"][0]["why_not"] is None
    assert missing["runs"][1]["counts"] is False
    assert missing["runs"][1]["why_not"] == "wide: the decision's metric was not recomputed"
    assert missing["runs"][1]["interval"] is None


def test_runs_that_differ_in_their_seed_only_have_a_mean_over_them() -> None:
    runs = [
        {"id": f"id-{name}", "name": name, "priority": "required", "config": {"width": width, "seed": seed}}
        for name, width, seed in (("control", 1, 0), ("again", 1, 1), ("wide", 2, 0))
    ]
    story = ran("control", "again", "wide", runs=runs)

    found = evidence(story, judged("control", "01234"), judged("again", "0123"), judged("wide", "012"))

    (group,) = found["seeds"]
    assert (group["runs"], round(group["mean"], 9), group["count"]) == (["control", "again"], 0.45, 2)


def test_a_rule_that_was_changed_afterwards_is_told_with_its_reason() -> None:
    story = ran("control", "wide")
    other = planned("wide")
    story.home(50, E.PLAN_REVISED, digest="e" * 64, plan=planned("wide"), why="other code")
    other["decision"] = {**other["decision"], "adopt_margin": "0.001"}
    story.home(60, E.PLAN_REVISED, digest="f" * 64, plan=other, why="the margin was too strict")

    found = evidence(story, judged("control", "01234"), judged("wide", "012345"))

    (changed,) = found["rule_changed"]
    assert changed["why"] == "the margin was too strict"
    assert (changed["from"]["adopt_margin"], changed["to"]["adopt_margin"]) == ("0.01", "0.001")

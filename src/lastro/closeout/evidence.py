"""What stands beside the answer: how sure each metric is, where runs disagree, what did not count. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from lastro.closeout.bootstrap import mean_interval, paired_interval, seeds_interval
from lastro.closeout.conclude import RunEvidence, metric_judgement
from lastro.closeout.disagree import disagreement
from lastro.closeout.judge import Judgement
from lastro.closeout.metric import Example
from lastro.closeout.promise import DecisionRule, Promise
from lastro.journal.views import CampaignView, RunView
from lastro.spec.run_id import canonical_json

#: The key of a configuration that makes runs repetitions of each other.
_SEED = "seed"


def with_details(
    evidence: Mapping[str, Any],
    view: CampaignView,
    runs: Sequence[RunEvidence],
    promise: Promise,
    judgements: Sequence[Judgement],
) -> dict[str, Any]:
    """Return the evidence of a conclusion with intervals, disagreements and what was changed since.

    Args:
        evidence: of `conclude`.
        view: the campaign, for configurations and revisions.
        runs: what is proven of each.
        promise: of the plan.
        judgements: those that were just made: they hold the examples.
    """
    rule = promise.decision
    if rule is None:
        return dict(evidence)
    examples = {run.id: _examples(run.id, promise, judgements) for run in view.runs}
    control = next((run for run in runs if run.name == rule.over), None)
    base = examples.get(control.id, {}) if control is not None and control.counts else {}
    by_id = {run.id: run for run in runs}
    rows = [{**row, **_row(by_id[row["run"]], examples[row["run"]], base, rule)} for row in evidence["runs"]]
    return {
        **evidence,
        "runs": rows,
        "seeds": _seeds(view.runs, runs),
        "rule_changed": _changed(view),
    }


def _examples(run: str, promise: Promise, judgements: Sequence[Judgement]) -> Mapping[str, Example]:
    found = metric_judgement(run, promise, judgements)
    return found.examples if found is not None else {}


def _row(
    run: RunEvidence, own: Mapping[str, Example], base: Mapping[str, Example], rule: DecisionRule
) -> dict[str, Any]:
    interval = mean_interval([one.score for one in own.values()]) if run.counts else None
    row: dict[str, Any] = {
        "counts": run.counts,
        "why_not": None if run.counts else run.why_not,
        "interval": interval.as_json() if interval else None,
        "difference": None,
        "disagreement": None,
    }
    if run.counts and base and own and run.name != rule.over:
        difference = paired_interval(
            {name: one.score for name, one in base.items()}, {name: one.score for name, one in own.items()}
        )
        row["difference"] = difference.as_json() if difference else None
        row["disagreement"] = disagreement(base, own, rule.better)
    return row


def _seeds(views: Sequence[RunView], runs: Sequence[RunEvidence]) -> list[dict[str, Any]]:
    """Return the mean of each group of runs whose configurations differ in their seed only."""
    metrics = {run.id: run.metric for run in runs if run.counts and run.metric is not None}
    groups: dict[bytes, list[RunView]] = {}
    for view in views:
        if view.id in metrics and _SEED in view.config:
            rest = {key: value for key, value in view.config.items() if key != _SEED}
            groups.setdefault(canonical_json(rest), []).append(view)
    found = []
    for group in groups.values():
        interval = seeds_interval([metrics[one.id] for one in group])
        if interval is not None:
            found.append({"runs": [one.name for one in group], **interval.as_json()})
    return found


def _changed(view: CampaignView) -> list[dict[str, Any]]:
    """Return each revision that has changed the rule: when, why, from what and to what."""
    found = []
    before = (view.forecast or {}).get("decision")
    for revision in view.revisions:
        after = revision["plan"].get("decision")
        if after != before:
            found.append({"at": revision["at"], "why": revision["why"], "from": before, "to": after})
        before = after
    return found

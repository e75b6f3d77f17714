"""Whether the runs of a campaign can answer its question, and whether its calendar is complete."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from lastro.locale import _
from lastro.plan.best import is_by_decision
from lastro.plan.levels import NOTE, WARN
from lastro.plan.parts import Finding
from lastro.spec.campaign import CONTROL, Campaign, RunSpec
from lastro.spec.run_id import canonical_json
from lastro.spec.stage import Stage

#: A number that changes by less than this part is nearly the same: the seed alone moves a metric as far.
_NEARLY = 0.1


def findings(campaign: Campaign) -> Iterator[Finding]:
    """Return what speaks against the design of a campaign."""
    yield from _of_runs(campaign.runs())
    yield from _of_decision(campaign)
    if campaign.stages:
        yield from _of_stages(campaign.stages)
    for text in campaign.uncertainties:
        yield Finding(code="uncertain", level=NOTE, text=_("open: {text}").format(text=text))


def _of_runs(runs: Sequence[RunSpec]) -> Iterator[Finding]:
    variants = [run for run in runs if run.name != CONTROL]
    if not variants:
        text = _("only the control runs: nothing is compared with it")
        yield Finding(code="no_variants", level=NOTE, text=text)
    for run in variants:
        if len(run.changes) > 1:
            text = _(
                "{run} changes {count} things at once ({keys}): a difference will have no one cause"
            ).format(run=run.name, count=len(run.changes), keys=", ".join(run.changes))
            yield Finding(code="several_changes", level=WARN, text=text)
    for one, other in itertools.combinations(runs, 2):
        if (key := _nearly_the_same(one.config, other.config)) is not None:
            text = _(
                "{one} and {other} are nearly the same ({key}: {a} and {b}): a control that isolates a cause "
                "tells more"
            ).format(one=one.name, other=other.name, key=key, a=one.config[key], b=other.config[key])
            yield Finding(code="near_duplicate", level=WARN, text=text)
    yield from _of_grid(runs)


def _nearly_the_same(one: Mapping[str, Any], other: Mapping[str, Any]) -> str | None:
    """Return the only key in which two configurations differ, when its numbers are nearly equal."""
    different = [key for key in one if canonical_json(one[key]) != canonical_json(other.get(key))]
    if len(different) != 1:
        return None
    a, b = one[different[0]], other[different[0]]
    if any(isinstance(value, bool) or not isinstance(value, (int, float)) for value in (a, b)):
        return None
    return different[0] if abs(a - b) < _NEARLY * max(abs(a), abs(b)) else None


def _of_grid(runs: Sequence[RunSpec]) -> Iterator[Finding]:
    """Warn of a full grid: every combination of two or more keys, most of which isolate no cause."""
    keys = sorted({key for run in runs for key in run.changes})
    values = {key: {canonical_json(run.config[key]) for run in runs} for key in keys}
    combinations = math.prod(len(each) for each in values.values())
    seen = {tuple(canonical_json(run.config[key]) for key in keys) for run in runs}
    if len(keys) > 1 and len(seen) == combinations:
        text = _(
            "the runs are all {count} combinations of {keys}: one change at a time answers with {few} runs"
        ).format(
            count=combinations, keys=", ".join(keys), few=1 + sum(len(each) - 1 for each in values.values())
        )
        yield Finding(code="full_grid", level=WARN, text=text)


def _of_decision(campaign: Campaign) -> Iterator[Finding]:
    if not campaign.deliverables:
        text = _("no deliverables: there is nothing to reload and accept")
        yield Finding(code="no_deliverables", level=WARN, text=text)
    if campaign.decision is None:
        text = _("no decision rule: closing will not conclude")
        yield Finding(code="no_decision", level=NOTE, text=text)
        return
    metric = campaign.decision.metric
    if is_by_decision(campaign):
        text = _(
            "of the checkpoints the best by {metric} stays too, as the decision has it, once the job logs "
            "that; `checkpoint.best` names another"
        ).format(metric=metric)
        yield Finding(code="best_by_decision", level=NOTE, text=text)
    if all(item.metric is None or item.metric.name != metric for item in campaign.deliverables.values()):
        text = _("the decision is by {metric}, which no deliverable lets closing recompute").format(
            metric=metric
        )
        yield Finding(code="decision_without_metric", level=WARN, text=text)


def what_it_decides(campaign: Campaign, run: RunSpec) -> str:
    """Return the decision that a run could change; in words, for the list of runs."""
    rule = campaign.decision
    if rule is None:
        return _("nothing: there is no decision rule")
    if run.name == CONTROL:
        return _("what every variant is compared with")
    if run.priority == "exploratory":
        return _("nothing in this campaign: it starts on request")
    keys = ", ".join(f"{key} = {run.config[key]}" for key in run.changes)
    return _("whether {keys} is adopted (by {metric})").format(keys=keys, metric=rule.metric)


# --- the calendar -------------------------------------------------------------------------------------


def _of_stages(stages: Mapping[str, Stage]) -> Iterator[Finding]:
    wanted = {
        "data-check": _("no stage checks the data before the first run: `does: data-check`"),
        "drill": _("no stage proves that a run resumes: `does: drill`, done by `lastro drill`"),
        "recover": _("no stage brings the outputs home before the lease ends: `does: recover`"),
    }
    for purpose, text in wanted.items():
        if not any(does(name, stage, purpose) for name, stage in stages.items()):
            yield Finding(code=f"no_{purpose.replace('-', '_')}", level=WARN, text=text)
    pilots = [stage for name, stage in stages.items() if does(name, stage, "pilot")]
    if not pilots:
        text = _("no pilot: durations stay what was declared until the first run is over")
        yield Finding(code="no_pilot", level=NOTE, text=text)
    elif not any(stage.decide for stage in stages.values()):
        text = _("nothing is decided after the pilot: `decide: true` stops there for `lastro decide`")
        yield Finding(code="no_decision_point", level=NOTE, text=text)


def does(name: str, stage: Stage, purpose: str) -> bool:
    """Say whether a stage is for a purpose: it says so, or it is named after it, or collects and recovers."""
    names = {"data-check": ("data-check", "data_check", "check-data"), "recover": ("recover", "collect")}
    return stage.does == purpose or (stage.does is None and name in names.get(purpose, (purpose,)))

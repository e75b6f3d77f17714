"""The answer of a campaign, from its rule and what was proven. Pure, and in decimal arithmetic."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field
from decimal import Decimal
from enum import Enum
from typing import Any

from lastro.closeout.judge import Judgement, Verdict, of_run, unfinished
from lastro.closeout.metric import best_possible
from lastro.closeout.promise import DecisionRule, Promise
from lastro.errors import DeliverableRejected, NotProven, StoppedByRule
from lastro.journal.views import RunView
from lastro.locale import _, forms
from lastro.records import dataclass

REQUIRED = "required"
#: Metrics are compared to so many decimals: 5/300 and 2/300 differ by 0.01, as floats by a little less.
_QUANTUM = Decimal("1e-12")


class Answer(str, Enum):
    """What a campaign can conclude."""

    ADOPT = "adopt"
    KEEP_CONTROL = "keep_control"
    UNDECIDED = "undecided"
    STOPPED = "stopped"


@dataclass(frozen=True, kw_only=True)
class RunEvidence:
    """What is proven of one run.

    `accepted`: it completed and nothing that it promised was rejected or is in doubt.
    `metric`: the decision's metric, recomputed; None when there is none.
    """

    id: str
    name: str
    priority: str
    status: str
    why: str | None
    accepted: bool
    metric: float | None

    @property
    def counts(self) -> bool:
        """Say whether the answer may rest on this run."""
        return self.status == "completed" and self.accepted and self.metric is not None

    @property
    def why_not(self) -> str | None:
        """Say why the answer cannot rest on this run; None when it can."""
        return None if self.counts else _missing(self)

    @property
    def is_open(self) -> bool:
        """Say whether this run could still get a result: it was neither proven nor ended by a stop rule."""
        return not self.counts and self.status not in ("stopped", "superseded")


@dataclass(frozen=True, kw_only=True)
class Conclusion:
    """The answer. `run`: id of the adopted run. `asked`: False when the plan holds no decision rule."""

    verdict: Answer
    run: str | None
    why: str
    evidence: Mapping[str, Any] = field(default_factory=dict)
    asked: bool = True

    def as_facts(self) -> dict[str, Any]:
        """Return the facts of a `campaign.concluded` event."""
        return {
            "verdict": self.verdict.value,
            "run": self.run,
            "why": self.why,
            "evidence": dict(self.evidence),
        }


def evidence_of(run: RunView, promise: Promise, judgements: Sequence[Judgement]) -> RunEvidence:
    """Return what the judgements prove of one run. An output that only opens does not hold it back."""
    own = of_run(judgements, run.id)
    in_doubt = any(one.verdict in (Verdict.REJECTED, Verdict.MISSING) for one in own)
    metrics = _of_metric(own, promise)
    proven = [one.metric for one in metrics if one.verdict is Verdict.ACCEPTED]
    return RunEvidence(
        id=run.id,
        name=run.name,
        priority=run.priority,
        status=run.status,
        why=run.why,
        accepted=not in_doubt and len(proven) == len(metrics),
        metric=proven[0] if proven else None,
    )


def metric_judgement(run: str, promise: Promise, judgements: Sequence[Judgement]) -> Judgement | None:
    """Return the accepted output that the metric of a run was recomputed from; None: there is none."""
    accepted = [
        one
        for one in _of_metric(of_run(judgements, run), promise)
        if one.verdict is Verdict.ACCEPTED and one.metric is not None
    ]
    return accepted[0] if accepted else None


def _of_metric(own: Sequence[Judgement], promise: Promise) -> list[Judgement]:
    wanted = promise.decision.metric if promise.decision else None
    return [one for one in own if wanted is not None and _metric_name(promise, one) == wanted]


def _metric_name(promise: Promise, judgement: Judgement) -> str | None:
    promised = promise.named(judgement.name)
    return promised.metric.name if promised and promised.metric else None


def conclude(
    rule: DecisionRule | None, runs: Sequence[RunEvidence], *, campaign_stop: str | None = None
) -> Conclusion:
    """Return the answer to the campaign's question.

    adopt: a variant that counts beats the control by the margin, and no open required run could beat it.
    keep_control: every required run counts and no variant reaches the margin.
    stopped: a stop rule ended the control, all variants, or a required one without which nothing reaches the
    margin; or the campaign itself was stopped before there was an answer.
    undecided: a required run is open and could still change the answer; or there is no rule.

    Args:
        rule: written down before the runs; None when there is none.
        runs: of the campaign; superseded ones are left out of the answer.
        campaign_stop: why the whole campaign was stopped (budget, deadline); None when it was not.
    """
    if rule is None:
        return Conclusion(
            verdict=Answer.UNDECIDED, run=None, why=_("no decision rule was written down"), asked=False
        )
    current = [run for run in runs if run.status != "superseded"]
    control = next((run for run in current if run.name == rule.over), None)
    variants = [run for run in current if run.name != rule.over]
    verdict, winner, why = _answer(rule, control, variants)
    if campaign_stop is not None and verdict is Answer.UNDECIDED:
        verdict, why = Answer.STOPPED, _("the campaign was stopped: {why}").format(why=campaign_stop)
    return Conclusion(
        verdict=verdict,
        run=winner.id if winner else None,
        why=why,
        evidence=_evidence(rule, control, current),
    )


_Reasoned = tuple[Answer, RunEvidence | None, str]


def _answer(rule: DecisionRule, control: RunEvidence | None, variants: Sequence[RunEvidence]) -> _Reasoned:
    if control is None:
        return Answer.UNDECIDED, None, _("there is no run '{name}' to compare with").format(name=rule.over)
    if control.status == "stopped":
        return Answer.STOPPED, None, _stopped(control)
    if not variants:
        return (
            Answer.UNDECIDED,
            None,
            _("there is no variant to compare with '{name}'").format(name=rule.over),
        )
    stopped = [run for run in variants if run.status == "stopped"]
    if len(stopped) == len(variants):
        why = _("every variant was ended by a stop rule; {first}").format(first=_stopped(stopped[0]))
        return Answer.STOPPED, None, why
    if not control.counts:
        return Answer.UNDECIDED, None, _missing(control)
    return _compared(rule, control, variants, stopped)


def _compared(
    rule: DecisionRule,
    control: RunEvidence,
    variants: Sequence[RunEvidence],
    stopped: Sequence[RunEvidence],
) -> _Reasoned:
    gains = [(run, gain(rule, control, run)) for run in variants if run.counts]
    best = max(gains, key=lambda item: item[1], default=None)
    winner = best if best is not None and best[1] >= rule.margin else None
    for run in variants:
        if run.priority == REQUIRED and run.is_open and _could_change(rule, control, winner):
            return Answer.UNDECIDED, None, _missing(run)
    if winner is not None:
        return Answer.ADOPT, winner[0], _won(rule, control, winner)
    for run in stopped:
        if run.priority == REQUIRED:
            return Answer.STOPPED, None, _stopped(run)
    if best is None:
        beyond = out_of_reach(rule, control)
        if beyond is not None:
            return Answer.KEEP_CONTROL, None, beyond
        return Answer.UNDECIDED, None, _missing(variants[0])
    return Answer.KEEP_CONTROL, None, _lost(rule, control, best)


def gain(rule: DecisionRule, control: RunEvidence, run: RunEvidence) -> Decimal:
    """Return by how much a run's metric is better than the control's; negative when it is worse."""
    assert run.metric is not None and control.metric is not None
    return _gain(rule, control, _decimal(run.metric))


def _gain(rule: DecisionRule, control: RunEvidence, value: Decimal) -> Decimal:
    assert control.metric is not None
    more = value - _decimal(control.metric)
    return more if rule.better == "higher" else -more


def _decimal(metric: float) -> Decimal:
    return round(Decimal(repr(metric)) / _QUANTUM) * _QUANTUM


def out_of_reach(rule: DecisionRule, control: RunEvidence) -> str | None:
    """Say that no variant can be adopted any more, whatever it reaches; None while one can."""
    bound = best_possible(rule.metric, rule.better)
    if bound is None or _could_change(rule, control, None):
        return None
    return _(
        "no variant can reach the margin of {margin}: '{over}' has {metric} {control:.6g}, and the best that"
        " there is is {bound}"
    ).format(
        margin=rule.margin, over=rule.over, metric=rule.metric, control=control.metric, bound=bound
    )  # fmt: skip


def _could_change(
    rule: DecisionRule, control: RunEvidence, winner: tuple[RunEvidence, Decimal] | None
) -> bool:
    """Say whether a run with the best value that the metric can have would change the answer."""
    bound = best_possible(rule.metric, rule.better)
    if bound is None:
        return True
    reach = _gain(rule, control, bound)
    return reach >= rule.margin and (winner is None or reach > winner[1])


# --- sentences ------------------------------------------------------------------------------------------


def _stopped(run: RunEvidence) -> str:
    return f"{run.name}: " + unfinished("stopped", run.why)


def _missing(run: RunEvidence) -> str:
    if run.status != "completed":
        return f"{run.name}: " + unfinished(run.status, run.why)
    if not run.accepted:
        return _("{name}: what it delivered was not accepted").format(name=run.name)
    return _("{name}: the decision's metric was not recomputed").format(name=run.name)


def _won(rule: DecisionRule, control: RunEvidence, winner: tuple[RunEvidence, Decimal]) -> str:
    run, by = winner
    return _(
        "{name} has {metric} {value:.6g}, {gain} better than {control:.6g} of '{over}';"
        " the margin is {margin}"
    ).format(
        name=run.name, metric=rule.metric, value=run.metric, gain=forms.decimal(_short(by)),
        control=control.metric, over=rule.over, margin=rule.margin,
    )  # fmt: skip


def _lost(rule: DecisionRule, control: RunEvidence, best: tuple[RunEvidence, Decimal]) -> str:
    run, by = best
    return _(
        "no variant reaches the margin of {margin}: the best, {name}, has {metric} {value:.6g}, a gain of"
        " {gain} over {control:.6g} of '{over}'"
    ).format(
        name=run.name, metric=rule.metric, value=run.metric, gain=forms.decimal(_short(by)),
        control=control.metric, over=rule.over, margin=rule.margin,
    )  # fmt: skip


def _short(number: Decimal) -> str:
    return f"{float(number):.4g}"


def _evidence(
    rule: DecisionRule, control: RunEvidence | None, runs: Sequence[RunEvidence]
) -> Mapping[str, Any]:
    comparable = control is not None and control.counts
    return {
        "metric": rule.metric,
        "better": rule.better,
        "margin": str(rule.margin),
        "over": rule.over,
        "runs": [
            {
                "run": run.id,
                "name": run.name,
                "priority": run.priority,
                "status": run.status,
                "accepted": run.accepted,
                "metric": run.metric,
                "gain": _short(gain(rule, control, run)) if control and comparable and run.counts else None,
            }
            for run in runs
        ],
    }


# --- exit code ------------------------------------------------------------------------------------------


def exit_code(conclusion: Conclusion, runs: Sequence[RunEvidence], judgements: Sequence[Judgement]) -> int:
    """Return the exit code of a closing; see `errors.EXIT_CODES`.

    0: there is an answer, also a negative one. Without a decision rule: every required run delivered.
    6: a stop rule ended a required run, and so there is none. 9: a required output was rejected, and so there
    is none. 11: undecided for want of runs.
    """
    if conclusion.verdict in (Answer.ADOPT, Answer.KEEP_CONTROL):
        return 0
    if conclusion.verdict is Answer.STOPPED:
        return StoppedByRule.exit_code
    required = [run for run in runs if run.priority == REQUIRED and run.status != "superseded"]
    names = {run.id for run in required}
    if any(one.verdict is Verdict.REJECTED and one.run in names for one in judgements):
        return DeliverableRejected.exit_code
    if conclusion.asked:
        return NotProven.exit_code
    if any(run.status == "stopped" for run in required):
        return StoppedByRule.exit_code
    return 0 if all(run.status == "completed" for run in required) else NotProven.exit_code

"""Stop rules: written down before the runs, and judged on what is measured and read."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from enum import Enum

from lastro.locale import _
from lastro.records import dataclass
from lastro.rules.corpus import Corpus


class StopKind(str, Enum):
    """The stop rules that a campaign can write down before its runs."""

    NON_FINITE = "non_finite"
    FLOOR = "floor"
    TRUNCATED_INPUT = "truncated_input"
    NO_USABLE_RESUME = "no_usable_resume"


@dataclass(frozen=True, kw_only=True)
class StopRule:
    """One stop rule of the frozen plan.

    `metric` is what non_finite and floor watch; a floor holds from step `after_steps` on.
    """

    kind: StopKind
    metric: str | None = None
    below: float | None = None
    after_steps: int = 0


@dataclass(frozen=True, kw_only=True)
class Stop:
    """A stop rule that has spoken. `value` is a float, a count or a digest, as the rule compares them."""

    kind: StopKind
    why: str
    step: int | None = None
    metric: str | None = None
    value: float | int | str | None = None


def judge_values(rules: Sequence[StopRule], step: int, values: Mapping[str, float]) -> Stop | None:
    """Return the first rule that these measured values of one step break."""
    for rule in rules:
        if rule.metric is None or rule.metric not in values:
            continue
        value = values[rule.metric]
        if rule.kind is StopKind.NON_FINITE and not math.isfinite(value):
            why = _("{metric} is {value} at step {step}").format(metric=rule.metric, value=value, step=step)
            return Stop(kind=rule.kind, why=why, step=step, metric=rule.metric, value=value)
        if rule.kind is StopKind.FLOOR and _under_floor(rule, step, value):
            why = _("{metric} is {value:.6g} at step {step}, below the floor of {below:g}").format(
                metric=rule.metric, value=value, step=step, below=rule.below
            )
            return Stop(kind=rule.kind, why=why, step=step, metric=rule.metric, value=value)
    return None


def _under_floor(rule: StopRule, step: int, value: float) -> bool:
    """Tell whether a floor is broken; a value that is not a number is under every floor."""
    return rule.below is not None and step >= rule.after_steps and not value >= rule.below


def judge_input(
    rules: Sequence[StopRule], corpus: Corpus | None, rows: int | None, digest: str | None
) -> Stop | None:
    """Return a stop when the input that was really read is less than, or other than, the fixed corpus."""
    if corpus is None or all(rule.kind is not StopKind.TRUNCATED_INPUT for rule in rules):
        return None
    if rows is not None and corpus.rows is not None and rows != corpus.rows:
        why = _("{rows} rows of {path} were read, the plan says {expected}").format(
            rows=rows, path=corpus.path, expected=corpus.rows
        )
        return Stop(kind=StopKind.TRUNCATED_INPUT, why=why, value=rows)
    if digest is not None and digest != corpus.digest:
        why = _("{path} has digest {digest}, the plan froze {expected}").format(
            path=corpus.path, digest=digest[:16], expected=corpus.digest[:16]
        )
        return Stop(kind=StopKind.TRUNCATED_INPUT, why=why, value=digest)
    return None


def judge_resume(committed_step: int | None, usable_step: int | None) -> Stop | None:
    """Return a stop when earlier attempts committed a checkpoint and none of them can be used.

    Always in force: going on from step 0 as if nothing had been saved is never what anybody wants.
    """
    if committed_step is None or usable_step is not None:
        return None
    why = _("step {step} was committed before, but no checkpoint can be used here").format(
        step=committed_step
    )
    return Stop(kind=StopKind.NO_USABLE_RESUME, why=why, step=committed_step)

"""Metrics computed again from predictions and truth. What a job said about itself is not asked.

Columns: the key joins the two files; the value is the column `prediction` (in the truth: `label`), else
the one column that is not the key.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import field
from decimal import Decimal
from pathlib import Path

from lastro import strictjson
from lastro.closeout.tables import Table, TableDamaged, number
from lastro.locale import _
from lastro.records import dataclass

PREDICTION, LABEL = "prediction", "label"

#: A claim may be rounded to six decimals.
_CLAIMED_TOLERANCE = 1e-6

#: So many rows are kept one by one for intervals and error analysis; each takes some hundred bytes.
MOST_EXAMPLES = 200_000


@dataclass(frozen=True)
class Metric:
    """A metric that closing can compute: the mean of `score` over the rows.

    `lowest` and `highest` bound its values; None: no bound.
    """

    name: str
    score: Callable[[str, str], float]
    lowest: Decimal | None
    highest: Decimal | None


@dataclass(frozen=True)
class Example:
    """What was predicted of one row. `score`: what it gives to the metric, which is the mean over all."""

    prediction: str
    label: str
    score: float


@dataclass(frozen=True, kw_only=True)
class Measured:
    """A recomputed metric, or why there is none.

    `blames_output`: the predictions are at fault, not the plan or the truth. `examples`: by id, what the
    metric is the mean of; empty when there are more than `MOST_EXAMPLES`.
    """

    value: float | None = None
    problem: str | None = None
    blames_output: bool = False
    examples: Mapping[str, Example] = field(default_factory=dict)


def _equal(prediction: str, label: str) -> bool:
    if prediction == label:
        return True
    left, right = number(prediction), number(label)
    return left is not None and left == right


def _right(prediction: str, label: str) -> float:
    return float(_equal(prediction, label))


def _squared_error(prediction: str, label: str) -> float:
    error = float(prediction) - float(label)
    return error * error


def _absolute_error(prediction: str, label: str) -> float:
    return abs(float(prediction) - float(label))


#: Every metric that a campaign file can name.
METRICS: tuple[Metric, ...] = (
    Metric("accuracy", _right, Decimal(0), Decimal(1)),
    Metric("mse", _squared_error, Decimal(0), None),
    Metric("mae", _absolute_error, Decimal(0), None),
)
_BY_NAME: Mapping[str, Metric] = {metric.name: metric for metric in METRICS}


def unknown_metric(name: str) -> str | None:
    """Return the sentence for a metric that nobody can recompute; None when it is known."""
    if name in _BY_NAME:
        return None
    return _("'{name}' is not a metric that closing can recompute; known are: {known}").format(
        name=name, known=", ".join(_BY_NAME)
    )


def best_possible(name: str, better: str) -> Decimal | None:
    """Return the best value that a metric can have; None when it has no bound or is not known."""
    metric = _BY_NAME.get(name)
    if metric is None:
        return None
    return metric.highest if better == "higher" else metric.lowest


def measure(name: str, predictions: Table, truth: Table, key: str | None) -> Measured:
    """Compute a metric from the rows of both tables, joined by key (without one: by place)."""
    problem = unknown_metric(name)
    if problem is not None:
        return Measured(problem=problem)
    try:
        labels = _values(truth, key, LABEL)
    except TableDamaged as error:
        return Measured(problem=_("the truth cannot be used: {why}").format(why=error))
    if not labels:
        return Measured(problem=_("the truth has no rows"))
    try:
        values = _values(predictions, key, PREDICTION)
    except TableDamaged as error:
        return Measured(problem=str(error), blames_output=True)
    if values.keys() != labels.keys():
        problem = _("{have} predictions and {want} labels do not belong to the same ids").format(
            have=len(values), want=len(labels)
        )
        return Measured(problem=problem, blames_output=True)
    return _computed(_BY_NAME[name], {one: (values[one], labels[one]) for one in labels})


def against_claim(found: Measured, name: str, claim: Path) -> Measured:
    """Return a recomputed metric, or how what the run itself told differs from it.

    Args:
        found: what was recomputed.
        name: of the metric.
        claim: a JSON file that holds it under its name.
    """
    if found.value is None:
        return found
    try:
        claimed = strictjson.number(strictjson.loads(claim.read_bytes())[name])
    except (OSError, ValueError, KeyError, TypeError) as error:
        problem = _("{path} does not tell {metric}: {why}").format(path=claim.name, metric=name, why=error)
        return Measured(problem=problem, blames_output=True)
    if math.isclose(claimed, found.value, rel_tol=_CLAIMED_TOLERANCE, abs_tol=_CLAIMED_TOLERANCE):
        return found
    problem = _("the run claims {metric} {claimed:.6g}, recomputed it is {value:.6g}").format(
        metric=name, claimed=claimed, value=found.value
    )
    return Measured(problem=problem, blames_output=True)


def _values(table: Table, key: str | None, name: str) -> dict[str, str]:
    place = table.index(table.value_column(key, name))
    return {one: row[place] for one, row in table.by_id(key).items()}


def _computed(metric: Metric, pairs: Mapping[str, tuple[str, str]]) -> Measured:
    try:
        scores = {one: metric.score(prediction, label) for one, (prediction, label) in pairs.items()}
        value = math.fsum(scores.values()) / len(scores)
    except (ValueError, OverflowError) as error:
        problem = _("{metric} cannot be computed: {why}").format(metric=metric.name, why=error)
        return Measured(problem=problem, blames_output=True)
    if not math.isfinite(value):
        problem = _("{metric} is {value}").format(metric=metric.name, value=value)
        return Measured(problem=problem, blames_output=True)
    examples = {}
    if len(pairs) <= MOST_EXAMPLES:
        examples = {one: Example(*pair, scores[one]) for one, pair in pairs.items()}
    return Measured(value=value, examples=examples)

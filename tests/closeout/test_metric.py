from __future__ import annotations

from decimal import Decimal

import pytest

from lastro.closeout.metric import METRICS, best_possible, measure, unknown_metric
from lastro.closeout.tables import Table


def table(columns: str, *rows: str) -> Table:
    return Table(tuple(columns.split(",")), tuple(tuple(row.split(",")) for row in rows))


TRUTH = table("id,label", "a,1", "b,2", "c,5")
PREDICTED = table("id,prediction,score", "c,3,0.1", "a,1,0.9", "b,2,0.5")


@pytest.mark.parametrize(("name", "value"), [("accuracy", 2 / 3), ("mse", 4 / 3), ("mae", 2 / 3)])
def test_metrics_by_hand(name: str, value: float) -> None:
    """Labels 1, 2, 5; predictions 1, 2, 3: two of three right, one error of 2."""
    assert measure(name, PREDICTED, TRUTH, "id").value == value


def test_every_metric_is_known_by_its_name() -> None:
    assert [unknown_metric(metric.name) for metric in METRICS] == [None] * len(METRICS)
    assert unknown_metric("beauty") == (
        "'beauty' is not a metric that closing can recompute; known are: accuracy, mse, mae"
    )


def test_the_value_is_the_one_column_beside_the_key_when_none_has_the_usual_name() -> None:
    named_otherwise = table("id,digit", "a,1", "b,2", "c,3"), table("id,y", "a,1", "b,2", "c,5")
    assert measure("accuracy", *named_otherwise, "id").value == 2 / 3
    unclear = measure("accuracy", table("id,x,y", "a,1,1"), TRUTH, "id")
    assert unclear.problem is not None
    assert "x, y" in unclear.problem
    assert unclear.blames_output


def test_labels_may_be_texts_and_numbers_may_be_spelled_differently() -> None:
    assert measure("accuracy", table("id,p", "a,cat"), table("id,l", "a,cat"), "id").value == 1.0
    assert measure("accuracy", table("id,p", "a,3.0"), table("id,l", "a,3"), "id").value == 1.0


def test_predictions_for_other_ids_have_no_metric() -> None:
    found = measure("accuracy", table("id,prediction", "a,1", "b,2", "d,5"), TRUTH, "id")

    assert found.value is None
    assert found.blames_output


def test_a_truth_that_cannot_be_used_is_not_the_fault_of_the_predictions() -> None:
    found = measure("accuracy", PREDICTED, table("name,label", "a,1"), "id")

    assert found.problem is not None
    assert "the truth cannot be used" in found.problem
    assert not found.blames_output


@pytest.mark.parametrize("bad", ["nan", "cat"])
def test_a_metric_that_is_no_number_is_refused(bad: str) -> None:
    found = measure("mse", table("id,prediction", f"a,{bad}", "b,2", "c,5"), TRUTH, "id")

    assert found.value is None
    assert found.blames_output


def test_bounds_know_in_which_direction_a_metric_is_better() -> None:
    assert best_possible("accuracy", "higher") == Decimal(1)
    assert best_possible("mse", "lower") == Decimal(0)
    assert best_possible("mse", "higher") is None
    assert best_possible("beauty", "higher") is None

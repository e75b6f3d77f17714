from __future__ import annotations

from decimal import Decimal
from pathlib import Path

from lastro import strictjson
from lastro.closeout.promise import DecisionRule, Deliverable, MetricRule, promise_of
from tests.plan.test_build import design_plan


def test_the_promise_is_read_from_a_frozen_plan_as_it_lies_on_the_disk(tmp_path: Path) -> None:
    frozen = strictjson.loads(strictjson.dumps(design_plan(tmp_path).as_json()))

    promise = promise_of(frozen)

    assert promise.deliverables == (
        Deliverable(
            name="predictions",
            path="predictions.csv",
            key="id",
            rows=360,
            metric=MetricRule(name="accuracy", truth="data/test.csv"),
        ),
        Deliverable(
            name="model",
            path="model.safetensors",
            reload="python reload.py {path}",
            compare="predictions",
        ),
    )
    assert promise.decision == DecisionRule(
        metric="accuracy", better="higher", margin=Decimal("0.01"), over="control", unit=None
    )


def test_a_plan_may_promise_nothing() -> None:
    assert promise_of({"deliverables": [], "decision": None}).deliverables == ()
    assert promise_of({}).decision is None


def test_a_margin_is_the_number_that_was_written_and_none_is_no_unit() -> None:
    rule = {"metric": "accuracy", "better": "higher", "over": "control"}

    written = promise_of({"decision": {**rule, "adopt_margin": 0.1, "unit": "none"}}).decision

    assert written is not None
    assert (written.margin, written.unit) == (Decimal("0.1"), None)

"""The best checkpoint is that of the decision, unless the file names another metric."""

from __future__ import annotations

from pathlib import Path

import pytest

from lastro.plan.best import best_of
from lastro.rules import Best
from tests.plan.planning import campaign, plan

LOWER = "decision: {metric: loss, better: lower, adopt_if: -0.1 over control, unit: none}\n"
OWN = "checkpoint: {best: {metric: accuracy, better: higher}}\n"
SAVES = "checkpoints: out/step-*\n"


@pytest.mark.parametrize(
    ("extra", "expected"),
    [
        ("", None),
        (LOWER, Best(metric="loss", higher=False)),
        (LOWER + OWN, Best(metric="accuracy", higher=True)),
        (LOWER + SAVES, None),
        (LOWER + "resume: items\n", None),
    ],
    ids=["no-decision", "decision", "its-own", "own-saves", "items"],
)
def test_the_metric_of_the_best(tmp_path: Path, extra: str, expected: Best | None) -> None:
    assert best_of(campaign(tmp_path, extra)) == expected


@pytest.mark.parametrize(("extra", "told"), [(LOWER, True), (LOWER + OWN, False)])
def test_a_plan_says_where_it_comes_from(tmp_path: Path, extra: str, told: bool) -> None:
    made = plan(tmp_path, extra)

    assert made.checkpoint.best == best_of(campaign(tmp_path, extra))
    assert any(finding.code == "best_by_decision" for finding in made.findings) is told

"""How long a pilot is: what comes before a decision, else the stage that is one."""

from __future__ import annotations

from pathlib import Path

import pytest

from lastro.plan.pilot import Pilot, pilot_of
from tests.plan.planning import ARTICLE, VARIANTS, campaign, plan

BEFORE_A_DECISION = """\
stages:
  first: {run: control, gpu: 1, part: 10 %, decide: true}
  run: {each: run, gpu: 1, hours: 20}
"""
#: 3 h for each run, though the stage is not named after what it is for.
OF_EACH_RUN = "stages:\n  try: {each: run, gpu: 1, hours: 3, does: pilot}\n"


@pytest.mark.parametrize(
    ("stages", "run", "expected"),
    [
        (ARTICLE, "wide", Pilot(hours=2.0, why="the stage pilot")),
        (OF_EACH_RUN, "wide", Pilot(hours=3.0, why="the stage try wide")),
        (
            BEFORE_A_DECISION,
            "control",
            Pilot(hours=2.0, why="what control does before the decision after first"),
        ),
        (BEFORE_A_DECISION, "wide", Pilot(hours=None, why="no stage of the plan is a pilot")),
        ("", "control", Pilot(hours=None, why="no stage of the plan is a pilot")),
    ],
)
def test_the_length_of_a_pilot(tmp_path: Path, stages: str, run: str, expected: Pilot) -> None:
    text = VARIANTS + stages

    assert pilot_of(plan(tmp_path, text), campaign(tmp_path, text).stages, run) == expected

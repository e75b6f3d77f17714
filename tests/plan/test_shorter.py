from __future__ import annotations

from pathlib import Path

import pytest

from lastro.plan.calendar import lay_out
from lastro.plan.intervals import work_of
from lastro.plan.shorter import shorter

from .planning import campaign

#: In the order of the file 2 + 2 fill two machines and 5 comes last: 7 h. Begun first, 5 hours are enough.
STAGES = """\
machines: 2
stages:
  a: {gpu: 1, run: control, hours: 2, after: []}
  b: {gpu: 1, hours: 2, after: []}
  c: {gpu: 1, hours: 5, after: []}
"""


def test_the_longest_goes_first_where_that_ends_earlier(tmp_path: Path) -> None:
    pytest.importorskip("ortools")
    work = work_of(campaign(tmp_path, STAGES))
    first = lay_out(work, machines=2)

    second = shorter(work, first, machines=2)

    assert first.total is not None and second.total is not None
    assert (first.total.likely, second.total.likely, second.least_hours) == (7.0, 5.0, 5.0)
    assert {slot.stage: slot.lane for slot in second.slots}["c"] not in {
        slot.lane for slot in second.slots if slot.stage != "c"
    }


def test_a_calendar_that_cannot_be_shorter_stays_as_it_is(tmp_path: Path) -> None:
    work = work_of(campaign(tmp_path, STAGES.replace("machines: 2", "machines: 1")))
    first = lay_out(work, machines=1)

    assert shorter(work, first, machines=1) is first

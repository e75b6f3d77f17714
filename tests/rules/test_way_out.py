from __future__ import annotations

from datetime import datetime, timezone

import pytest

from lastro.clock import iso
from lastro.rules import Limits, judge_limits, leaving_seconds


def test_the_last_save_begins_earlier_by_its_way_off_the_machine() -> None:
    """A save of 10 s, a step of 2 s: 2 * 10 + 2 + 5 = 27 s; 30 s of way out make it 27 + 2 * 30 = 87 s."""
    assert leaving_seconds(10, 2, 30) == pytest.approx(27)
    assert leaving_seconds(10, 2, 30, way_out_seconds=30) == pytest.approx(87)


def test_the_job_has_to_have_ended_before_its_save_takes_the_way_out() -> None:
    """80 s before the lease ends it is asked; 5 s are kept, and twice 30 s for the way: it has 15 s."""
    end, now = (
        datetime(2026, 11, 30, 12, minute, second, tzinfo=timezone.utc)
        for minute, second in ((10, 0), (8, 40))
    )
    limits = Limits(lease_end_at=iso(end))

    leave = judge_limits(limits, now, leaving=87, way_out_seconds=30)
    without = judge_limits(limits, now, leaving=87)

    assert leave is not None
    assert without is not None
    assert leave.seconds == pytest.approx(15)
    assert without.seconds == pytest.approx(75)

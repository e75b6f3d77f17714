from __future__ import annotations

import pytest

from lastro.spec.by_hour import hours_of_day


def test_a_part_of_the_day_may_pass_midnight() -> None:
    assert hours_of_day("22-06") == (22, 23, 0, 1, 2, 3, 4, 5)
    assert hours_of_day("08-10") == (8, 9)
    assert len(hours_of_day("0-24")) == 24


@pytest.mark.parametrize("text", ["6-6", "25-3", "3-25", "-1-3", "22:00-06:00", "night", ""])
def test_what_is_no_part_of_the_day_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="not a part of the day"):
        hours_of_day(text)

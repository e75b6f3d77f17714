"""Which faults broke a promise."""

from __future__ import annotations

from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lastro.plan.rehearsal_blame import Blame, blame


def over(limit: float, costs: Mapping[int, float], without: frozenset[int]) -> bool:
    return sum(cost for number, cost in costs.items() if number not in without) > limit


@pytest.mark.parametrize(
    ("limit", "expected"),
    [
        (4, Blame(of=(0,), alone=True)),  # 9 - 5 = 4
        (7, Blame(of=(0,), alone=True)),  # 9 - 3 = 6 would do too: the dearest is named
        (2, Blame(of=(0, 1))),  # 9 - 5 - 3 = 1
        (0.5, Blame(of=(0, 1, 2))),
        (-1, Blame(of=())),  # over without any of them
    ],
)
def test_the_dearest_that_is_enough_is_blamed_else_as_few_as_are(limit: float, expected: Blame) -> None:
    costs = {0: 5.0, 1: 3.0, 2: 1.0}

    assert blame(lambda without: over(limit, costs, without), costs) == expected


@given(
    costs=st.dictionaries(st.integers(0, 8), st.integers(0, 20).map(float), min_size=1),
    limit=st.integers(0, 60),
)
def test_without_what_is_blamed_it_would_have_held_and_each_of_them_is_needed(
    costs: dict[int, float], limit: int
) -> None:
    if not over(limit, costs, frozenset()):
        return
    found = blame(lambda without: over(limit, costs, without), costs).of

    assert not over(limit, costs, frozenset(found))
    assert all(over(limit, costs, frozenset(found) - {number}) for number in found)

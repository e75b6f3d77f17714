from __future__ import annotations

import pytest

from benchmarks.instances.campaigns import campaign
from lastro.plan.solve import QUICK, Solution, check, solve, solve_greedily
from lastro.plan.solve.bound import lower_bound
from lastro.plan.solve.calendar import Limits
from lastro.plan.solve.greedy import candidates, search
from lastro.plan.solve.improve import improve
from lastro.plan.solve.layout import judged, objective_of
from lastro.plan.solve.listing import Shop
from lastro.plan.solve.shelf import families

pytest.importorskip("ortools")


def test_a_part_at_a_time_makes_a_plan_of_twenty_stages_cheaper_and_twice_the_same() -> None:
    one = campaign(20, 4, 40, 1)
    shop, shelf = Shop(one), families(one)
    listed = search(shop, shelf, trials=20).listed
    floor = lower_bound(one)
    assert not listed.late

    better = [
        improve(
            one,
            listed.layout,
            candidates(shop, shelf, {}),
            floor=floor,
            goal=floor,
            limits=Limits(work=0.2, wall_seconds=300.0),
        ).layout
        for _time in range(2)
    ]

    assert objective_of(one, better[0]) < listed.objective
    assert better[0] == better[1]
    assert check(one, judged(one, better[0], bound=floor, method="packages+calendar", why="")) == []


def test_twenty_stages_on_forty_offers_come_near_to_their_bound_where_lists_do_not() -> None:
    pytest.importorskip("highspy")
    one = campaign(20, 4, 40, 1)
    answer, listed = solve(one, effort=QUICK), solve_greedily(one, effort=QUICK)

    assert isinstance(answer, Solution) and isinstance(listed, Solution)
    assert answer.gap is not None and answer.gap <= QUICK.enough
    assert listed.objective > answer.objective >= (listed.bound or 0)

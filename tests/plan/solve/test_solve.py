"""Laws of solving, on small problems with every feature; the oracle looks at every plan there is."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lastro.plan.solve import NoPlan, Package, Problem, Solution, check, run, solve, solve_greedily
from lastro.plan.solve.layout import BrokenRule

from . import problems as draw
from .problems import hourly, lot, problem, task

few = settings(max_examples=20, deadline=None, suppress_health_check=list(HealthCheck))


def objective(answer: Solution | NoPlan) -> float:
    """Return the proven objective; infinity when it is proven that there is no plan."""
    assert answer.proven
    return answer.objective if isinstance(answer, Solution) else float("inf")


@few
@given(one=draw.problems())
def test_small_problems_are_solved_exactly_and_every_bound_holds(one: Problem) -> None:
    best = draw.best_of_all(one)

    exact, listed = solve(one), solve_greedily(one)

    assert exact.proven
    assert (best is None) == isinstance(exact, NoPlan)
    for answer in (exact, listed):
        if isinstance(answer, Solution):
            assert best is not None
            assert check(one, answer) == []
            assert answer.cost == sum(machine.cost for machine in answer.held)
            assert answer.bound is not None
            assert answer.bound <= best.objective <= answer.objective
            assert not answer.proven or answer.objective == best.objective
        else:
            assert best is None or not answer.proven


@few
@given(one=draw.problems(most_tasks=6, longest=5), more=st.integers(1, 6))
def test_a_longer_window_never_costs_more(one: Problem, more: int) -> None:
    longer = replace(one, window_ticks=(one.window_ticks or 0) + more)

    assert objective(solve(longer)) <= objective(solve(one))


@few
@given(one=draw.problems(most_tasks=6, longest=5), offer=draw.packages("new"))
def test_one_more_offer_never_raises_the_best(one: Problem, offer: Package) -> None:
    assert objective(solve(replace(one, packages=(*one.packages, offer)))) <= objective(solve(one))


@few
@given(one=draw.problems(most_tasks=6, longest=5))
def test_the_same_problem_has_the_same_plan_and_lists_are_never_better(one: Problem) -> None:
    answer, listed = solve(one), solve_greedily(one)

    assert answer == solve(one)
    assert listed == solve_greedily(one)
    if isinstance(listed, Solution):
        assert isinstance(answer, Solution)
        assert answer.bound is not None and listed.objective >= answer.bound
        assert answer.objective <= listed.objective


def test_48_hours_in_a_row_take_one_lot_of_three_days() -> None:
    """Six stages of 8 h: one 4090 for 3 days, 47.14; a week would be 110."""
    stages = [task(f"s{n}", 8, after=(f"s{n - 1}",) if n else ()) for n in range(6)]
    lots = [
        lot("three days", price=47_140_000, term=72, renewal=47_140_000),
        lot("a week", price=110_000_000, term=168),
    ]
    answer = solve(problem(stages, lots, window_ticks=72))

    assert isinstance(answer, Solution) and answer.proven
    assert (answer.cost, answer.end_ticks, [one.package for one in answer.held]) == (
        47_140_000,
        48,
        ["three days"],
    )


def test_78_hours_of_independent_runs_take_two_lots_in_three_days_and_one_run_does_not_fit() -> None:
    """Two runs of 39 h: 2 x 47.14 = 94.28 side by side. A second lot never makes one run of 78 h shorter."""
    lots = [lot("three days", price=47_140_000, term=72), lot("a week", price=110_000_000, term=168)]
    two = solve(problem([task("a", 39), task("b", 39)], lots, window_ticks=72))
    one = solve(problem([task("a", 78)], lots, window_ticks=72))

    assert isinstance(two, Solution) and two.cost == 94_280_000 and two.proven
    assert isinstance(one, NoPlan) and one.proven
    assert one.cheapest_violation is not None
    assert (one.cheapest_violation.end_ticks, one.cheapest_violation.cost) == (78, 110_000_000)


def test_a_lot_with_two_machines_has_its_price_once_and_beats_two_of_one() -> None:
    pair, single = lot("pair", price=150, machines=2), lot("single", price=100)
    answer = solve(problem([task("a", 8), task("b", 8)], [pair, single], window_ticks=10))

    assert isinstance(answer, Solution)
    assert (answer.cost, [one.package for one in answer.held]) == (150, ["pair", "pair"])


def test_500_gb_out_flip_the_choice() -> None:
    """10 h at 0.35 and 500 GB at 0.09 are 48.50; 10 h at 0.69 without a price for what leaves it are 6.90."""
    paid, free = hourly("paid", price=350_000, per_out=90_000), hourly("free", price=690_000)
    small = solve(problem([task("a", 10, out=5)], [paid, free], window_ticks=10))
    large = solve(problem([task("a", 10, out=500)], [paid, free], window_ticks=10))

    assert isinstance(small, Solution) and (small.cost, small.held[0].package) == (3_950_000, "paid")
    assert isinstance(large, Solution) and (large.cost, large.held[0].package) == (6_900_000, "free")


def test_what_costs_more_than_it_is_worth_is_left_out_with_what_waits_for_it() -> None:
    """The first hour costs 10 and is worth 4, what waits for it 5: both stay away."""
    tasks = [task("needed", 1), task("first", 1, left_out=4), task("next", 1, after=("first",), left_out=5)]
    answer = solve(problem(tasks, [hourly()], window_ticks=9))

    assert isinstance(answer, Solution)
    assert (answer.left_out, answer.cost, answer.objective) == (("first", "next"), 10, 19)


def test_runs_stay_on_their_machine() -> None:
    """Parts of 3 h and 5 h with 4 h of a person between; two such runs in 14 h need both machines."""
    tasks = [
        each
        for run_name in ("x", "y")
        for each in (
            task(f"{run_name}1", 3, group=run_name),
            task(f"{run_name}2", 5, group=run_name, after=(f"{run_name}1",)),
        )
    ]
    answer = solve(problem(tasks, [hourly()], window_ticks=10))

    assert isinstance(answer, Solution)
    where = {one.task: one.machine for one in answer.placed}
    assert where["x1"] == where["x2"] != where["y1"] == where["y2"]


def test_a_budget_below_every_plan_is_answered_with_the_least_money() -> None:
    answer = solve(problem([task("a", 3), task("b", 1, left_out=50)], [hourly()], window_ticks=9, budget=25))

    assert isinstance(answer, NoPlan) and answer.proven
    assert answer.cheapest_violation is not None
    assert (answer.cheapest_violation.cost, answer.cheapest_violation.left_out) == (30, ("b",))


def test_a_task_that_nothing_can_run_is_named() -> None:
    answer = solve(problem([task("wide", 1, gpus=2)], [hourly()], window_ticks=9))

    assert isinstance(answer, NoPlan) and answer.proven and "wide" in answer.why


def test_a_person_who_is_needed_too_long_is_named() -> None:
    tasks = [task(f"t{n}", 3, person="eva") for n in range(4)]
    answer = solve(problem(tasks, [hourly()], window_ticks=11))

    assert isinstance(answer, NoPlan) and "eva is needed for 12 ticks, the window has 11" in answer.why
    assert answer.cheapest_violation is not None and answer.cheapest_violation.end_ticks == 12


def test_nothing_to_do_costs_nothing() -> None:
    answer = solve(problem([], [hourly()], window_ticks=9))

    assert isinstance(answer, Solution) and (answer.cost, answer.proven, answer.held) == (0, True, ())


def test_without_the_solvers_lists_answer_and_say_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run, "find_spec", lambda name: None)
    one = problem([task("a", 3), task("b", 2, after=("a",))], [hourly(), lot(term=9)], window_ticks=9)
    answer = solve(one)

    assert isinstance(answer, Solution) and answer == solve_greedily(one)
    assert answer.method == "greedy" and "extra `plan`" in answer.why


def test_an_answer_that_breaks_a_rule_costs_nobody_his_plan(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_given: object) -> Solution:
        raise BrokenRule("two tasks at once on one GPU")

    one = problem([task("a"), task("b")], [hourly()])
    monkeypatch.setattr(run, "solve_exactly", broken)

    assert solve(one) == solve_greedily(one)

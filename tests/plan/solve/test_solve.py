"""Laws of solving, on small problems with every feature; the oracle looks at every plan there is."""

from __future__ import annotations

from hypothesis import HealthCheck, given, settings

from lastro.plan.solve import Problem, Solution, check, solve, solve_greedily

from . import problems as draw

few = settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))


@few
@given(one=draw.problems())
def test_what_is_proven_is_the_best_of_all_plans_and_every_bound_is_below_it(one: Problem) -> None:
    best = draw.best_of_all(one)

    for answer in (solve(one), solve_greedily(one)):
        if isinstance(answer, Solution):
            assert best is not None
            assert check(one, answer) == []
            assert (answer.bound or 0) <= best.objective <= answer.objective
            assert not answer.proven or answer.objective == best.objective
        else:
            assert best is None or not answer.proven
    if best is not None:
        exact = solve(one)
        assert isinstance(exact, Solution) and exact.proven

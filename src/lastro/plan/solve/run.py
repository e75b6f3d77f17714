"""Solve a problem by the best way that is there; when nothing keeps all limits, say what comes nearest."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from importlib.util import find_spec

from lastro.locale import _
from lastro.plan.solve.bound import lower_bound
from lastro.plan.solve.calendar import cp_sat_is_there
from lastro.plan.solve.effort import NORMAL, Effort
from lastro.plan.solve.exact import solve_exactly
from lastro.plan.solve.greedy import earliest_end, search
from lastro.plan.solve.layout import BrokenRule, Layout, judged
from lastro.plan.solve.listing import Shop
from lastro.plan.solve.problem import Problem
from lastro.plan.solve.refusal import obstacle
from lastro.plan.solve.shelf import families
from lastro.plan.solve.solution import NoPlan, Solution

Way = Callable[[Problem], Solution | NoPlan]


def solve(problem: Problem, *, effort: Effort = NORMAL) -> Solution | NoPlan:
    """Return the plan with the least objective that the effort finds, with its bound; or why there is none.

    The same problem and effort give the same answer. Without HiGHS and CP-SAT, and where what they answer
    breaks a rule, `solve_greedily` answers.
    """
    if not solvers_are_there():
        return solve_greedily(problem, effort=effort)
    try:
        return _with_violation(problem, lambda one: solve_exactly(one, effort))
    except BrokenRule:
        # A fault of a solver, or of what asks it, must not cost the user his plan.
        return solve_greedily(problem, effort=effort)


def solve_greedily(problem: Problem, *, effort: Effort = NORMAL) -> Solution | NoPlan:
    """Do the same without any solver: a plan by list scheduling, with a bound that is valid but weaker."""
    return _with_violation(problem, lambda one: _greedily(one, effort))


def solvers_are_there() -> bool:
    """Say whether the extra `plan` is installed; nothing is loaded by asking."""
    return find_spec("highspy") is not None and cp_sat_is_there()


def _greedily(problem: Problem, effort: Effort) -> Solution | NoPlan:
    found = search(Shop(problem), families(problem), trials=2 * effort.lists)
    if found.listed.late or found.listed.over:
        return NoPlan(why=_("the list scheduler found no plan; that there is none is not proven"))
    bound = min(lower_bound(problem), found.listed.objective)
    return judged(
        problem,
        found.listed.layout,
        bound=bound,
        method="greedy",
        why=_("by list scheduling, without the solvers of the extra `plan`; a better plan may exist"),
    )


def _with_violation(problem: Problem, way: Way) -> Solution | NoPlan:
    """Solve it; when that fails, leave away the budget, then the window, and say by how much it is missed."""
    why = obstacle(problem)
    answer = NoPlan(why=why, proven=True) if why else way(problem)
    if isinstance(answer, Solution):
        return answer
    if problem.budget is not None:
        return _without_budget(problem, problem.budget, answer, way)
    if problem.window_ticks is not None:
        return _without_window(problem, answer, way)
    return answer


def _without_budget(problem: Problem, budget: int, answer: NoPlan, way: Way) -> NoPlan:
    """Look for the least money: what need not be done is left out when it costs anything."""
    unlimited = replace(problem, budget=None)
    bare = tuple(task if task.left_out is None else replace(task, left_out=0) for task in problem.tasks)
    cheapest = _with_violation(replace(unlimited, tasks=bare), way)
    if isinstance(cheapest, NoPlan):
        return cheapest
    bound = cheapest.bound or 0
    violation = judged(
        unlimited,
        Layout(held=cheapest.held, placed=cheapest.placed),
        bound=bound,
        method=cheapest.method,
        why=_("the least money that was found without the budget"),
    )
    return NoPlan(why=answer.why, cheapest_violation=violation, proven=answer.proven or bound > budget)


def _without_window(problem: Problem, answer: NoPlan, way: Way) -> NoPlan:
    open_end = replace(problem, window_ticks=None)
    if obstacle(open_end):
        return answer
    end = earliest_end(Shop(open_end), families(open_end))
    if end is None:
        return answer
    later = way(replace(problem, window_ticks=end))
    return NoPlan(
        why=answer.why,
        cheapest_violation=later if isinstance(later, Solution) else None,
        proven=answer.proven,
    )

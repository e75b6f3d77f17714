"""Which packages to rent and when everything runs: the least objective, with a proven bound.

`solve` takes HiGHS and CP-SAT (the extra `plan`) where they are there, and `solve_greedily` where they are
not.
"""

from __future__ import annotations

from lastro.plan.solve.check import check
from lastro.plan.solve.cost import billed_ticks, cost_of
from lastro.plan.solve.effort import NORMAL, QUICK, THOROUGH, Effort
from lastro.plan.solve.problem import Package, Problem, Task
from lastro.plan.solve.run import solve, solve_greedily
from lastro.plan.solve.shortest import machine, shortest
from lastro.plan.solve.solution import Held, NoPlan, Placed, Solution, gap_of

__all__ = [
    "NORMAL",
    "QUICK",
    "THOROUGH",
    "Effort",
    "Held",
    "NoPlan",
    "Package",
    "Placed",
    "Problem",
    "Solution",
    "Task",
    "billed_ticks",
    "check",
    "cost_of",
    "gap_of",
    "machine",
    "shortest",
    "solve",
    "solve_greedily",
]

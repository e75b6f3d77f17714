"""A small mixed-integer program, handed to HiGHS as a whole: columns and rows are collected first."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import field
from typing import Any

from lastro.records import dataclass

#: HiGHS decides with tolerances of 1e-6 or finer; what it calls a bound is believed with this much less.
TOLERANCE = 1e-6


@dataclass(frozen=True, kw_only=True)
class Answer:
    """What came out. values: of each column, None when no solution was found.

    bound: no solution has a lower objective, tolerance taken off; -inf when nothing is known. impossible: it
    is proven that there is no solution. limit: the time limit struck, so another machine may answer
    otherwise.
    """

    values: tuple[float, ...] | None
    bound: float
    impossible: bool
    limit: bool
    seconds: float


@dataclass
class Mip:
    """Minimise the sum of cost x column; every row lies between its limits."""

    costs: list[float] = field(default_factory=list)
    lows: list[float] = field(default_factory=list)
    highs: list[float] = field(default_factory=list)
    whole: list[bool] = field(default_factory=list)
    rows: list[tuple[float, dict[int, float], float]] = field(default_factory=list)

    def column(
        self, *, cost: float = 0.0, low: float = 0.0, high: float = math.inf, whole: bool = False
    ) -> int:
        """Add a column and return its number."""
        self.costs.append(cost)
        self.lows.append(low)
        self.highs.append(high)
        self.whole.append(whole)
        return len(self.costs) - 1

    def row(self, terms: Mapping[int, float], *, low: float = -math.inf, high: float = math.inf) -> None:
        """Add low <= sum of factor x column <= high."""
        self.rows.append((low, {column: factor for column, factor in terms.items() if factor}, high))

    def solve(self, *, nodes: int, gap: float, seconds: float) -> Answer:
        """Solve by HiGHS, which is deterministic with one thread unless the time limit strikes."""
        import highspy

        # `Highs` prints a banner when it is made, before it can be told not to; the class below it does not.
        highs: Any = vars(highspy.highs)["_Highs"]()
        for option, value in {
            "output_flag": False,
            "threads": 1,
            "random_seed": 0,
            "mip_max_nodes": nodes,
            "mip_rel_gap": gap,
            "mip_abs_gap": 0.0,
            "time_limit": seconds,
        }.items():
            highs.setOptionValue(option, value)
        highs.passModel(self._model(highspy))
        highs.run()
        status, info = highs.getModelStatus(), highs.getInfo()
        found = info.primal_solution_status == highspy.SolutionStatus.kSolutionStatusFeasible
        bound = float(info.mip_dual_bound)
        return Answer(
            values=tuple(highs.getSolution().col_value) if found else None,
            bound=bound - TOLERANCE * max(1.0, abs(bound)) if math.isfinite(bound) else -math.inf,
            impossible=status == highspy.HighsModelStatus.kInfeasible,
            limit=status == highspy.HighsModelStatus.kTimeLimit,
            seconds=float(highs.getRunTime()),
        )

    def _model(self, highspy: Any) -> Any:
        model = highspy.HighsLp()
        model.num_col_, model.num_row_ = len(self.costs), len(self.rows)
        model.col_cost_, model.col_lower_, model.col_upper_ = self.costs, self.lows, self.highs
        model.row_lower_ = [low for low, _terms, _high in self.rows]
        model.row_upper_ = [high for _low, _terms, high in self.rows]
        kinds = highspy.HighsVarType
        model.integrality_ = [kinds.kInteger if whole else kinds.kContinuous for whole in self.whole]
        matrix = model.a_matrix_
        matrix.format_ = highspy.MatrixFormat.kRowwise
        starts, places, factors = [0], [], []
        for _low, terms, _high in self.rows:
            places += list(terms)
            factors += list(terms.values())
            starts.append(len(places))
        matrix.start_, matrix.index_, matrix.value_ = starts, places, factors
        return model

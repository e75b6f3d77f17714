"""Recomputed predictions against delivered ones: joined by key, each column by its own kind. Pure."""

from __future__ import annotations

import math
from collections.abc import Mapping

from lastro.closeout.tables import Table, TableDamaged, number
from lastro.locale import _
from lastro.records import dataclass

#: How many differences are kept by name; all are counted.
_NAMED = 5


@dataclass(frozen=True, kw_only=True)
class Tolerance:
    """How far apart two decimal numbers may lie. Texts and whole numbers have to be equal.

    `absolute` is for numbers near zero, where a share of the value means nothing.
    """

    relative: float = 1e-5
    absolute: float = 1e-9


@dataclass(frozen=True)
class Difference:
    """One cell that differs; None where a side lacks the row."""

    id: str
    column: str
    delivered: str | None
    recomputed: str | None

    def __str__(self) -> str:
        if self.delivered is None or self.recomputed is None:
            text = _("{id}: only delivered") if self.recomputed is None else _("{id}: only recomputed")
            return text.format(id=self.id)
        return _("{id}, {column}: delivered {delivered}, recomputed {recomputed}").format(
            id=self.id, column=self.column, delivered=self.delivered, recomputed=self.recomputed
        )


@dataclass(frozen=True, kw_only=True)
class Comparison:
    """What comparing two tables showed. `problem`: why they could not be compared at all.

    `largest_gap`: the largest absolute difference of two decimal numbers, also within tolerance.
    """

    rows: int = 0
    different: int = 0
    first: tuple[Difference, ...] = ()
    largest_gap: float = 0.0
    problem: str | None = None

    @property
    def equal(self) -> bool:
        return self.different == 0 and self.problem is None

    @property
    def why(self) -> str:
        """Say in one sentence what was found."""
        if self.problem is not None:
            return self.problem
        if self.equal and self.rows == 0:
            return _("the content is the same")
        if self.equal:
            return _("all {rows} rows were recomputed").format(rows=self.rows)
        return _("{count} of the recomputed values differ from the delivered ones; first: {first}").format(
            count=self.different, first="; ".join(str(one) for one in self.first)
        )


def compare(
    delivered: Table, recomputed: Table, key: str | None, tolerance: Tolerance | None = None
) -> Comparison:
    """Compare two tables by id (without a key: by place). The order of rows and columns does not matter."""
    lacking = [column for column in delivered.columns if column not in recomputed.columns]
    if lacking:
        problem = _("the recomputed table lacks the columns {columns}").format(columns=", ".join(lacking))
        return Comparison(problem=problem)
    try:
        ours, theirs = delivered.by_id(key), recomputed.by_id(key)
    except TableDamaged as error:
        return Comparison(problem=str(error))
    differences = _only_in_one(ours, theirs)
    gap = 0.0
    places = [(column, delivered.index(column), recomputed.index(column)) for column in delivered.columns]
    allowed = tolerance or Tolerance()
    for one in ours.keys() & theirs.keys():
        for column, here, there in places:
            left, right = ours[one][here], theirs[one][there]
            same, distance = _same(left, right, allowed)
            gap = max(gap, distance)
            if not same:
                differences.append(Difference(one, column, left, right))
    order = {one: place for place, one in enumerate([*ours, *theirs])}
    differences.sort(key=lambda difference: order[difference.id])
    return Comparison(
        rows=len(ours), different=len(differences), first=tuple(differences[:_NAMED]), largest_gap=gap
    )


def _only_in_one(
    ours: Mapping[str, tuple[str, ...]], theirs: Mapping[str, tuple[str, ...]]
) -> list[Difference]:
    delivered = [Difference(one, "", one, None) for one in ours if one not in theirs]
    return delivered + [Difference(one, "", None, one) for one in theirs if one not in ours]


def _same(left: str, right: str, tolerance: Tolerance) -> tuple[bool, float]:
    if left == right:
        return True, 0.0
    if _is_whole(left) and _is_whole(right):
        return int(left) == int(right), 0.0
    a, b = number(left), number(right)
    if a is None or b is None:
        return False, 0.0
    if not (math.isfinite(a) and math.isfinite(b)):
        return a == b or (math.isnan(a) and math.isnan(b)), 0.0
    return math.isclose(a, b, rel_tol=tolerance.relative, abs_tol=tolerance.absolute), abs(a - b)


def _is_whole(text: str) -> bool:
    return text.lstrip("+-").isdecimal()

from __future__ import annotations

import csv
import random
from dataclasses import replace
from pathlib import Path

import pytest

from lastro.closeout.identity import content_parts
from lastro.closeout.judge import Judgement, Verdict
from lastro.closeout.near import mark_near, resemblance, sketch_of


def table(path: Path, rows: list[int]) -> tuple[int, ...]:
    with path.open("w", newline="") as file:
        csv.writer(file).writerows([["id", "value"], *([row, row * row] for row in rows)])
    return sketch_of(content_parts(path))


def test_the_share_of_common_rows_by_hand(tmp_path: Path) -> None:
    """100 rows and a header each, 90 rows and the header in common: 91 of 111."""
    one = table(tmp_path / "a.csv", list(range(100)))
    other = table(tmp_path / "b.csv", list(range(10, 110)))

    assert resemblance(one, other) == pytest.approx(91 / 111)
    assert resemblance(one, one) == 1.0
    assert resemblance(one, ()) == resemblance((), ()) == 0.0


def test_of_many_rows_the_share_is_estimated(tmp_path: Path) -> None:
    """10,000 rows each, 9,000 in common: 9,000 of 11,000 = 0.818, and the estimate is within 0.1."""
    order = random.Random(3)
    rows = [order.randrange(10**9) for _row in range(11_000)]
    one, other = table(tmp_path / "a.csv", rows[:10_000]), table(tmp_path / "b.csv", rows[1_000:])

    assert len(one) == 256
    assert resemblance(one, other) == pytest.approx(9 / 11, abs=0.1)


def accepted(run: str, sketch: tuple[int, ...], **facts: object) -> Judgement:
    made = Judgement(
        run=run, name="corpus", path="c.csv", verdict=Verdict.ACCEPTED, why="", content=run, sketch=sketch
    )
    return replace(made, **facts)  # type: ignore[arg-type]


def test_only_accepted_outputs_of_one_name_and_of_other_content_are_near() -> None:
    sketch = tuple(range(100))
    almost = (*range(99), 1000)

    marked = mark_near(
        [
            accepted("a", sketch),
            accepted("b", almost),
            accepted("c", almost, name="other"),
            accepted("d", almost, verdict=Verdict.REJECTED),
            accepted("e", sketch, content="a", duplicate_of="a/c.csv"),
            accepted("f", tuple(range(2000, 2100))),
        ]
    )

    assert {one.run: one.near for one in marked if one.near} == {"b": "a/c.csv"}
    assert marked[1].warnings == ("98% of it is that of a/c.csv",)
    assert all(one.duplicate_of is None for one in marked[:4])

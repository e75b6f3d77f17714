from __future__ import annotations

import pytest

from lastro.billing import LeaseKind
from lastro.plan.solve import Package, Task

from .problems import hourly, lot, problem, task


@pytest.mark.parametrize(
    ("tasks", "message"),
    [
        ([Task(name="nothing")], "the duration of nothing is 0"),
        ([task("a", 0)], "the duration of a is 0"),
        ([task("a", after=("b",)), task("b", after=("a",))], "tasks wait for each other: "),
        ([task("a", after=("a",))], "tasks wait for each other: a -> a"),
        ([task("a", after=("c",))], "a waits for c, which is not there"),
        ([task("a"), task("a")], "a is there twice"),
        ([task("a", gpus=-1)], "a number of a is -1"),
        ([task("a", left_out=-5)], "a number of a is -5"),
    ],
)
def test_tasks_that_cannot_be_planned_are_refused(tasks: list[Task], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        problem(tasks, [hourly()])


@pytest.mark.parametrize(
    ("package", "message"),
    [
        (Package(name="p", machine_class="a", kind=LeaseKind.LOT, price=1), "the lot p has no term"),
        (lot("p", term=0), "a number of p is 0, less than 1"),
        (hourly("p", price=-1), "a number of p is -1, less than 0"),
        (hourly("p", gpus=0), "a number of p is 0, less than 1"),
    ],
)
def test_packages_that_cannot_be_rented_are_refused(package: Package, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        problem([task("a")], [package])


def test_a_window_below_zero_is_refused() -> None:
    with pytest.raises(ValueError, match="the window is -1"):
        problem([task("a")], [hourly()], window_ticks=-1)

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from lastro.billing import LeaseKind
from lastro.plan.solve import Held, Package, Placed, Problem, Solution, Task, check

from .problems import hourly, lot, task

#: A lot of two machines with one GPU each, and an hourly machine with two.
PROBLEM = Problem(
    tasks=(
        task("first", 2, group="run"),
        task("second", 3, after=("first",), group="run"),
        task("beside", 4),
        task("wide", 2, "b", gpus=2, never_spot=True),
        Task(name="read", alone_ticks=1, person="eva", after=("second",)),
        Task(name="write", alone_ticks=1, person="eva", left_out=7),
    ),
    packages=(
        lot(price=100, term=10, machines=2, boot_ticks=1),
        hourly(machine_class="b", gpus=2, capacity=1),
        Package(name="spot", machine_class="b", kind=LeaseKind.SPOT, price=1, gpus=2),
    ),
    ticks_per_hour=1,
    window_ticks=12,
    lanes=3,
    budget=120,
)
HELD = (
    Held(package="lot", machine=0, start=0, end=6, cost=100, lease=0),
    Held(package="lot", machine=1, start=0, end=6, cost=0, lease=0),
    Held(package="hourly", machine=2, start=0, end=2, cost=20, lease=1),
)
PLACED = (
    Placed(task="first", machine=0, start=1, end=3),
    Placed(task="second", machine=0, start=3, end=6),
    Placed(task="beside", machine=1, start=2, end=6),
    Placed(task="wide", machine=2, start=0, end=2),
    Placed(task="read", machine=None, start=6, end=7),
    Placed(task="write", machine=None, start=7, end=8),
)
GOOD = Solution(
    held=HELD,
    placed=PLACED,
    left_out=(),
    cost=120,
    objective=120,
    bound=90,
    gap=0.25,
    proven=False,
    method="greedy",
    end_ticks=8,
    why="",
)


def moved(name: str, **change: Any) -> dict[str, Any]:
    return {"placed": tuple(replace(one, **change) if one.task == name else one for one in PLACED)}


def rented(number: int, **change: Any) -> dict[str, Any]:
    return {"held": tuple(replace(one, **change) if one.machine == number else one for one in HELD)}


def without(*names: str) -> tuple[Placed, ...]:
    return tuple(one for one in PLACED if one.task not in names)


def test_a_good_plan_breaks_nothing() -> None:
    assert check(PROBLEM, GOOD) == []


@pytest.mark.parametrize(
    ("change", "broken"),
    [
        ({"placed": without("beside")}, "beside is placed or left out 0 times"),
        ({"placed": (*PLACED, PLACED[4])}, "read is placed or left out 2 times"),
        ({"placed": without("beside"), "left_out": ("beside",)}, "beside is required"),
        ({"placed": without("second"), "left_out": ("second",)}, "read waits for what is left out"),
        (moved("second", start=2, end=5), "second begins at 2, before first ends at 3"),
        (moved("write", start=6, end=7), "eva does two things at once"),
        (moved("read", start=6, end=8), "read has no machine that is held, or a wrong duration"),
        (moved("wide", machine=None), "wide has no machine that is held"),
        (moved("wide", machine=7), "wide has no machine that is held"),
        (moved("wide", machine=0), "wide cannot run on lot"),
        (moved("beside", end=7), "beside cannot run on lot, or has a wrong duration"),
        (moved("first", start=0, end=2), "first lies outside of the time in which lot is ready"),
        (moved("beside", start=3, end=7), "beside lies outside of the time"),
        (moved("beside", machine=0), "machine 0 runs more at once than it has GPUs"),
        (moved("beside", machine=0), r"machines are rented for nothing: \[1\]"),
        (moved("second", machine=1), "run is on several machines"),
        (rented(2, package="spot", cost=2), "wide cannot run on spot"),
        (rented(1, end=7), "the machines of lease 0 differ"),
        (rented(2, lease=0), "lease 0 has more machines than lot includes"),
        (rented(1, machine=0), "two machines have one number"),
        ({"held": tuple(replace(one, end=11) if one.lease == 0 else one for one in HELD)}, "lasts too long"),
        (rented(1, lease=2, package="hourly"), "hourly is taken 2 times, there are 1"),
        (moved("write", start=12, end=13), "after the window of 12"),
        (rented(2, start=-1), "a machine is rented before the window begins"),
        ({"cost": 121}, "it costs 121, more than the budget of 120"),
        ({"cost": 119}, r"its costs are \(100, 0, 20\), together 120"),
        (rented(0, cost=99), "its costs are"),
        ({"objective": 119}, "its objective is 120"),
        ({"bound": 121}, "its bound 121 is above its objective"),
        ({"gap": 0.0}, "its gap is not that of its bound"),
        ({"proven": True}, "its bound says otherwise"),
        ({"bound": 120, "gap": 0.0}, "its bound says otherwise"),
        ({"end_ticks": 9}, "it says that it ends at 9"),
        (moved("wide", task="other"), "other is no task"),
        (rented(2, package="other"), "other is no package"),
    ],
)
def test_every_broken_rule_is_named(change: dict[str, Any], broken: str) -> None:
    found = "; ".join(check(PROBLEM, replace(GOOD, **change)))

    assert broken.replace("\\", "") in found


def test_more_machines_at_once_than_lanes_are_found() -> None:
    assert check(replace(PROBLEM, lanes=2), GOOD) == ["3 machines at once, there are 2 lanes"]

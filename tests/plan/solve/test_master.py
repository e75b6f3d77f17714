from __future__ import annotations

import pytest

from lastro.plan.solve import Package, Problem, Task
from lastro.plan.solve.calendar import Calendar, Limits
from lastro.plan.solve.master import Master
from lastro.plan.solve.mip import Answer
from lastro.plan.solve.shelf import families

from .problems import hourly, lot, problem, task

pytest.importorskip("highspy")
pytest.importorskip("ortools")


def with_gaps(package: Package, *others: Task) -> Problem:
    """A chain of three hours on a GPU with 2 h of reading between, in 7 h: two gaps of 2 h."""
    chain = [
        task("a1"),
        Task(name="read 1", alone_ticks=2, after=("a1",)),
        task("a2", after=("read 1",)),
        Task(name="read 2", alone_ticks=2, after=("a2",)),
        task("a3", after=("read 2",)),
    ]
    return problem([*chain, *others], [package], window_ticks=7)


def solved(master: Master) -> Answer:
    return master.solve(nodes=100, gap=0.0, seconds=60.0)


def test_what_does_not_fit_goes_back_as_a_cut() -> None:
    """6 of 7 GPU-hours promise that one lot is enough, but 3 h fit into no gap: it takes two."""
    one = with_gaps(lot(price=100_000_000), task("whole", 3))
    master = Master(problem=one, families=families(one))
    limits = Limits(work=5.0, wall_seconds=60.0)

    first = solved(master)
    assert first.values is not None and master.choice(first.values).leases == {"lot": 1}
    laid = Calendar(problem=one, leases=one.packages).solve(limits)
    assert laid.done and laid.layout is None
    master.cut({"lot": 1}, None)
    second = solved(master)
    assert second.values is not None and master.choice(second.values).leases == {"lot": 2}
    assert second.bound == pytest.approx(200_000_000, rel=1e-5)
    assert Calendar(problem=one, leases=one.packages * 2).solve(limits).layout is not None


def test_a_calendar_that_costs_more_than_its_packages_promise_raises_the_bound() -> None:
    """3 h at 10 and 50 for a machine promise 80; held from 0 to 7 it is 120; two are 130 at least."""
    one = with_gaps(hourly(price=10_000_000, once=50_000_000))
    master = Master(problem=one, families=families(one))

    before = solved(master).bound
    laid = Calendar(problem=one, leases=one.packages).solve(Limits(work=5.0, wall_seconds=60.0))
    assert laid.done and laid.layout is not None and laid.layout.cost == 120_000_000
    master.cut({"hourly": 1}, 120_000_000)

    assert before == pytest.approx(80_000_000, rel=1e-5)
    assert solved(master).bound == pytest.approx(120_000_000, rel=1e-5)


def test_a_window_that_a_chain_exceeds_is_impossible() -> None:
    one = problem([task("a", 6), task("b", 6, after=("a",))], [lot(term=20)], window_ticks=11)

    assert solved(Master(problem=one, families=families(one))).impossible

from __future__ import annotations

from dataclasses import replace

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lastro.plan.solve import NoPlan, Package, Problem, Solution, Task, check, machine, shortest

from .problems import task

PAIR = (machine("gpu 1", "a"), machine("gpu 2", "a"))


def test_the_article_s_three_runs_on_two_machines() -> None:
    """2 h of a person, 2 h pilot, two rounds of 10 h, 8 h, and 6 h on a CPU: 38 h."""
    runs = [task(f"run {n}", 10, after=("pilot",)) for n in range(3)]
    tasks = [
        Task(name="prepare", alone_ticks=2, person="eva"),
        task("pilot", 2, after=("prepare",)),
        *runs,
        task("evaluate", 8, after=tuple(run.name for run in runs)),
        task("collect", 6, "cpu", gpus=0, after=("evaluate",)),
    ]
    answer = shortest(tasks, (*PAIR, machine("cpu", "cpu")))

    assert isinstance(answer, Solution)
    assert (answer.end_ticks, answer.objective, answer.bound, answer.proven) == (38, 38, 38, True)
    assert answer.cost == 0 and answer.gap == 0.0


def test_work_alone_bounds_the_end_where_no_chain_does() -> None:
    """Five tasks of 3 h on two machines: 15 h of work need 8 h, whole tasks 9 h."""
    tasks = [task(f"t{n}", 3) for n in range(5)]
    exact = shortest(tasks, PAIR)
    listed = shortest(tasks, PAIR, exactly=False)

    assert isinstance(exact, Solution) and (exact.end_ticks, exact.proven) == (9, True)
    assert isinstance(listed, Solution) and (listed.end_ticks, listed.bound) == (9, 8)
    assert listed.method == "greedy" and not listed.proven


def test_two_gpus_are_of_one_machine() -> None:
    """A task with two GPUs runs on the machine that has two, and not on two machines with one."""
    assert isinstance(shortest([task("wide", 2, gpus=2)], PAIR), NoPlan)
    answer = shortest([task("wide", 2, gpus=2), task("small", 2)], (*PAIR, machine("big", "a", gpus=2)))
    assert isinstance(answer, Solution) and answer.end_ticks == 2


def test_all_tasks_are_placed_whatever_they_are_worth() -> None:
    answer = shortest([task("a", 2), task("b", 2, left_out=0)], PAIR[:1])

    assert isinstance(answer, Solution) and (answer.end_ticks, answer.left_out) == (4, ())


@st.composite
def calendars(draw: st.DrawFn) -> tuple[list[Task], tuple[Package, ...]]:
    tasks: list[Task] = []
    for number in range(draw(st.integers(1, 7))):
        tasks.append(
            task(
                f"t{number}",
                draw(st.integers(1, 9)),
                draw(st.sampled_from(("a", "a", "b"))),
                after=tuple(one.name for one in tasks if draw(st.integers(0, 3)) == 0),
                person=draw(st.sampled_from((None, None, "eva"))),
                group=draw(st.sampled_from((None, None, "run"))) if tasks else None,
            )
        )
    # A run whose parts need different machines cannot stay on one.
    if len({next(iter(one.ticks)) for one in tasks if one.group}) > 1:
        tasks = [replace(one, group=None) for one in tasks]
    return tasks, (*PAIR[: draw(st.integers(1, 2))], machine("big", "b", gpus=draw(st.integers(1, 2))))


@settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))
@given(given=calendars())
def test_no_calendar_ends_before_the_bound_and_lists_never_before_what_is_proven(
    given: tuple[list[Task], tuple[Package, ...]],
) -> None:
    exact, listed = shortest(*given), shortest(*given, exactly=False)

    assert isinstance(exact, Solution) and isinstance(listed, Solution)
    assert exact.proven and exact.bound is not None and listed.bound is not None
    assert listed.bound <= exact.end_ticks <= listed.end_ticks
    assert exact == shortest(*given)
    for answer in (exact, listed):
        money = Problem(tasks=tuple(given[0]), packages=given[1], ticks_per_hour=1)
        plain = replace(answer, objective=0, bound=0, gap=0.0, proven=True)
        assert check(money, plain) == []

"""Faults drawn from a history: by hand, and what holds for every seed."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from lastro.plan.intervals import Work
from lastro.plan.lifetimes import memoryless, observed_lifetimes
from lastro.plan.rehearsal_draw import LATEST, MOST_LOSSES, Drawn, Forecast, draw_faults, within
from lastro.plan.rehearsal_shape import RunTime, Saving, Shape
from lastro.plan.rehearsal_weather import Kind, Weather

from .rehearsing import PAUSES, scale

RUNS = {"control": 100, "wide": 100, "deep": 100}


def lanes(*names: tuple[str, ...]) -> Shape:
    runs = tuple(
        RunTime(run=run, required=True, interval=None, hours=10.0, steps=None)
        for lane in names
        for run in lane
    )
    return Shape(
        runs=runs,
        lanes=names,
        pauses=PAUSES,
        saving=Saving(steps=None, every=1.0, bound=None, why=""),
        lives=None,
        lease=None,
        by_hour=False,
        window=None,
        budget=None,
        other=(),
        machine=(),
        work=Work(intervals=(), unplaced=()),
        slots=(),
        gpu=None,
        lead=0.0,
        machines=len(names),
        complete=False,
    )


def weather(mean: float, *, observed: bool = False, notice: float | None = None) -> Weather:
    lives = observed_lifetimes([mean], origin="o") if observed else memoryless(mean, origin="o")
    return Weather(lives=lives, notice=notice, origin="o")


def test_machines_that_live_for_three_hours_are_lost_where_they_are_then() -> None:
    """Boot 0.1 h: 2.9 h of 10 are done, step 29, saved 20.

    Then boot and restart: 2 + 2.8 = 4.8, saved 4; 6.8, saved 6; 8.8, saved 8, but played at 80: later it
    might be over. The next one ends at 10 and has 0.8 h left: step 8 of the second run; then 28.
    """
    drawn = draw_faults(lanes(("control", "wide")), scale(**RUNS), weather(3.0, observed=True), seed=1)

    losses = [one for one in drawn.faults if one.kind is not Kind.REFUSED]
    assert [one.step for one in losses if one.run == "control"] == [29, 48, 68, 80]
    assert [one.step for one in losses if one.run == "wide"][:2] == [8, 28]
    assert {one.kind for one in losses} <= {Kind.SUDDEN, Kind.SILENT}
    assert drawn.expected is not None and round(drawn.expected, 3) == 6.667


def test_with_notice_nothing_is_done_again() -> None:
    """2.9 h, then 2.8 h more each: 2.9, 5.7, 8.5 (played at 80), and the end."""
    shape = lanes(("control",))
    for seed in range(40):
        drawn = draw_faults(shape, scale(**RUNS), weather(3.0, observed=True, notice=120.0), seed)
        losses = [one for one in drawn.faults if one.kind is not Kind.REFUSED]
        if all(one.kind is Kind.NOTICE for one in losses):
            assert [(one.step, one.notice) for one in losses] == [(29, 120.0), (57, 120.0), (80, 120.0)]
            return
    raise AssertionError("no seed of forty has drawn notices alone")


def test_where_the_history_has_none_one_loss_is_added_and_says_so() -> None:
    drawn = draw_faults(lanes(("control",)), scale(**RUNS), weather(1000.0, observed=True), seed=0)

    (loss,) = [one for one in drawn.faults if one.kind is not Kind.REFUSED]
    assert (loss.kind, loss.added, drawn.cut) == (Kind.SUDDEN, True, False)


def test_more_losses_than_can_be_played_are_cut_and_that_is_told() -> None:
    drawn = draw_faults(
        lanes(("control", "wide", "deep")), scale(**RUNS), weather(1.5, observed=True), seed=0
    )

    assert drawn.cut
    assert sum(one.kind is not Kind.REFUSED for one in drawn.faults) == MOST_LOSSES


def test_without_a_history_each_kind_comes_once() -> None:
    shape = lanes(("control", "wide"), ("deep",))
    drawn = draw_faults(shape, scale(**RUNS), Weather(lives=None, notice=30.0, origin="o"), seed=5)

    assert sorted(one.kind.value for one in drawn.faults) == ["notice", "refused", "silent", "sudden"]
    assert drawn.expected is None


def test_a_run_of_which_no_step_was_seen_is_left_alone() -> None:
    nothing = draw_faults(lanes(("control",)), replace(scale(), runs={}), weather(1.0), seed=0)
    one = draw_faults(lanes(("control", "wide")), scale(wide=100), weather(1.0), seed=0)

    assert [(fault.kind, fault.create) for fault in nothing.faults] == [(Kind.REFUSED, 1)]
    assert {fault.run for fault in one.faults if fault.run} == {"wide"}


def test_what_does_not_fit_into_the_time_is_left_out_from_the_end_and_one_stays() -> None:
    """A notice takes 8 s and a silence 20: of 29 s one is left, which a refusal does not fit into."""
    kinds = (Kind.NOTICE, Kind.SILENT, Kind.REFUSED)
    faults = tuple(Drawn(index=at, kind=kind) for at, kind in enumerate(kinds))
    drawn = Forecast(faults=faults, expected=None, cut=False)

    assert within(drawn, 31.0) == drawn
    assert within(drawn, 29.0) == replace(drawn, faults=faults[:2], cut=True)
    assert within(drawn, -5.0) == replace(drawn, faults=faults[:1], cut=True)


@given(
    seed=st.integers(0, 10_000),
    mean=st.floats(0.3, 100),
    notice=st.sampled_from([None, 30.0]),
    split=st.booleans(),
)
def test_every_seed_draws_the_same_twice_and_only_what_can_be_played(
    seed: int, mean: float, notice: float | None, split: bool
) -> None:
    shape = lanes(("control",), ("wide", "deep")) if split else lanes(("control", "wide", "deep"))
    drawn = draw_faults(shape, scale(**RUNS), weather(mean, notice=notice), seed)

    assert drawn == draw_faults(shape, scale(**RUNS), weather(mean, notice=notice), seed)
    assert [one.index for one in drawn.faults] == list(range(len(drawn.faults)))
    losses = [one for one in drawn.faults if one.kind is not Kind.REFUSED]
    refusals = [one.create for one in drawn.faults if one.kind is Kind.REFUSED]
    assert losses and all(1 <= one.step <= 100 * LATEST for one in losses)
    assert all((one.notice is not None) == (one.kind is Kind.NOTICE) for one in drawn.faults)
    assert len(set(refusals)) == len(refusals) and all(number and number >= 1 for number in refusals)

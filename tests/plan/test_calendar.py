from __future__ import annotations

from itertools import combinations
from pathlib import Path

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lastro.plan.parts import Slot, Span

from .planning import ARTICLE, VARIANTS, calendar


def times(slots: tuple[Slot, ...]) -> list[tuple[str, str | None, str | None, float, float]]:
    return [(slot.stage, slot.run, slot.lane, slot.start_hours, slot.end_hours) for slot in slots]


def test_the_calendar_of_the_article_takes_48_hours(tmp_path: Path) -> None:
    """2 + 2 + 3 x 10 + 8 + 6 = 48; low 2 + 2 + 24 + 4 + 3 = 35; high 2 + 2 + 42 + 9 + 8 = 63."""
    made = calendar(tmp_path, ARTICLE + VARIANTS)

    assert made.total == Span(low=35.0, likely=48.0, high=63.0)
    assert times(made.slots) == [
        ("prepare", None, "person", 0.0, 2.0),
        ("pilot", None, "gpu 1", 2.0, 4.0),
        ("run", "control", "gpu 1", 4.0, 14.0),
        ("run", "wide", "gpu 1", 14.0, 24.0),
        ("run", "deep", "gpu 1", 24.0, 34.0),
        ("evaluate", None, "gpu 1", 34.0, 42.0),
        ("collect", None, "cpu", 42.0, 48.0),
    ]


def test_two_machines_run_two_variants_at_once(tmp_path: Path) -> None:
    """2 + 2 + two rounds of 10 + 8 + 6 = 38."""
    made = calendar(tmp_path, ARTICLE + VARIANTS + "machines: 2\n")

    assert made.total is not None and made.total.likely == 38.0
    assert [slot.lane for slot in made.slots if slot.stage == "run"] == ["gpu 1", "gpu 2", "gpu 1"]


def test_required_runs_come_before_useful_ones(tmp_path: Path) -> None:
    variants = (
        "variants:\n  deep: {changes: {depth: 4}, priority: exploratory}\n  wide: {changes: {width: 1}}\n"
    )
    made = calendar(tmp_path, ARTICLE + variants)

    assert [slot.run for slot in made.slots if slot.stage == "run"] == ["control", "wide", "deep"]


def test_a_pilot_is_a_part_of_its_run_on_the_same_kind_of_machine(tmp_path: Path) -> None:
    stages = (
        "stages:\n  pilot: {run: control, part: 10 %, decide: true}\n  run: {each: run, gpu: 1, hours: 10}\n"
    )
    slots = calendar(tmp_path, stages).slots

    assert times(slots) == [
        ("pilot", "control", "gpu 1", 0.0, 1.0),
        ("run", "control", "gpu 1", 1.0, 11.0),
    ]
    assert slots[0].decide


def test_stages_that_hold_different_things_and_do_not_wait_overlap(tmp_path: Path) -> None:
    stages = "stages:\n  a: {person: 3h}\n  b: {gpu: 1, hours: 5, after: []}\n"
    stages += "  c: {cpu: 1, hours: 1, after: [a, b]}\n"
    made = calendar(tmp_path, stages)

    assert [(slot.stage, slot.start_hours) for slot in made.slots] == [("a", 0.0), ("b", 0.0), ("c", 5.0)]


def test_without_stages_the_runs_are_there_and_their_duration_is_unknown_not_zero(tmp_path: Path) -> None:
    made = calendar(tmp_path, VARIANTS)

    assert made.total is None and made.slots == ()
    assert [item.run for item in made.unplaced] == ["control", "wide", "deep"]
    assert "unknown" in made.unplaced[0].why


def test_a_run_that_no_stage_is_for_makes_the_total_unknown(tmp_path: Path) -> None:
    made = calendar(tmp_path, VARIANTS + "stages:\n  one: {run: control, gpu: 1, hours: 3}\n")

    assert made.total is None
    assert [item.run for item in made.unplaced] == ["wide", "deep"]
    assert len(made.slots) == 1


_HOURS = st.lists(st.integers(1, 20), min_size=3, max_size=3).map(sorted)
_STAGES = st.lists(
    st.tuples(
        st.sampled_from(["gpu: 1, ", "cpu: 1, ", "gpu: 1, each: run, ", ""]), _HOURS, st.integers(-1, 5)
    ),
    min_size=1,
    max_size=6,
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=60)
@given(stages=_STAGES, machines=st.integers(1, 3))
def test_nothing_overlaps_on_a_lane_and_nothing_begins_before_what_it_waits_for(
    tmp_path: Path, stages: list[tuple[str, list[int], int]], machines: int
) -> None:
    text, after = f"machines: {machines}\nstages:\n", {}
    for index, (holds, hours, before) in enumerate(stages):
        waits = [f"s{before}"] if 0 <= before < index else []
        after[f"s{index}"] = waits
        text += f"  s{index}: {{{holds}hours: {hours}, after: {waits}}}\n".replace("'", "")
    slots = calendar(tmp_path, text + VARIANTS).slots

    for start, end in (
        ("start_low_hours", "end_low_hours"),
        ("start_hours", "end_hours"),
        ("start_high_hours", "end_high_hours"),
    ):
        for a, b in combinations(slots, 2):
            if a.lane and a.lane == b.lane:
                assert getattr(a, end) <= getattr(b, start) or getattr(b, end) <= getattr(a, start)
        for slot in slots:
            ends = [getattr(other, end) for other in slots if other.stage in after[slot.stage]]
            assert getattr(slot, start) >= max(ends, default=0)
    assert all(slot.end_low_hours <= slot.end_hours <= slot.end_high_hours for slot in slots)

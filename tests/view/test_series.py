from __future__ import annotations

import math
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lastro.paths import RunFolder
from lastro.view.series import BUCKETS, parse_measurements, read_run, reduce_points
from tests.view.story import curve


def test_a_single_spike_among_100k_points_survives_the_reduction() -> None:
    values = [(step, 1.0) for step in range(100_000)]
    values[54_321] = (54_321, 9.5)
    series = curve("loss", values)
    spiked = [bucket for bucket in series.buckets if bucket.high == 9.5]
    assert len(series.buckets) <= BUCKETS
    assert len(spiked) == 1
    assert spiked[0].first_step <= 54_321 <= spiked[0].last_step


def test_where_a_step_was_measured_twice_the_latest_attempt_wins_and_the_earlier_is_kept() -> None:
    series = curve("loss", [(1, 1.0), (2, 2.0), (3, 3.0)], [(3, 30.0), (4, 40.0)])
    assert [(bucket.first_step, bucket.mean) for bucket in series.buckets] == [
        (1, 1.0),
        (2, 2.0),
        (3, 30.0),
        (4, 40.0),
    ]
    assert [[(bucket.first_step, bucket.mean) for bucket in life] for life in series.earlier] == [[(3, 3.0)]]
    assert series.count == 4


def test_a_value_that_is_not_finite_is_told_and_bends_no_mean() -> None:
    series = curve("loss", [(1, 1.0), (2, math.nan), (3, math.inf)])
    assert series.non_finite_count == 2
    assert series.non_finite[0][0] == 2 and math.isnan(series.non_finite[0][1])
    assert math.isinf(series.last) and series.last_step == 3
    assert [bucket.mean for bucket in series.buckets] == [1.0]


def test_a_run_of_nan_for_ever_stays_small() -> None:
    series = curve("loss", [(step, math.nan) for step in range(50_000)])
    assert series.non_finite_count == 50_000
    assert len(series.non_finite) <= BUCKETS and series.buckets == ()


def test_a_torn_last_line_is_ignored_and_damaged_lines_are_counted() -> None:
    data = (
        b'{"s":1,"t":0.1,"v":{"loss":2.5}}\n'
        b'{"s":2,"t":0.2,"v":{"loss":NaN}}\n'  # bare NaN is not strict JSON
        b'{"s":"3","t":0.3,"v":{"loss":1}}\n'
        b"\xff\xfe\n"
        b'{"s":4,"t":0.4,"v":{"loss":"NaN"}}\n'
        b'{"s":5,"t":0.5,"v":{"lo'
    )
    found, damaged = parse_measurements(data)
    assert list(found["loss"].steps) == [1, 4]
    assert damaged == 3


def test_all_attempts_of_a_run_are_read_in_the_order_of_their_numbers(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path)
    for number in (2, 10):
        file = folder.attempt(number).measurements()
        file.parent.mkdir(parents=True)
        file.write_text(f'{{"s":7,"t":0,"v":{{"loss":{number}.0}}}}\nbroken\n')
    measured = read_run(folder)
    assert measured.series["loss"].last == 10.0
    assert measured.damaged_lines == 2


def test_a_run_that_has_not_started_has_measured_nothing(tmp_path: Path) -> None:
    assert read_run(RunFolder(tmp_path / "none")).series == {}


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.tuples(st.integers(0, 10_000), st.floats(-1e308, 1e308)), min_size=1, max_size=300),
    st.integers(1, 40),
)
def test_a_reduction_loses_no_point_and_no_extreme(values: list[tuple[int, float]], limit: int) -> None:
    buckets = reduce_points(values, limit)
    assert len(buckets) <= max(limit, 1) or len(values) <= limit
    assert sum(bucket.count for bucket in buckets) == len(values)
    assert max(bucket.high for bucket in buckets) == max(value for _step, value in values)
    assert min(bucket.low for bucket in buckets) == min(value for _step, value in values)
    assert all(math.isfinite(bucket.mean) for bucket in buckets)
    assert buckets == reduce_points(list(reversed(values)), limit) or len({s for s, _v in values}) < len(
        values
    )


def test_the_mean_of_a_bucket_is_that_of_its_values() -> None:
    (bucket,) = reduce_points([(0, 1.0), (1, 2.0), (2, 6.0)], 1)
    assert bucket.mean == pytest.approx(3.0)

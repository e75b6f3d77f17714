from __future__ import annotations

from pathlib import Path

import pytest

from lastro.preflight.budget import Measured
from lastro.preflight.check import Finding, Level
from lastro.preflight.io_soak import READ, WRITE, Latencies, judge, soak


def test_a_percentile_needs_ten_samples_beyond_it() -> None:
    """Beyond p99 of 999 lie 9.99, of 1000 ten; beyond p99.9 of 9999 lie 9.999."""

    def at(count: int, percent: float) -> float | None:
        return Latencies(name=READ, seconds=tuple(range(count))).at(percent)

    assert (at(999, 99.0), at(1000, 99.0)) == (None, 989)
    assert (at(9999, 99.9), at(10_000, 99.9)) == (None, 9989)
    assert "p99.9 too few samples" in Latencies(name=READ, seconds=(0.001,) * 1000).text


@pytest.mark.parametrize(
    ("name", "seconds", "locked", "level"),
    [
        (READ, 0.004, {"p50_seconds": 0.0019}, Level.WARN),
        (READ, 0.004, {"p50_seconds": 0.0021}, Level.PASS),
        (READ, 0.0009, {"p50_seconds": 0.0001}, Level.PASS),
        (WRITE, 0.03, {"p50_seconds": 0.001, "p99_seconds": None}, Level.WARN),
        (WRITE, 0.03, None, Level.PASS),
    ],
)
def test_a_disk_that_takes_twice_as_long_is_told_from_where_it_is_felt(
    name: str, seconds: float, locked: dict[str, float | None] | None, level: Level
) -> None:
    finding = judge(Latencies(name=name, seconds=(seconds,) * 50), locked)

    assert finding.level is level


def test_a_disk_is_measured_and_left_as_it_was(tmp_path: Path) -> None:
    found = list(soak(tmp_path / "disk", 0.6, {}))

    assert [one.code for one in found if isinstance(one, Finding)] == [READ, WRITE]
    assert all(one.values["samples"] for one in found if isinstance(one, Measured))
    assert list(tmp_path.iterdir()) == []


def test_a_disk_that_cannot_be_written_gives_no_answer() -> None:
    (finding,) = soak(Path("/proc/none"), 0.1, {})

    assert isinstance(finding, Finding) and finding.level is Level.NO_ANSWER

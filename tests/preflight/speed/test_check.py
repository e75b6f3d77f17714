from __future__ import annotations

import math
import os
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from lastro.preflight.check import Finding, Level
from lastro.preflight.lent import lent_command
from lastro.preflight.speed import check as speed
from lastro.preflight.speed import child
from lastro.preflight.speed.check import Usual, judge_share, judge_speed, keep, read_usual
from lastro.preflight.speed.law import MOST_PAIRS
from lastro.procs.child import run_with_deadline
from tests.preflight.subjects import subject

NOTHING = Usual(pairs={}, reference=())


def told(*, copy: float = 0.8, reference: float = 1e-4, **changes: Any) -> dict[str, Any]:
    one = {"of": "python 3", "pairs": [copy] * 60, "reference_seconds": reference}
    measured = {"wall_seconds": 2.0, "cpu_seconds": 1.9, "throttled_seconds": None}
    return {"kernels": {"copy": one}, **measured, **changes}


def usual(*, runs: int = 5, copy: float = 0.8, reference: float = 1e-4) -> Usual:
    return Usual(pairs={"copy, python 3": [copy] * runs}, reference=[reference] * runs)


def levels(findings: tuple[Finding, ...]) -> dict[str, Level]:
    for finding in findings:
        if finding.level in (Level.WARN, Level.FAIL):
            assert finding.consequence and finding.next_step
    return {finding.code: finding.level for finding in findings}


@pytest.mark.parametrize(
    ("slowed", "level"),
    [(0.0, Level.PASS), (0.19, Level.NO_ANSWER), (math.log(2), Level.FAIL), (-0.3, Level.PASS)],
)
def test_a_kernel_is_compared_with_what_earlier_runs_gave(slowed: float, level: Level) -> None:
    assert levels(judge_speed(told(copy=0.8 + slowed), usual()))["cpu_speed.copy"] is level


def test_a_first_run_has_nothing_to_compare_with_and_says_so() -> None:
    (finding,) = judge_speed(told(), NOTHING)

    assert finding.level is Level.PASS and "nothing to compare" in finding.value


def test_another_build_of_the_library_is_another_kernel() -> None:
    other = Usual(pairs={"copy, python 2": [0.1] * 9}, reference=())

    assert "nothing to compare" in judge_speed(told(), other)[0].value


def test_a_core_that_is_slow_at_everything_is_told_by_the_reference_alone() -> None:
    half = judge_speed(told(reference=2.1e-4), usual())

    assert levels(half) == {"cpu_speed.copy": Level.PASS, "cpu_speed.core": Level.WARN}
    assert levels(judge_speed(told(reference=1.6e-4), usual()))["cpu_speed.core"] is Level.PASS


def test_a_quota_is_a_share_and_no_speed() -> None:
    """Half a core for 4 s is 2 s of CPU: the pairs, in CPU time, are as ever."""
    held = told(wall_seconds=4.0, cpu_seconds=2.0, throttled_seconds=1.9)

    share = judge_share(held, 0.5)
    assert (share.code, share.level) == ("cpu_share", Level.WARN)
    assert "may use 0.5" in share.value and "CPU limit" in str(share.next_step)
    assert set(levels(judge_speed(held, usual())).values()) == {Level.PASS}


def test_a_busy_neighbour_is_a_share_of_another_cause() -> None:
    share = judge_share(told(wall_seconds=4.0, cpu_seconds=2.0), None)

    assert share.level is Level.WARN and "top" in str(share.next_step)
    assert judge_share(told(), None).level is Level.PASS


def test_what_is_kept_is_read_again_and_the_oldest_go(tmp_path: Path) -> None:
    path, found = tmp_path / "speed" / "x.json", NOTHING
    for number in range(25):
        keep(path, found, told(copy=float(number)))
        found = read_usual(path)

    assert list(found.pairs["copy, python 3"]) == [float(number) for number in range(5, 25)]
    path.write_text("{")
    assert read_usual(path) == NOTHING


def test_real_kernels_are_measured_in_pairs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(child, "_matmul", lambda: None)

    found = child.run({"usual": {}})

    copy = found["kernels"]["copy"]
    assert len(copy["pairs"]) == MOST_PAIRS
    assert all(map(math.isfinite, copy["pairs"])) and copy["reference_seconds"] > 0
    assert 0 < found["cpu_seconds"] <= found["wall_seconds"] * 1.1


def test_what_is_clear_ends_the_measuring(monkeypatch: pytest.MonkeyPatch) -> None:
    """Work that is a thousand times faster than it was is well at the thirteenth pair."""
    monkeypatch.setattr(child, "_matmul", lambda: None)
    made_of = child.kernels()["copy"][1]

    found = child.run({"usual": {f"copy, {made_of}": [7.0, 5]}})

    assert len(found["kernels"]["copy"]["pairs"]) == 13


def test_kernels_run_in_a_python_that_has_no_lastro(tmp_path: Path) -> None:
    python = str(getattr(sys, "_base_executable", sys.executable))
    done = run_with_deadline(
        lent_command(python, "lastro.preflight.speed.child"),
        seconds=60,
        cwd=tmp_path,
        env={name: value for name, value in os.environ.items() if not name.startswith("PYTHON")},
        input=b'{"usual": {}}',
    )

    assert done.code == 0, done.err
    assert '"copy"' in done.out


def test_a_python_that_does_not_answer_is_no_answer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LASTRO_HOME", str(tmp_path))
    here = subject(tmp_path)
    gone = replace(here, versions=replace(here.versions, path="/nowhere/python"))

    (finding,) = speed.check(gone, 60.0)

    assert (finding.code, finding.level) == ("cpu_speed", Level.NO_ANSWER)
    assert "/nowhere/python" in finding.value

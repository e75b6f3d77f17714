"""`attempt.log` against an `os.write` of the same bytes; what a step of the loop costs without a save."""

from __future__ import annotations

import os
import tempfile
import time
from pathlib import Path

from benchmarks.attempt import make_attempt
from benchmarks.result import Measure, Result
from lastro.rules import CheckpointPolicy

CALLS = 50_000
TARGET_P50, TARGET_P99, TARGET_STEP = 10.0, 100.0, 30.0
NEVER = CheckpointPolicy(every_steps=10**9)


def _microseconds(nanoseconds: list[int], part: float) -> float:
    return sorted(nanoseconds)[int(len(nanoseconds) * part)] / 1e3


def _time_log(root: Path) -> tuple[list[int], list[int]]:
    attempt = make_attempt(root, NEVER)
    line = b'{"s":12345,"t":1234.5678,"v":{"loss":0.4475823342800140,"accuracy":0.90625}}\n'
    bare = os.open(root / "bare", os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    ours, theirs = [], []
    attempt.log(loss=0.5, accuracy=0.5)
    for number in range(CALLS):
        loss = 0.4475823342800140 + number * 1e-9
        began = time.perf_counter_ns()
        attempt.log(loss=loss, accuracy=0.90625)
        between = time.perf_counter_ns()
        os.write(bare, line)
        ended = time.perf_counter_ns()
        ours.append(between - began)
        theirs.append(ended - between)
    os.close(bare)
    return ours, theirs


def _time_steps(root: Path) -> list[int]:
    """Return the time between the end of one body and the beginning of the next."""
    attempt = make_attempt(root, NEVER)
    waits = []
    ended = time.perf_counter_ns()
    for _step, _batch in attempt.steps(range(CALLS)):
        waits.append(time.perf_counter_ns() - ended)
        ended = time.perf_counter_ns()
    return waits[1:]


def run() -> Result:
    with tempfile.TemporaryDirectory() as folder:
        ours, theirs = _time_log(Path(folder, "log"))
        steps = _time_steps(Path(folder, "steps"))
    half, most = _microseconds(ours, 0.5), _microseconds(ours, 0.99)
    return Result(
        measures=(
            Measure(name="attempt.log, p50", value=half, unit="us", target=TARGET_P50),
            Measure(name="attempt.log, p99", value=most, unit="us", target=TARGET_P99),
            Measure(name="os.write of the same bytes, p50", value=_microseconds(theirs, 0.5), unit="us"),
            Measure(name="os.write of the same bytes, p99", value=_microseconds(theirs, 0.99), unit="us"),
            Measure(name="log / os.write, p50", value=half / _microseconds(theirs, 0.5), unit="x"),
            Measure(
                name="a step without a save, p50",
                value=_microseconds(steps, 0.5),
                unit="us",
                target=TARGET_STEP,
            ),
            Measure(name="a step without a save, p99", value=_microseconds(steps, 0.99), unit="us"),
        ),
        notes=(f"{CALLS} calls, each timed alone; log and os.write take turns.",),
    )

"""What a supervisor reads of its job's measurements."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

from lastro.clock import SystemClock
from lastro.journal.streams import StreamWriter
from lastro.rules import StopKind, StopRule
from lastro.run.watch import Watch
from tests.run.jobs import order_for


def test_a_damaged_line_among_the_measurements_hides_no_other(tmp_path: Path) -> None:
    run, order = order_for(tmp_path, sys.executable, "-c", "pass")
    order = replace(order, stop=(StopRule(kind=StopKind.FLOOR, metric="accuracy", below=0.5),))
    folder = run.attempt(1)
    folder.root.mkdir(parents=True)
    watch = Watch(folder, order, StreamWriter(tmp_path / "s-1.jsonl", SystemClock(), {}), started=0.0)

    folder.measurements().write_bytes(b'{"s":1,"v":{"accuracy":0.9}}\n{"s":2,"v":{"accuracy":\n')
    watch.look()
    early = watch.stop
    with folder.measurements().open("ab") as file:
        file.write(
            b'17\n{"s":3,"v":7}\n{"s":4,"v":{"loss":"x","accuracy":0.25}}\n{"s":5,"v":{"accuracy":0.1}}\n'
        )
    watch.look()

    assert early is None and watch.stop is not None
    assert (watch.stop.step, watch.stop.value) == (4, 0.25)

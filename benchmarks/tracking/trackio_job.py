"""The work by trackio, with its store in SQLite. Run by a Python that has it, and not lastro."""

from __future__ import annotations

import contextlib
import os
import sys
from pathlib import Path

from benchmarks.tracking.timing import each_step, main, spent

os.environ["TRACKIO_DIR"] = str(Path(sys.argv[2], "trackio"))  # it is read when trackio is loaded

import trackio
from trackio.sqlite_storage import SQLiteStorage


def _start(name: str) -> trackio.Run:
    with contextlib.redirect_stdout(sys.stderr):
        return trackio.init(project="bench", name=name, embed=False, auto_log_gpu=False, auto_log_cpu=False)


def _finish() -> None:
    with contextlib.redirect_stdout(sys.stderr):
        trackio.finish()


def log(root: Path, number: int, steps: int) -> dict[str, float]:
    _start(f"{number}")
    told = each_step(lambda values, step: trackio.log(values, step=step), number, range(1, steps + 1))
    _finish()
    return {**told, "cpu": spent() - told["began"]}


def fill(root: Path, points: int) -> dict[str, float]:
    _start("one")
    began = spent()
    for step in range(points):
        trackio.log({"loss": 1 / (step + 1)}, step=step)
    _finish()
    return {"cpu": spent() - began}


def read(root: Path, points: int) -> dict[str, float]:
    began = spent()
    found = SQLiteStorage.get_logs("bench", "one")
    assert len([row["loss"] for row in found]) == points
    return {"cpu": spent() - began}


def report(root: Path, processes: int, steps: int) -> dict[str, float]:
    began = spent()
    for number in range(1, processes + 1):
        assert len(SQLiteStorage.get_logs("bench", f"{number}")) == steps
    return {"cpu": spent() - began}


if __name__ == "__main__":
    main({"log": log, "fill": fill, "read": read, "report": report})

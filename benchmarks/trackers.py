"""The same work by lastro, MLflow and trackio: logging from several processes, reading a series, a report."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from benchmarks.result import Measure, Result

PROCESSES, STEPS, POINTS = 3, 300, 100_000
ROOT = Path(__file__).resolve().parent.parent
#: Made from requirements-peers.lock by `make bench-peers`.
PEERS = ROOT / ".venv-peers" / "bin" / "python"
LASTRO, MLFLOW, TRACKIO = (
    (python, "-m", f"benchmarks.tracking.{tool}_job")
    for python, tool in ((sys.executable, "lastro"), (str(PEERS), "mlflow"), (str(PEERS), "trackio"))
)

_Told = dict[str, float]


def _start(job: Sequence[str], *words: object) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [*job, *map(str, words)],
        cwd=ROOT,
        env={**os.environ, "MLFLOW_DISABLE_TELEMETRY": "true", "DO_NOT_TRACK": "true"},
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )


def _told(job: subprocess.Popen[bytes]) -> _Told:
    said, _none = job.communicate()
    if job.returncode:
        raise RuntimeError(f"{job.args!r} ended with {job.returncode}")
    found: _Told = json.loads(said.splitlines()[-1])
    return found


def _logged(job: Sequence[str], root: Path, first: int = 1, action: str = "log") -> _Told:
    """Let processes log at the same time; return the slowest call and the CPU of all."""
    numbers = range(first, first + PROCESSES)
    told = [_told(one) for one in [_start(job, action, root, number, STEPS) for number in numbers]]
    return {
        "p50": sorted(one["p50"] for one in told)[PROCESSES // 2],
        "p99": max(one["p99"] for one in told),
        "cpu": sum(one["cpu"] for one in told) / (PROCESSES * STEPS) * 1e6,
    }


def _work(job: Sequence[str], root: Path) -> dict[str, _Told]:
    """Let one tool do all of it; the series is filled first, since a store has to be made once."""
    filled = _told(_start(job, "fill", root, POINTS))
    return {
        "fill": filled,
        "log": _logged(job, root),
        "read": _told(_start(job, "read", root, POINTS)),
        "report": _told(_start(job, "report", root, PROCESSES, STEPS)),
    }


def run() -> Result:
    if not PEERS.exists():
        return Result(measures=(), notes=("MLflow and trackio are not here: `make bench-peers` brings them",))
    with tempfile.TemporaryDirectory() as folder:
        ours, mlflow, trackio = (
            _work(job, _made(Path(folder, name)))
            for job, name in ((LASTRO, "lastro"), (MLFLOW, "mlflow"), (TRACKIO, "trackio"))
        )
        queued = _logged(MLFLOW, Path(folder, "mlflow"), PROCESSES + 1, "log_async")
    kinds = (("a call that logs 6 metrics, p50", "log", "p50", "us"), ("the same, p99", "log", "p99", "us"),
             ("the same, CPU with all that follows from it", "log", "cpu", "us"),
             ("reading a series of 100,000 points, CPU", "read", "cpu", "s"))  # fmt: skip
    measures = []
    for name, action, key, unit in kinds:
        mine = ours[action][key]
        measures.append(Measure(name=f"{name}: lastro", value=mine, unit=unit))
        for peer, found in (("MLflow", mlflow), ("trackio", trackio)):
            measures.append(Measure(name=f"{name}: {peer}", value=found[action][key], unit=unit))
            measures.append(
                Measure(name=f"{name}: lastro / {peer}", value=mine / found[action][key], unit="x", target=1)
            )
        if action == "log":
            measures.append(Measure(name=f"{name}: MLflow, not waiting", value=queued[key], unit=unit))
    measures.append(
        Measure(name="a report of 3 runs x 6 metrics, CPU: lastro", value=ours["report"]["cpu"], unit="s")
    )
    for peer, found in (("MLflow", mlflow), ("trackio", trackio)):
        measures.append(
            Measure(name=f"its curves alone, CPU: {peer}", value=found["report"]["cpu"], unit="s")
        )
    return Result(
        measures=tuple(measures),
        notes=(
            f"{PROCESSES} processes at once, {STEPS} steps each; what a tool needs to be loaded is left out",
            "trackio has no call that returns a series: its store is asked as its own pages do",
            "neither of the two makes a report: only the curves that it would show are read",
        ),
    )


def _made(folder: Path) -> Path:
    folder.mkdir()
    return folder

"""The rule for spot against the optimum that knows all, on recorded availability, beside other rules."""

from __future__ import annotations

import statistics
from pathlib import Path

from benchmarks.result import Measure, Result
from benchmarks.spot_replay import (
    Job,
    Rule,
    Trace,
    greedy,
    lastro,
    on_demand,
    optimum,
    read_trace,
    replay,
    uniform_progress,
    windows,
)

TRACES = Path(__file__).resolve().parents[1] / "tests" / "plan" / "data"
#: Hours of work, hours of the window, hours of a restart.
SETTINGS = (
    (48, 52, 0.1),
    (48, 60, 0.1),
    (48, 72, 0.1),
    (48, 96, 0.1),
    (24, 72, 0.1),
    (48, 60, 0.5),
    (48, 72, 0.5),
    (48, 96, 0.5),
)
#: Windows of each trace.
WINDOWS = 6
RULES: dict[str, Rule] = {
    "on demand": on_demand,
    "greedy": greedy,
    "uniform progress": uniform_progress,
    "lastro": lastro,
}


def _ratios(traces: list[Trace], job: Job) -> tuple[dict[str, float], float]:
    """Return each rule's mean cost, as a multiple of the optimum's, and the most hours that one was late."""
    ratios: dict[str, list[float]] = {name: [] for name in RULES}
    late = 0.0
    for trace in traces:
        for first in windows(trace, job, WINDOWS):
            best = optimum(trace, first, job)
            for name, rule in RULES.items():
                bill = replay(rule, trace, first, job)
                ratios[name].append(bill.cost / best)
                late = max(late, bill.late)
    return {name: statistics.mean(found) for name, found in ratios.items()}, late


def run() -> Result:
    traces = [read_trace(path) for path in sorted(TRACES.glob("aws-*.json"))]
    if not traces:
        return Result(measures=(), notes=("the traces are in the repository, and in no source archive",))
    rows, latest = [], 0.0
    for work, window, restart in SETTINGS:
        ratios, late = _ratios(traces, Job(work=work, window=window, restart=restart))
        rows.append(ratios)
        latest = max(latest, late)
    means = {name: statistics.mean(row[name] for row in rows) for name in RULES}
    worst = max(row["lastro"] / min(row["greedy"], row["uniform progress"]) for row in rows)
    notes = [
        f"{work} h in {window} h, restart {restart} h: "
        + ", ".join(f"{name} {ratio:.3f}" for name, ratio in row.items())
        for (work, window, restart), row in zip(SETTINGS, rows, strict=True)
    ]
    return Result(
        measures=(
            Measure(name="lastro / optimum, mean cost", value=means["lastro"], unit="x"),
            *(
                Measure(name=f"{name} / optimum", value=mean, unit="x")
                for name, mean in means.items()
                if name != "lastro"
            ),
            Measure(name="lastro / the better one, worst setting", value=worst, unit="x", target=1.05),
            Measure(name="the latest end after a window", value=latest, unit="h"),
        ),
        notes=(f"{len(traces)} traces, {WINDOWS} windows of each, no work lost at an interruption", *notes),
    )

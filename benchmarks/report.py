"""A sealed series against DuckDB's own read of it; how large the report of many points is."""

from __future__ import annotations

import random
import tempfile
import time
from pathlib import Path

from benchmarks.result import Measure, Result, median
from lastro import strictjson
from lastro.closeout.sealed import read_sealed, seal_measurements
from lastro.journal.projections import project
from lastro.paths import CampaignFolder
from lastro.view.html import render
from lastro.view.model import page_of
from lastro.view.series import Measured, Points, compose
from tests.view.story import START, Story, planned

POINTS, METRICS, RUNS, ROUNDS = 100_000, 6, 8, 15
TARGET_READ, TARGET_KIB = 3.0, 250.0


def _raw(folder: CampaignFolder) -> None:
    path = folder.run("r").attempt(1).measurements(0)
    path.parent.mkdir(parents=True)
    chance = random.Random(1)
    with path.open("w") as stream:
        for step in range(POINTS):
            values = {f"metric-{number}": chance.random() for number in range(METRICS)}
            stream.write(strictjson.dumps({"s": step, "t": step / 10, "v": values}) + "\n")


def _reading() -> tuple[Measure, ...]:
    import duckdb

    with tempfile.TemporaryDirectory() as name:
        folder = CampaignFolder(Path(name))
        _raw(folder)
        began = time.process_time()
        seal_measurements(folder)
        sealing = time.process_time() - began
        path = folder.sealed / "r.parquet"
        # Both open the file, take the rows of one metric in their order, and hold them as 64-bit numbers.
        own = (
            f"SELECT step, value FROM read_parquet('{path}') WHERE metric = 'metric-3' AND rank = 0"
            " ORDER BY attempt, line"
        )
        ratios, ours = [], []
        for _round in range(ROUNDS):
            began = time.process_time()
            with duckdb.connect(":memory:") as database:
                database.execute(own).fetchnumpy()
            theirs = time.process_time() - began
            began = time.process_time()
            assert len(read_sealed(path, "metric-3")[1].steps) == POINTS
            ours.append((time.process_time() - began) * 1000)
            ratios.append(ours[-1] / 1000 / theirs)
    return (
        median("a sealed series of 100,000 points / DuckDB's own read, CPU", ratios, "x", TARGET_READ),
        median("the same, CPU", ours, "ms"),
        Measure(name="sealing 6 x 100,000 points, with its check, CPU", value=sealing, unit="s"),
    )


def _size() -> Measure:
    plan = planned(*(f"variant-{number}" for number in range(RUNS - 1)))
    chance, noise = random.Random(1), Points()
    for step in range(POINTS):
        noise.add(step, chance.random())
    series = compose([{f"metric-{number}": noise for number in range(METRICS)}])
    measured = {run["id"]: Measured(series=series) for run in plan["runs"]}
    page = page_of(project(Story(plan).streams, START), measured)
    return Measure(
        name="report of 8 runs x 6 metrics x 100,000 points",
        value=len(render(page).encode()) / 1024,
        unit="KiB",
        target=TARGET_KIB,
    )


def run() -> Result:
    return Result(
        measures=(*_reading(), _size()),
        notes=("noise: the extremes of each bucket differ, so that no line of a curve is short",),
    )

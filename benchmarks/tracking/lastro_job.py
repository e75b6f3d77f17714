"""The work by lastro."""

from __future__ import annotations

from pathlib import Path

from benchmarks.attempt import make_attempt
from benchmarks.tracking.timing import each_step, main, spent
from lastro import strictjson
from lastro.closeout.sealed import read_sealed, seal_measurements
from lastro.journal.projections import project
from lastro.paths import CampaignFolder, RunFolder
from lastro.rules import CheckpointPolicy
from lastro.view.html import render
from lastro.view.model import page_of
from lastro.view.series import read_run
from tests.view.story import START, Story, planned

_NEVER = CheckpointPolicy(every_steps=10**9)


def log(root: Path, number: int, steps: int) -> dict[str, float]:
    attempt = make_attempt(root / f"{number}", _NEVER)
    walk = (step for step, _batch in enumerate(attempt.steps(range(steps)), 1))
    told = each_step(lambda values, _step: attempt.log(**values), number, walk)
    return {**told, "cpu": spent() - told["began"]}


def fill(root: Path, points: int) -> dict[str, float]:
    began = spent()
    folder = CampaignFolder(root / "one")
    path = folder.run("r").attempt(1).measurements(0)
    path.parent.mkdir(parents=True)
    with path.open("w") as stream:
        for step in range(points):
            stream.write(strictjson.dumps({"s": step, "t": step / 10, "v": {"loss": 1 / (step + 1)}}) + "\n")
    seal_measurements(folder)
    return {"cpu": spent() - began}


def read(root: Path, points: int) -> dict[str, float]:
    began = spent()
    found = read_sealed(CampaignFolder(root / "one").sealed / "r.parquet", "loss")[1]
    assert len(found.steps) == points
    return {"cpu": spent() - began}


def report(root: Path, processes: int, steps: int) -> dict[str, float]:
    began = spent()
    plan = planned(*(f"variant-{number}" for number in range(1, processes)))
    measured = {
        run["id"]: read_run(RunFolder(root / f"{number}" / "runs" / "bench"))
        for number, run in enumerate(plan["runs"], 1)
    }
    assert all(one.series["loss"].count == steps for one in measured.values())
    (root / "report.html").write_text(render(page_of(project(Story(plan).streams, START), measured)))
    return {"cpu": spent() - began}


if __name__ == "__main__":
    main({"log": log, "fill": fill, "read": read, "report": report})

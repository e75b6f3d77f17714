"""The batch script that `lastro export slurm` writes, on a real cluster that has no lastro."""

from __future__ import annotations

import json
import os
import re
import subprocess
from pathlib import Path

from tests.export.project import bare_python, cloned, exported, outputs, project
from tests.flow.campaigns import wait_for
from tests.providers.slurm.cluster import Cluster

SCRIPT = "export/slurm/sums.sbatch"


def clone_of(tmp_path: Path) -> Path:
    campaign = project(tmp_path / "mine")
    exported(campaign, "slurm")
    return cloned(campaign, tmp_path / "clone")


def submitted(slurm: Cluster, clone: Path, *options: str, **more: str) -> str:
    """Submit the script, as without lastro and for less time than the partition has; return the job."""
    environment = {"PATH": os.environ["PATH"], "PYTHON": bare_python(), **slurm.environment, **more}
    said = subprocess.run(
        ["sbatch", "--parsable", "--time=10", *options, SCRIPT],
        cwd=clone, env=environment, capture_output=True, text=True, check=True,
    )  # fmt: skip
    return said.stdout.strip().partition(";")[0]


def log_of(clone: Path, run: int) -> str:
    logs = list(clone.glob(f"sums-*-{run}.log"))
    return logs[-1].read_text() if logs else ""


def test_an_array_comes_to_the_outputs_of_all_runs(slurm: Cluster, tmp_path: Path) -> None:
    """1 + ... + 12 = 78, and ten times as much."""
    clone = clone_of(tmp_path)

    submitted(slurm, clone)

    wait_for(lambda: "is done" in log_of(clone, 0) and "is done" in log_of(clone, 1))
    for run, total in {"control": 78, "wide": 780}.items():
        assert json.loads((outputs(clone, run) / "total.json").read_text()) == total


def test_a_notice_of_slurm_lets_the_job_save_and_the_next_one_goes_on(slurm: Cluster, tmp_path: Path) -> None:
    clone = clone_of(tmp_path)
    job = submitted(slurm, clone, "--array=0", WAIT_AT="3")
    wait_for(lambda: "begins at 0" in log_of(clone, 0))

    slurm.call("scancel", "--batch", "--signal=USR1", job)

    wait_for(lambda: "control has saved on request" in log_of(clone, 0))
    for log in clone.glob("sums-*.log"):
        log.unlink()
    submitted(slurm, clone, "--array=0")
    wait_for(lambda: "is done" in log_of(clone, 0))
    assert re.search(r"going on from out/save-3.json\nbegins at 3", log_of(clone, 0))

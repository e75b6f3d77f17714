from __future__ import annotations

from pathlib import Path

import pytest

from lastro.export.slurm import slurm, time_limit
from lastro.spec.load import load_campaign
from tests.export.project import CAMPAIGN, project, recipe_of

STAGE = "  run: {each: run, cpu: 1, hours: [0.1, 0.2, 1.5]}\n"


@pytest.mark.parametrize(
    ("stages", "minutes"),
    [
        (STAGE, 90),
        (STAGE + "  more: {run: wide, gpu: 1, hours: 2}\n", 210),
        (STAGE + "  prepare: {person: 2h}\n  weights: {gpu: 1, hours: 9}\n", 90),
        ("  run: {each: run, gpu: 1, hours: {RTX 4090: [1, 2, 3], A100: [1, 1, 1]}}\n", 180),
        ("  run: {each: run, gpu: 1, hours: 0.0001}\n", 1),
        ("  prepare: {person: 2h}\n", None),
    ],
)
def test_the_limit_is_the_high_hours_of_what_a_run_needs(
    stages: str, minutes: int | None, tmp_path: Path
) -> None:
    """1.5 h are 90 min; the variant with 2 h more has 210. People and other stages are no part of a run."""
    spec = load_campaign(project(tmp_path / "p", CAMPAIGN.replace(STAGE, stages))).spec

    limit = time_limit(spec)

    assert limit.minutes == minutes
    assert ("run" in limit.why) or minutes is None


def directives(tmp_path: Path, more: str) -> list[str]:
    campaign = project(tmp_path / "p", CAMPAIGN + more)
    lines = slurm(recipe_of(campaign, "slurm"))["sums.sbatch"].splitlines()
    assert lines[0] == "#!/bin/bash"
    return [line.removeprefix("#SBATCH --") for line in lines if line.startswith("#SBATCH ")]


def test_stages_and_machines_say_what_the_campaign_does_not(tmp_path: Path) -> None:
    found = directives(tmp_path, "machines: 5\nprovider: slurm://debug\n")

    assert found == [
        "job-name=sums",
        "array=0-1%2",
        "output=sums-%A-%a.log",
        "no-requeue",
        "signal=B:USR1@120",
        "time=01:30:00",
        "partition=debug",
    ]


def test_what_the_campaign_says_wins(tmp_path: Path) -> None:
    found = directives(tmp_path, 'slurm: {time: "2-00:00:00", gres: "gpu:1", exclusive: true}\n')

    assert found[-3:] == ["time=2-00:00:00", "gres=gpu:1", "exclusive"]
    assert not any(line.startswith("gpus-per-node") for line in found)


def test_cards_of_the_stages_are_asked_for(tmp_path: Path) -> None:
    campaign = project(tmp_path / "p", CAMPAIGN.replace("cpu: 1", "gpu: 4"))

    assert "#SBATCH --gpus-per-node=4\n" in slurm(recipe_of(campaign, "slurm"))["sums.sbatch"]

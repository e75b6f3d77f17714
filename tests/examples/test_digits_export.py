"""The digits example starts by its exported files, which are those that its campaign makes now."""

from __future__ import annotations

import csv
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from lastro import strictjson
from lastro.export.targets import TARGETS, compare, make_export
from lastro.spec.load import load_campaign
from tests.job.hand import EXAMPLE, ROOT


@pytest.mark.parametrize("target", TARGETS)
def test_what_lies_in_the_repository_is_what_the_campaign_makes(target: str) -> None:
    made = make_export(load_campaign(EXAMPLE / "campaign.yaml"), target)

    assert compare(made) == (), f"run: lastro export {target}, in examples/digits"
    assert sorted(path.name for path in made.folder.iterdir()) == sorted(made.files)


def clone(folder: Path) -> Path:
    """Return the example as it lies in the repository, in an empty folder: nothing that a run has left."""
    names = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", "."],
        cwd=EXAMPLE, capture_output=True, text=True, check=True,
    ).stdout.splitlines()  # fmt: skip
    for name in names:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes((EXAMPLE / name).read_bytes())
    return folder


def started(folder: Path, log: Path) -> subprocess.Popen[bytes]:
    """Start the control where PyTorch and the library of lastro are there, and no command of it."""
    python = Path(sys.executable).parent
    environment = {
        "PATH": f"{python}:/usr/bin:/bin",
        "HOME": str(folder),
        "PYTHONPATH": str(ROOT / "src"),
        "PREPARED": "1",
        "OMP_NUM_THREADS": "1",
    }
    with log.open("ab") as out:
        return subprocess.Popen(
            ["sh", "export/shell/start.sh"], cwd=folder, env=environment, stdout=out, stderr=out
        )


@pytest.mark.long
def test_killed_and_started_again_it_comes_to_the_answer_of_the_readme(tmp_path: Path) -> None:
    """322 of 360 are right, as by `lastro run`: seed and checkpoint policy are those of the campaign."""
    folder, log = clone(tmp_path / "clone"), tmp_path / "log"
    run = folder / "disk" / "exported" / "campaigns" / "digits" / "runs" / "control"
    first = started(folder, log)
    until = time.monotonic() + 120
    while not list(run.glob("checkpoints/*-a1/manifest.json")) and time.monotonic() < until:
        time.sleep(0.05)
    first.send_signal(signal.SIGTERM)
    assert first.wait(60) == 85, log.read_text()

    assert started(folder, log).wait(240) == 0, log.read_text()

    with (folder / "data" / "test.csv").open() as truth, (run / "outputs" / "predictions.csv").open() as said:
        right = {row["id"]: row["label"] for row in csv.DictReader(truth)}
        assert sum(right[row["id"]] == row["prediction"] for row in csv.DictReader(said)) == 322
    told = [strictjson.loads(line) for line in (run / "attempts/2/signals.jsonl").read_bytes().splitlines()]
    restored = next(one for one in told if one["kind"] == "restored")
    assert restored["step"] > 0

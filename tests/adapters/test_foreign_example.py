"""The README's first line, with the script of examples/foreign as it is: killed, its weights are the same."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from lastro.clock import SystemClock
from lastro.paths import Home
from lastro.providers.here import Here
from tests.flow.campaigns import SmallCampaign, wait_for
from tests.flow.test_quick import job_pid, run_folder, saved
from tests.job.hand import ROOT

LINE = ("run", "--checkpoints", "out/checkpoint-*", "--resume-arg", "--resume_from_checkpoint {latest}", "--")
SCRIPT = ("train.py", "--max_steps", "200")


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[SmallCampaign]:
    made = SmallCampaign(tmp_path / "work", tmp_path / "home")
    made.folder.mkdir()
    shutil.copy(ROOT / "examples" / "foreign" / "train.py", made.folder)
    yield made
    here = Here(Home(made.home), SystemClock())
    for machine in here.machines():
        here.delete(machine.id)


def test_an_unmodified_script_of_hugging_face_is_killed_and_ends_with_the_same_weights(
    tmp_path: Path, folder: SmallCampaign, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OMP_NUM_THREADS", "1")  # one and the same order of additions, on any box
    undisturbed = tmp_path / "undisturbed"
    undisturbed.mkdir()
    program = [sys.executable, str(folder.folder / SCRIPT[0]), *SCRIPT[1:]]
    subprocess.run(program, cwd=undisturbed, check=True, stdout=subprocess.DEVNULL, timeout=280)

    driver = folder.start(*LINE, "python", *SCRIPT)
    wait_for(lambda: saved(folder, 50))
    os.kill(job_pid(folder, 1), signal.SIGKILL)

    assert driver.wait(240) == 0
    again = (run_folder(folder) / "attempts/2/attempt.json").exists()
    weights = "out/final/model.safetensors"
    assert again, "it was killed before its end"
    assert (folder.folder / weights).read_bytes() == (undisturbed / weights).read_bytes()

"""Under torchrun with one process the same holds: as real processes, all of which are killed from outside."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from lastro.journal.signals import read_beat
from lastro.paths import AttemptFolder
from tests.adapters.lives import JOBS, a_run, delivered, restored_at
from tests.job.hand import ROOT, environment

COMMAND = [sys.executable, "-m", "torch.distributed.run", "--nproc-per-node", "1", "--standalone"]


@contextmanager
def started(folder: AttemptFolder) -> Iterator[subprocess.Popen[bytes]]:
    """Start the job; kill what is left of it, all of it, when the block ends."""
    environ = {
        **environment(folder),
        "HF_HUB_OFFLINE": "1",
        "PYTHONPATH": f"{ROOT / 'src'}{os.pathsep}{ROOT}",
    }
    command = [*COMMAND, str(JOBS / "hugging_face.py"), "--augment"]
    with folder.log.open("wb") as log:
        job = subprocess.Popen(command, env=environ, stdout=log, stderr=log, start_new_session=True)
    try:
        yield job
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(job.pid, signal.SIGKILL)
        job.wait()


def test_one_process_under_torchrun_is_killed_and_goes_on_with_the_same_bits(tmp_path: Path) -> None:
    undisturbed, run = a_run(tmp_path / "undisturbed"), a_run(tmp_path / "killed")
    whole, first = undisturbed.attempt(), run.attempt()
    with started(whole) as peaceful:
        assert peaceful.wait() == 0, whole.log.read_text()
    with started(first) as job:
        while (beat := read_beat(first.heartbeat)) is None or beat.step < 30:
            assert job.poll() is None, first.log.read_text()
            time.sleep(0.01)
    second = run.attempt()

    with started(second) as job:
        assert job.wait() == 0, second.log.read_text()

    step = restored_at(second)
    assert step > 0
    assert delivered(first)[:step] + delivered(second) == delivered(whole)
    assert run.outputs() == undisturbed.outputs()

"""The GPT example: divided among two processes, lost, and gone on with by one."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

from safetensors import safe_open

from lastro.checkpoint import store
from lastro.procs.killtree import end_tree
from lastro.rules import CheckpointPolicy
from tests.job.hand import ROOT, Run, environment, make_run, signals

EXAMPLE = ROOT / "examples" / "gpt"
#: 1223 windows, 16 in a batch, the rest left out.
UPDATES = 76


def live(run: Run, launch: list[str], lost_at: int | None = None) -> Path:
    """Let the example live once, one epoch long; return the attempt's folder."""
    folder = run.attempt()
    environ = {**environment(folder), "PYTHONPATH": str(ROOT / "src")}
    command = [sys.executable, *launch, str(EXAMPLE / "train.py"), "--layers", "1", "--epochs", "1"]
    with folder.log.open("wb") as log:
        job = subprocess.Popen(command, env=environ, cwd=EXAMPLE, stdout=log, stderr=log)
        try:
            while lost_at is not None and job.poll() is None:
                if any(line.get("folder") == f"{lost_at}-a1" for line in signals(folder)):
                    break
                time.sleep(0.05)
            else:
                job.wait(timeout=240)
        finally:
            end_tree(("LASTRO_ATTEMPT", str(folder.root)))  # torchrun's processes have sessions of their own
            job.wait()
    assert lost_at is not None or job.returncode == 0, folder.log.read_text()
    return folder.root


def test_what_two_have_written_together_one_goes_on_with(tmp_path: Path) -> None:
    run = make_run(tmp_path, checkpoint=CheckpointPolicy(every_steps=10, keep=2))
    live(run, ["-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2"], lost_at=20)
    (newest, *_older) = store.names(run.folder.checkpoints)
    assert {"tensors.0.safetensors", "tensors.1.safetensors"} <= {path.name for path in newest.iterdir()}

    live(run, [])

    (restored,) = (line["step"] for line in signals(run.folder.attempt(2)) if line["kind"] == "restored")
    assert restored >= 20
    last = run.folder.checkpoints / f"{UPDATES}-a2"
    assert store.verify(last) == ()
    with safe_open(run.folder.outputs / "model.safetensors", "pt") as weights:
        assert weights.get_slice("bytes.weight").get_shape() == [256, 64]
    guesses = (run.folder.outputs / "predictions.csv").read_text().splitlines()
    assert len(guesses) == 1 + 1000

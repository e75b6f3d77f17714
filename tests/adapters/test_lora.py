"""The LoRA example: killed and resumed it gives the same adapter, and its checkpoints hold what trains."""

from __future__ import annotations

import signal
from pathlib import Path

from lastro.checkpoint import store
from tests.adapters.lives import a_run, restored_at
from tests.job.conftest import Nursery
from tests.job.hand import ROOT

SCRIPT = ROOT / "examples" / "lora" / "train.py"
SHORT = ("--epochs", "2")


def test_the_lora_example_is_killed_and_goes_on_with_the_same_adapter(
    tmp_path: Path, frameworks: Nursery
) -> None:
    undisturbed, run = a_run(tmp_path / "undisturbed"), a_run(tmp_path / "killed")

    ended = frameworks.run(undisturbed.attempt(), SCRIPT, *SHORT)
    assert ended.code == 0, ended.log
    ended = frameworks.run(run.attempt(), SCRIPT, *SHORT, signal=signal.SIGKILL, step=45)
    assert ended.signal == signal.SIGKILL, ended.log
    second = run.attempt()
    ended = frameworks.run(second, SCRIPT, *SHORT)
    assert ended.code == 0, ended.log

    assert restored_at(second) > 0
    assert run.outputs() == undisturbed.outputs()

    # 4 layers, two matrices of rank 8 to 128 and to 384 numbers; each a weight and two moments, of 4 bytes.
    needed = 12 * 4 * 8 * (128 + 384)
    newest = store.names(run.folder.checkpoints)[0]
    size = sum(file.stat().st_size for file in newest.iterdir())
    assert needed < size <= 1.1 * needed + 65536
    assert len(list((run.folder.checkpoints / "base").iterdir())) == 1

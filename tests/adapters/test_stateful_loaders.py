"""Loaders that keep their own place, under SIGKILL: the rows and the weights are those of an undisturbed run.

With a fixed number of workers; rows are drawn and shuffled by the loaders themselves.
"""

from __future__ import annotations

import importlib.util
import json
import signal
from pathlib import Path
from typing import Any

import pytest

from lastro.paths import AttemptFolder
from tests.adapters.lives import JOBS, a_run, delivered, restored_at
from tests.job.conftest import Ended, Nursery
from tests.job.hand import Run, environment

SCRIPT = JOBS / "stateful_loaders.py"
#: 44 rows, 4 in a batch: 11 batches in each of three epochs.
IN_EPOCH = 11


def live(
    run: Run, frameworks: Nursery, wish: dict[str, Any], lost_at: int | None = None
) -> tuple[Ended, AttemptFolder]:
    folder = run.attempt()
    environ = {**environment(folder), "LOADER": json.dumps(wish)}
    strike = None if lost_at is None else signal.SIGKILL
    return frameworks.run(folder, SCRIPT, signal=strike, step=lost_at, environ=environ), folder


def assert_exact(root: Path, frameworks: Nursery, wish: dict[str, Any], *lost_at: int) -> None:
    """Compare a run that is lost after these updates, in turn, with one that is not."""
    whole, run = a_run(root / "whole", every=4), a_run(root / "lost", every=4)
    ended, peaceful = live(whole, frameworks, wish)
    assert ended.code == 0, ended.log
    rows = delivered(peaceful)
    begun = 0
    for lost in lost_at:
        ended, folder = live(run, frameworks, wish, lost)
        assert ended.signal == signal.SIGKILL, ended.log
        assert delivered(folder) == rows[begun:lost]
        begun = max(int(path.name.split("-")[0]) for path in run.folder.checkpoints.glob("[0-9]*"))

    ended, last = live(run, frameworks, wish)

    assert ended.code == 0, ended.log
    assert restored_at(last) == begun
    assert delivered(last) == rows[begun:]
    assert run.outputs() == whole.outputs()


@pytest.mark.parametrize("workers", [0, 2])
@pytest.mark.parametrize("kind", ["rows", "stream"])
def test_torchdata_goes_on_inside_an_epoch_and_at_its_end(
    tmp_path: Path, frameworks: Nursery, kind: str, workers: int
) -> None:
    assert_exact(tmp_path, frameworks, {"kind": kind, "workers": workers}, 7, 14, 23)


@pytest.mark.parametrize(("workers", "in_bytes"), [(0, False), (2, False), (0, True)])
def test_streaming_goes_on_also_where_a_batch_is_a_list_of_bytes(
    tmp_path: Path, frameworks: Nursery, workers: int, in_bytes: bool
) -> None:
    """Its own count of samples would be 5 or 6, the letters of `row 17`, for each batch of 4."""
    if importlib.util.find_spec("streaming") is None:
        pytest.skip("mosaicml-streaming is not here; tools/adapters_env.py installs it")
    from tests.adapters.streaming_alone import MDSWriter

    shards = tmp_path / "shards"
    with MDSWriter(out=str(shards), columns={"row": "int"}, size_limit=400) as writer:
        for row in range(44):
            writer.write({"row": row})
    wish = {"kind": "shards", "shards": str(shards), "workers": workers, "bytes": in_bytes}

    assert_exact(tmp_path, frameworks, wish, 7, 14, 23)

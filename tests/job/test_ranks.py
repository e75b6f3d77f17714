"""Two processes under torchrun train together: saved by the first, lost and gone on with together."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import torch

from lastro.checkpoint import store
from lastro.errors import UsageError
from lastro.job.loader import Loader
from lastro.job.ranks import Ranks, ranks_of
from lastro.paths import AttemptFolder
from lastro.procs.killtree import end_tree
from lastro.rules import CheckpointPolicy
from tests.job.hand import ROOT, Run, environment, kinds, make_run, signals

SCRIPT = Path(__file__).with_name("team.py")
TORCHRUN = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node"]
ROWS, UPDATES = 64, 16


def live(run: Run, ranks: int, **wish: Any) -> tuple[int, AttemptFolder]:
    """Let the script live once, as so many processes; return its exit code and its folder."""
    folder = run.attempt()
    told = {"rows": ROWS, "batch": 8 // ranks, **wish}
    command = [*TORCHRUN, str(ranks)] if ranks > 1 else [sys.executable]
    environ = {
        **environment(folder),
        "TEAM": json.dumps(told),
        "PYTHONPATH": f"{ROOT / 'src'}{os.pathsep}{ROOT}",
    }
    with folder.log.open("wb") as log:
        try:
            done = subprocess.run(
                [*command, str(SCRIPT)], env=environ, stdout=log, stderr=log, timeout=240, check=False
            )
        finally:
            end_tree(("LASTRO_ATTEMPT", str(folder.root)))  # torchrun's processes have sessions of their own
    return done.returncode, folder


def given(folder: AttemptFolder, rank: int) -> dict[int, list[int]]:
    """Return the rows that a process was given, by update."""
    path = folder.root / f"given.{rank}.jsonl"
    return dict(map(json.loads, path.read_text().splitlines()))


def a_run(root: Path) -> Run:
    return make_run(root, checkpoint=CheckpointPolicy(every_steps=5, keep=2))


def weights(run: Run) -> dict[str, torch.Tensor]:
    loaded: dict[str, torch.Tensor] = torch.load(run.folder.outputs / "weights.pt")
    return loaded


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> tuple[Run, AttemptFolder]:
    run = a_run(tmp_path_factory.mktemp("undisturbed"))
    code, folder = live(run, 2)
    assert code == 0, folder.log.read_text()
    return run, folder


Whole = tuple[Run, AttemptFolder]


def test_one_of_two_processes_is_killed_and_both_go_on_with_the_same_bits(
    tmp_path: Path, undisturbed: Whole
) -> None:
    """Each has dropout of its own, so the weights tell whether each got its own random states back."""
    whole, peaceful = undisturbed
    run = a_run(tmp_path)
    code, first = live(run, 2, die_at=[1, 13])
    assert code != 0
    assert not list(first.root.glob("done.*")), "the other one ended too"

    code, second = live(run, 2)

    assert code == 0, second.log.read_text()
    assert [line["step"] for line in signals(second) if line["kind"] == "restored"] == [10]
    for rank in (0, 1):
        assert {**given(first, rank), **given(second, rank)} == given(peaceful, rank)
        assert min(given(second, rank)) == 11
    expected, found = weights(whole), weights(run)
    assert all(torch.equal(expected[name], found[name]) for name in expected)


def test_all_leave_after_the_same_update_when_one_is_asked(tmp_path: Path) -> None:
    run = a_run(tmp_path)

    code, folder = live(run, 2, leave_at=[1, 7])

    assert code != 0, "torchrun tells that its processes ended early"
    last = [max(given(folder, rank)) for rank in (0, 1)]
    assert last[0] == last[1] in (7, 8)
    (newest, *_others) = store.names(run.folder.checkpoints)
    assert newest.name == f"{last[0]}-a1"
    assert store.verify(newest) == ()
    assert kinds(folder)[-1] == "left"


@pytest.mark.long
def test_what_two_have_saved_one_goes_on_with_in_the_same_order(tmp_path: Path, undisturbed: Whole) -> None:
    """The batch of both is as large together as that of the one, so the place in the data is the same."""
    _whole, peaceful = undisturbed
    run = a_run(tmp_path)
    code, _first = live(run, 2, die_at=[0, 13])
    assert code != 0

    code, second = live(run, 1)

    assert code == 0, second.log.read_text()
    assert given(second, 0) == {
        step: given(peaceful, 0)[step] + given(peaceful, 1)[step] for step in range(11, UPDATES + 1)
    }


def test_each_process_gets_its_part_of_the_batch_of_all() -> None:
    rows = list(range(12))
    parts = [Loader(rows, seed=1, batch_size=2, shuffle=True, ranks=Ranks(rank, 3)) for rank in range(3)]
    alone = Loader(rows, seed=1, batch_size=6, shuffle=True)

    together = [torch.cat(batches).tolist() for batches in zip(*parts, strict=True)]

    assert together == [batch.tolist() for batch in alone]
    assert [dict(part.signature()) for part in parts] == [dict(alone.signature())] * 3


def test_a_last_batch_that_cannot_be_divided_is_refused() -> None:
    with pytest.raises(UsageError, match="too small to be divided among 2 processes"):
        Loader(list(range(13)), seed=1, batch_size=2, ranks=Ranks(0, 2))


def test_processes_that_torch_does_not_know_are_refused() -> None:
    with pytest.raises(UsageError, match=r"WORLD_SIZE names 2 processes, and torch.distributed knows 1"):
        Ranks(1, 2).meet()


@pytest.mark.parametrize(
    ("told", "rank", "count"),
    [({}, 0, 1), ({"RANK": "3", "WORLD_SIZE": "8"}, 3, 8), ({"RANK": "0", "WORLD_SIZE": "1"}, 0, 1)],
)
def test_who_a_process_is_comes_from_its_launcher(told: dict[str, str], rank: int, count: int) -> None:
    found = ranks_of(told)

    assert (found.rank, found.count) == (rank, count)

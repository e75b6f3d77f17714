"""A state that is divided among processes: saved together, lost, gone on with by fewer or more of them."""

from __future__ import annotations

import itertools
import json
from pathlib import Path
from typing import Any

import pytest
import torch

from lastro.checkpoint import store
from lastro.paths import AttemptFolder
from lastro.rules import CheckpointPolicy
from tests.job.conftest import Ended, Nursery
from tests.job.hand import Run, environment, make_run, signals

SCRIPT = Path(__file__).with_name("shards.py")


def live(run: Run, nursery: Nursery, ranks: int, **wish: Any) -> tuple[Ended, AttemptFolder]:
    """Let the script live once, as so many processes."""
    folder = run.attempt()
    environ = {**environment(folder), "SHARDS": json.dumps({"batch": 8 // ranks, **wish})}
    return nursery.run(folder, SCRIPT, environ=environ, ranks=ranks), folder


def a_run(root: Path) -> Run:
    return make_run(root, checkpoint=CheckpointPolicy(every_steps=5, keep=2))


def state(folder: AttemptFolder, name: str) -> Any:
    return torch.load(folder.root / name)


def given(folder: AttemptFolder, rank: int) -> dict[int, Any]:
    """Return the rows that a process was given and the number that it drew, by update."""
    lines = (folder.root / f"given.{rank}.jsonl").read_text().splitlines()
    return {step: rest for step, *rest in map(json.loads, lines)}


def restored(folder: AttemptFolder) -> list[int]:
    return [line["step"] for line in signals(folder) if line["kind"] == "restored"]


def same(one: Any, other: Any) -> bool:
    """Compare two trees bit by bit."""
    if isinstance(one, torch.Tensor):
        return torch.equal(one, other) and one.dtype == other.dtype
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(same(one[key], other[key]) for key in one)
    if isinstance(one, list):
        return len(one) == len(other) and all(map(same, one, other))
    return bool(one == other)


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory, divided_nursery: Nursery) -> AttemptFolder:
    ended, folder = live(a_run(tmp_path_factory.mktemp("undisturbed")), divided_nursery, 2)
    assert ended.code == 0, ended.log
    return folder


def test_one_process_is_killed_and_both_go_on_with_the_same_bits(
    tmp_path: Path, divided_nursery: Nursery, undisturbed: AttemptFolder
) -> None:
    """Each has dropout of its own, so the weights tell whether each got its own random states back."""
    run = a_run(tmp_path)
    ended, first = live(run, divided_nursery, 2, die_at=[1, 13])
    assert ended.code != 0

    ended, second = live(run, divided_nursery, 2)

    assert ended.code == 0, ended.log
    assert restored(second) == [10]
    for rank in (0, 1):
        assert {**given(first, rank), **given(second, rank)} == given(undisturbed, rank)
    assert same(state(second, "end.pt"), state(undisturbed, "end.pt"))
    assert not list(run.folder.checkpoints.glob(".tmp-*"))


def test_what_four_have_saved_goes_on_divided_by_two_or_whole_and_back(
    tmp_path: Path, divided_nursery: Nursery
) -> None:
    """Seven words among four are 2, 2, 2 and 1; five rows of a layer are 2, 2 and 1: the last has none."""
    run = a_run(tmp_path)
    ended, first = live(run, divided_nursery, 4, die_at=[0, 8], dump_at=5)
    assert ended.code != 0
    saved = state(first, "at.pt")

    _ended, by_two = live(run, divided_nursery, 2, die_at=[0, 6])
    _ended, alone = live(run, divided_nursery, 1, whole=True, dump_at=10, die_at=[0, 11])
    ended, again = live(run, divided_nursery, 2)

    assert ended.code == 0, ended.log
    assert [restored(folder) for folder in (by_two, alone, again)] == [[5], [5], [10]]
    assert same(state(by_two, "begin.pt"), saved)
    assert same(state(alone, "begin.pt"), saved)
    assert same(state(again, "begin.pt"), state(alone, "at.pt"))
    assert "random states of its own" in ended.log, "the second of them is not known to what one has saved"


def test_a_part_with_a_flipped_bit_is_passed_over_by_all(
    tmp_path: Path, divided_nursery: Nursery, undisturbed: AttemptFolder
) -> None:
    run = a_run(tmp_path)
    live(run, divided_nursery, 2, die_at=[0, 12])
    path = run.folder.checkpoints / "10-a1" / "tensors.1.safetensors"
    content = bytearray(path.read_bytes())
    content[-1] ^= 1
    path.write_bytes(content)

    ended, second = live(run, divided_nursery, 2)

    assert ended.code == 0, ended.log
    assert restored(second) == [5]
    assert "tensors.1.safetensors does not have the digest of its manifest" in ended.log
    assert same(state(second, "end.pt"), state(undisturbed, "end.pt"))


def test_what_does_not_train_is_written_once_by_each(tmp_path: Path, divided_nursery: Nursery) -> None:
    """The frozen layer has 800 x 800 weights of 4 bytes, 1.28 MB for each of two; the rest is 13 KB each."""
    run = a_run(tmp_path)
    _ended, first = live(run, divided_nursery, 2, frozen=True, hidden=800, die_at=[1, 13])

    ended, second = live(run, divided_nursery, 1, frozen=True, hidden=800)

    assert ended.code == 0, ended.log
    assert restored(second) == [10]
    manifests = [store.committed(folder) for folder in store.names(run.folder.checkpoints)]
    base = [sorted(one.base) for one in manifests if isinstance(one, store.Manifest)]
    bases = sorted(path.name for path in (run.folder.checkpoints / store.BASE).iterdir())
    told = [line for line in signals(first) if line["kind"] == "checkpoint"]
    assert len(told) == 2
    assert all(line["bytes"] < 300_000 for line in told)
    assert base and all(set(names) <= set(bases) for names in base)


@pytest.mark.parametrize(("rank", "call"), [(0, 12), (1, 1)])
def test_a_kill_in_a_save_leaves_the_one_before(
    tmp_path: Path, divided_nursery: Nursery, undisturbed: AttemptFolder, rank: int, call: int
) -> None:
    assert _survives(tmp_path, divided_nursery, undisturbed, rank, call)


@pytest.mark.long
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("rank", [0, 1])
def test_a_kill_at_any_durable_call_of_a_process_loses_nothing_that_was_announced(
    tmp_path: Path, divided_nursery: Nursery, undisturbed: AttemptFolder, rank: int
) -> None:
    """The saves at 15 and at the end, 16, with all that is let go after them."""
    for call in itertools.count(1):
        if not _survives(tmp_path / str(call), divided_nursery, undisturbed, rank, call):
            break
    assert call > 4, "two in each save at least"


def _survives(root: Path, nursery: Nursery, whole: AttemptFolder, rank: int, call: int) -> bool:
    """End a process in the save at update 15; see that the next life ends as if nothing had been.

    Returns False when the save has fewer durable calls.
    """
    run = a_run(root)
    ended, first = live(run, nursery, 2, crash=[rank, 14, call])
    announced = run.committed_step()
    crashed = (first.root / "crashed").exists()
    assert crashed == (ended.code != 0), ended.log

    ended, second = live(run, nursery, 2)

    assert ended.code == 0, ended.log
    assert restored(second)[0] >= (announced or 0)
    assert not crashed or restored(second)[0] in (10, 15, 16)
    assert same(state(second, "end.pt"), state(whole, "end.pt"))
    return crashed

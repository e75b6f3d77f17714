"""What does not train is written once, whatever the loop; and it is noticed when it changes all the same."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn

from lastro import atomic
from lastro.checkpoint import snapshot, store
from lastro.checkpoint.adapters import bridge
from lastro.checkpoint.adapters.base import Stateful
from lastro.checkpoint.arena import Arena
from lastro.checkpoint.base import Base
from lastro.checkpoint.retention import apply_retention, remove_leftovers, remove_unused_base
from lastro.rules import CheckpointPolicy
from tests.checkpoint.test_store import facts

TRAINABLE = 2 * 8 * 600


class Adapted(nn.Module):
    """A frozen layer of 1.4 MB, and a low-rank one beside it that trains."""

    def __init__(self) -> None:
        super().__init__()
        self.frozen = nn.Linear(600, 600, bias=False)
        self.frozen.requires_grad_(False)
        self.down, self.up = nn.Linear(600, 8, bias=False), nn.Linear(8, 600, bias=False)


class Life:
    """One process of a run: what it saves, and what it knows of the base."""

    def __init__(self, root: Path, model: nn.Module) -> None:
        self.root, self.model = root, model
        trained = [parameter for parameter in model.parameters() if parameter.requires_grad]
        self.optimizer = torch.optim.AdamW(trained)
        for parameter in trained:
            parameter.grad = torch.ones_like(parameter)
        self.optimizer.step()
        self.base, self.arena = Base(), Arena()

    def save(self, step: int, *, look_again: bool = False) -> Path:
        objects: dict[str, Stateful] = {"model": self.model, "optimizer": self.optimizer}
        taken = snapshot.take(objects, {"step": step}, bridge(), self.arena, self.base, look_again=look_again)
        with store.publish(self.root, facts(step), lambda: True) as draft:
            taken.write(draft)
        assert store.verify(self.root / f"{step}-a1") == ()
        return self.root / f"{step}-a1"


def _size(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.iterdir())


def _bases(root: Path) -> list[str]:
    return sorted(path.name for path in (root / "base").iterdir())


def _frozen_in(folder: Path) -> torch.Tensor:
    manifest = store.committed(folder)
    assert isinstance(manifest, store.Manifest)
    groups = snapshot.decode(snapshot.load(folder, manifest, bridge()))
    weight: torch.Tensor = groups["model"]["frozen.weight"]
    return weight


def test_a_checkpoint_has_the_size_of_what_trains(tmp_path: Path) -> None:
    life = Life(tmp_path, Adapted())

    sizes = [_size(life.save(step)) for step in (1, 2, 3)]

    assert max(sizes) <= 1.1 * 12 * TRAINABLE + 64 * 1024
    assert len(_bases(tmp_path)) == 1


def test_everything_comes_back_from_both_files(tmp_path: Path) -> None:
    life, other = Life(tmp_path, Adapted()), Adapted()
    folder = life.save(1)
    manifest = store.committed(folder)
    assert isinstance(manifest, store.Manifest)

    groups = snapshot.decode(snapshot.load(folder, manifest, bridge()))
    snapshot.apply({"model": groups["model"], "random": groups["random"]}, {"model": other}, bridge(), ())

    for old, new in zip(life.model.state_dict().values(), other.state_dict().values(), strict=True):
        assert torch.equal(old, new)


def test_a_new_process_finds_the_file_that_an_earlier_one_has_written(tmp_path: Path) -> None:
    model = Adapted()
    Life(tmp_path, model).save(1)
    (written,) = (tmp_path / "base").iterdir()
    before = written.stat().st_mtime_ns, written.stat().st_ino

    Life(tmp_path, model).save(2)

    assert (written.stat().st_mtime_ns, written.stat().st_ino) == before
    assert len(_bases(tmp_path)) == 1


class Packed(torch.nn.Parameter):
    """A parameter with a type of its own, as those of a base that was packed to few bits."""


def test_a_frozen_parameter_of_a_type_of_its_own_is_written_once_too(tmp_path: Path) -> None:
    model = Adapted()
    packed = torch.arange(4_000_000).to(torch.uint8)
    model.frozen.weight = Packed(packed, requires_grad=False)
    life = Life(tmp_path, model)

    sizes = [_size(life.save(step)) for step in (1, 2)]

    assert max(sizes) <= 1.1 * 12 * TRAINABLE + 64 * 1024
    assert torch.equal(_frozen_in(tmp_path / "2-a1"), packed)


CHANGES: dict[str, Callable[[Any], object]] = {
    "in place": lambda weight: weight.add_(1.0),
    "past the count of changes": lambda weight: weight.data.mul_(1.5),
    "by another array": lambda weight: weight.numpy().fill(3.0),
    "by new memory": lambda weight: setattr(weight, "data", torch.ones(600, 600)),
}


@pytest.mark.parametrize("how", CHANGES)
def test_what_was_declared_frozen_and_changes_is_saved_as_it_is(tmp_path: Path, how: str) -> None:
    """An average of the weights, for one, asks for no gradient and moves at every step."""
    model = Adapted()
    life = Life(tmp_path, model)
    first, before = life.save(1), model.frozen.weight.clone()
    with torch.no_grad():
        CHANGES[how](model.frozen.weight)

    second = life.save(2)

    assert torch.equal(_frozen_in(first), before)
    assert torch.equal(_frozen_in(second), model.frozen.weight)
    assert len(_bases(tmp_path)) == 1, "it is part of the checkpoint now, and no second base"


def test_one_element_that_is_changed_past_the_count_is_found_at_the_end_of_the_run(tmp_path: Path) -> None:
    """The sample has missed it; what is read whole has not."""
    model = Adapted()
    life = Life(tmp_path, model)
    life.save(1)
    model.frozen.weight.data[0, 1] += 1

    last = life.save(2, look_again=True)

    assert torch.equal(_frozen_in(last), model.frozen.weight)


def test_a_bit_of_the_base_is_found_and_named(tmp_path: Path) -> None:
    folder = Life(tmp_path, Adapted()).save(1)
    (base,) = (tmp_path / "base").iterdir()
    data = bytearray(base.read_bytes())
    data[-1] ^= 1
    base.write_bytes(data)

    found = store.latest(tmp_path)

    assert found.folder is None
    assert found.passed_over == (
        (folder, f"base/{base.name} does not have the digest of its manifest: its bytes have changed"),
    )
    base.unlink()
    assert store.latest(tmp_path).passed_over == ((folder, f"base/{base.name} is missing"),)


def test_a_damaged_base_is_written_anew_by_the_next_process(tmp_path: Path) -> None:
    model = Adapted()
    Life(tmp_path, model).save(1)
    (base,) = (tmp_path / "base").iterdir()
    base.write_bytes(bytes(base.stat().st_size))

    Life(tmp_path, model).save(2)

    assert store.latest(tmp_path).folder == tmp_path / "2-a1"


def test_the_base_stays_as_long_as_a_checkpoint_refers_to_it(tmp_path: Path) -> None:
    life = Life(tmp_path, Adapted())
    for step in (1, 2, 3):
        life.save(step)
    kept = _bases(tmp_path)
    apply_retention(tmp_path, CheckpointPolicy(keep=1), ["2-a1", "3-a1"])
    remove_unused_base(tmp_path)
    assert [folder.name for folder in store.names(tmp_path)] == ["3-a1"]
    assert _bases(tmp_path) == kept

    Life(tmp_path, Adapted()).save(4)
    apply_retention(tmp_path, CheckpointPolicy(keep=1), ["4-a1"])
    remove_unused_base(tmp_path)

    assert len(_bases(tmp_path)) == 1
    assert _bases(tmp_path) != kept


def test_while_a_checkpoint_cannot_be_asked_no_base_goes(tmp_path: Path) -> None:
    life = Life(tmp_path, Adapted())
    life.save(1)
    Life(tmp_path, Adapted()).save(2)
    Life(tmp_path, Adapted()).save(3)
    (tmp_path / "2-a1" / "manifest.json").write_text("{")
    kept = _bases(tmp_path)

    apply_retention(tmp_path, CheckpointPolicy(keep=1), ["1-a1", "3-a1"], protect=["2-a1"])
    remove_unused_base(tmp_path)

    assert _bases(tmp_path) == kept


def test_what_a_save_of_the_base_has_left_half_is_removed(tmp_path: Path) -> None:
    Life(tmp_path, Adapted()).save(1)
    (tmp_path / "base" / f"{atomic.TEMPORARY}x").write_text("half")

    remove_leftovers(tmp_path)

    assert len(_bases(tmp_path)) == 1


def test_a_little_that_does_not_train_is_no_file_of_its_own(tmp_path: Path) -> None:
    model = nn.Sequential(nn.Linear(4, 4), nn.Linear(4, 4))
    model[0].requires_grad_(False)

    Life(tmp_path, model).save(1)

    assert not (tmp_path / "base").exists()


def test_a_base_that_is_no_number_makes_a_checkpoint_unhealthy(tmp_path: Path) -> None:
    model = Adapted()
    with torch.no_grad():
        model.frozen.weight[3, 3] = float("nan")

    manifest = store.committed(Life(tmp_path, model).save(1))

    assert isinstance(manifest, store.Manifest) and manifest.health is not None
    assert manifest.health.first_bad == "model/frozen.weight"

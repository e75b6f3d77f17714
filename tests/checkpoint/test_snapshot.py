"""State of real PyTorch objects: written, read back and refused by name where it does not fit."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import safetensors.torch
import torch
import torch.ao.nn.quantized
import torch.ao.quantization
from torch import nn

from lastro.checkpoint import snapshot, store
from lastro.checkpoint.adapters import bridge
from lastro.checkpoint.adapters.plain import Plain
from lastro.checkpoint.arena import Arena
from lastro.errors import CheckpointDamaged
from tests.checkpoint.test_store import facts


def save(root: Path, position: Any = None, **objects: Any) -> Path:
    with store.publish(root, facts(1), lambda: True) as draft:
        snapshot.take(objects, position or {"step": 1}, bridge(), Arena()).write(draft)
    return root / "1-a1"


def groups_of(folder: Path) -> dict[str, Any]:
    manifest = store.committed(folder)
    assert isinstance(manifest, store.Manifest)
    return snapshot.decode(snapshot.load(folder, manifest, bridge()))


def restore(folder: Path, leave_out: tuple[str, ...] = (), **objects: Any) -> None:
    groups = groups_of(folder)
    snapshot.check_groups(groups, objects, leave_out)
    snapshot.apply(groups, objects, bridge(), leave_out)


class Box:
    """Something of the user's own with a state."""

    def __init__(self, **state: Any) -> None:
        self.state: Any = state

    def state_dict(self) -> Any:
        return self.state

    def load_state_dict(self, state: Any) -> None:
        self.state = state


def trained() -> tuple[nn.Module, torch.optim.Optimizer, torch.optim.lr_scheduler.LRScheduler]:
    model = nn.Sequential(nn.Linear(4, 3), nn.BatchNorm1d(3), nn.Dropout(0.5), nn.Linear(3, 1))
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.1, betas=(0.8, 0.9))
    scheduler = torch.optim.lr_scheduler.MultiStepLR(optimizer, [2, 4])
    for _ in range(3):
        model(torch.randn(5, 4)).sum().backward()
        optimizer.step()
        scheduler.step()
    return model, optimizer, scheduler


def same(one: Mapping[str, torch.Tensor], other: Mapping[str, torch.Tensor]) -> bool:
    return one.keys() == other.keys() and all(torch.equal(one[key], other[key]) for key in one)


def test_model_optimizer_and_scheduler_come_back_bit_by_bit(tmp_path: Path) -> None:
    model, optimizer, scheduler = trained()
    folder = save(tmp_path, model=model, optimizer=optimizer, scheduler=scheduler)
    new_model, new_optimizer, new_scheduler = trained()

    restore(folder, model=new_model, optimizer=new_optimizer, scheduler=new_scheduler)

    assert same(model.state_dict(), new_model.state_dict())
    assert new_optimizer.param_groups[0]["betas"] == (0.8, 0.9)
    assert new_optimizer.param_groups[0]["lr"] == optimizer.param_groups[0]["lr"]
    for old, new in zip(model.parameters(), new_model.parameters(), strict=True):
        assert same(optimizer.state[old], new_optimizer.state[new])
    assert new_scheduler.state_dict() == scheduler.state_dict()


def test_every_random_state_comes_back(tmp_path: Path) -> None:
    def draw() -> tuple[float, float, float]:
        return random.random(), float(np.random.random()), float(torch.rand(()))

    np.random.standard_normal()  # leaves a cached second value, which is part of the state
    folder = save(tmp_path)
    expected = (*draw(), float(np.random.standard_normal()))
    draw()

    restore(folder)

    assert (*draw(), float(np.random.standard_normal())) == expected


def test_a_scaler_comes_back(tmp_path: Path) -> None:
    def scaler() -> torch.amp.GradScaler:
        return torch.amp.GradScaler("cpu", init_scale=65536.0)

    old = scaler()
    weight = nn.Parameter(torch.ones(1))
    optimizer = torch.optim.SGD([weight], lr=0.1)
    torch.autograd.backward(old.scale(weight * float("inf")).sum())
    old.step(optimizer)
    old.update()
    assert old.get_scale() == 32768.0
    folder = save(tmp_path, scaler=old)
    new, left_out = scaler(), scaler()

    restore(folder, scaler=new)
    restore(folder, leave_out=("scaler",), scaler=left_out)

    assert (new.get_scale(), left_out.get_scale()) == (32768.0, 65536.0)


def test_other_programs_can_read_the_tensors(tmp_path: Path) -> None:
    """The file is what the safetensors library itself accepts, whatever the element types."""
    tensors = {
        str(kind): torch.arange(6).reshape(2, 3).to(kind)
        for kind in (torch.float64, torch.bfloat16, torch.int8, torch.bool, torch.uint16, torch.float8_e5m2)
    }
    tensors["scalar"] = torch.tensor(1.5)
    tensors["empty"] = torch.empty(0, 3)
    folder = save(tmp_path, box=Box(**tensors))

    read = safetensors.torch.load_file(folder / "tensors.safetensors")

    assert set(read) == {*(f"box/{name}" for name in tensors), "random/torch"}
    for name, tensor in tensors.items():
        assert read[f"box/{name}"].dtype == tensor.dtype
        assert torch.equal(read[f"box/{name}"].double(), tensor.double())


def test_views_are_saved_as_what_they_show(tmp_path: Path) -> None:
    whole = torch.arange(12.0).reshape(3, 4)
    box = Box(turned=whole.t(), row=whole[1], spread=torch.ones(1).expand(3))
    folder = save(tmp_path, box=box)

    restored = groups_of(folder)["box"]

    assert torch.equal(restored["turned"], whole.t())
    assert torch.equal(restored["row"], whole[1])
    assert restored["spread"].tolist() == [1, 1, 1]


@pytest.mark.parametrize(
    "value",
    [
        torch.arange(24.0).reshape(2, 3, 4).permute(2, 0, 1)[1:],
        torch.empty(0, 7),
        torch.tensor(3.5),
        torch.tensor([1 + 2j, -0.0 - 1j], dtype=torch.complex64).conj(),
        torch.tensor([1.0, -0.0, 448.0]).to(torch.float8_e4m3fn),
        torch.tensor([1.0, float("inf"), 57344.0]).to(torch.float8_e5m2),
        torch.tensor([1.0, float("nan"), 240.0]).to(torch.float8_e4m3fnuz),
        torch.tensor([1.0, float("nan"), 57344.0]).to(torch.float8_e5m2fnuz),
        torch.tensor([float("nan"), float("inf"), -0.0]).to(torch.bfloat16),
        torch.tensor([True, False]),
        torch.tensor([2**63 - 1, -(2**63)]),
    ],
    ids=[
        *("not contiguous", "empty", "scalar", "conjugated", "e4m3fn", "e5m2", "e4m3fnuz", "e5m2fnuz"),
        *("not finite", "truth", "large"),
    ],
)
def test_a_tensor_of_any_kind_comes_back_bit_by_bit(tmp_path: Path, value: torch.Tensor) -> None:
    folder = save(tmp_path, box=Box(value=value))

    back = groups_of(folder)["box"]["value"]

    assert bridge().compare(value, back) == ""
    assert back.is_contiguous() and not back.is_conj()


def test_two_views_of_one_memory_come_back_as_two_tensors(tmp_path: Path) -> None:
    """They share bytes, and are not the same tensor: each is saved as what it shows."""
    whole = torch.arange(10.0)
    folder = save(tmp_path, box=Box(front=whole[:6], back=whole[4:]))

    box = groups_of(folder)["box"]

    assert box["front"].tolist() == whole[:6].tolist() and box["back"].tolist() == whole[4:].tolist()


def test_tied_weights_are_written_once_and_stay_tied(tmp_path: Path) -> None:
    class Tied(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.embed, self.head = nn.Embedding(50, 20), nn.Linear(20, 50, bias=False)
            self.head.weight = self.embed.weight

    old, new = Tied(), Tied()
    folder = save(tmp_path, model=old)

    restore(folder, model=new)

    assert (folder / "tensors.safetensors").stat().st_size < 50 * 20 * 4 + 6000  # one copy and random states
    assert new.head.weight is new.embed.weight
    assert torch.equal(new.embed.weight, old.embed.weight)


def test_a_tie_that_was_none_when_it_was_saved_is_named(tmp_path: Path) -> None:
    """Two weights cannot go into one memory: the one that came last would stand for both."""
    folder = save(tmp_path, model=nn.ModuleList([nn.Linear(3, 3), nn.Linear(3, 3)]))
    tied = nn.ModuleList([nn.Linear(3, 3), nn.Linear(3, 3)])
    tied[1].weight = tied[0].weight

    with pytest.raises(
        CheckpointDamaged, match=r"model/0\.weight: .* with other values than in the checkpoint"
    ):
        restore(folder, model=tied)


def test_live_state_does_not_share_memory_with_the_file(tmp_path: Path) -> None:
    """A tensor that aliased a mapped file would change with it, or die with SIGBUS when it is cut."""
    box = Box(weight=torch.ones(1000))
    folder = save(tmp_path, box=box)

    restore(folder, box=box)
    (folder / "tensors.safetensors").write_bytes(b"")

    assert float(box.state["weight"].sum()) == 1000


#: Both without types of their own.
quantization: Any = torch.ao.quantization
quantised_modules: Any = torch.ao.nn.quantized


class Packed(torch.Tensor):
    """A tensor with a type of its own."""


@pytest.mark.parametrize(
    ("value", "why", "way_out"),
    [
        (torch.ones(2, 2).to_sparse(), "not dense", "to_dense"),
        (torch.empty(3, device="meta"), "meta device", "to_empty"),
        (torch.quantize_per_tensor(torch.ones(2), 0.1, 0, torch.qint8), "quantised", "quantise that again"),
        (torch.nested.nested_tensor([torch.ones(2), torch.ones(3)]), "not dense", "unbind"),
        (torch.ones(2).as_subclass(Packed), "a Packed is not a plain tensor", "load_state_dict"),
        (torch.ones(2, dtype=torch.complex128), "complex128 is not in the safetensors", "view_as_real"),
        (torch.ones(2).to(torch.float8_e8m0fnu), "float8_e8m0fnu is not in the safetensors", "torch.uint8"),
        (torch.float32, "an element type is no number", "its name"),
    ],
)
def test_what_cannot_be_kept_exactly_is_refused_by_name_with_the_way_out(
    tmp_path: Path, value: object, why: str, way_out: str
) -> None:
    with pytest.raises(CheckpointDamaged, match=rf"box/deep/0 cannot be saved: .*{why}") as refused:
        save(tmp_path, box=Box(deep=[value]))

    assert way_out in str(refused.value.hint)
    assert list(tmp_path.iterdir()) == []


def dynamically_quantised() -> nn.Module:
    module: nn.Module = quantization.quantize_dynamic(nn.Sequential(nn.Linear(4, 3)), {nn.Linear})
    return module


@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::UserWarning")
@pytest.mark.parametrize("make", [dynamically_quantised, lambda: quantised_modules.Linear(4, 3)])
def test_a_quantised_module_is_refused_with_the_way_out(
    tmp_path: Path, make: Callable[[], nn.Module]
) -> None:
    """Its state has an element type and a tuple of packed tensors, under names of its own."""
    with pytest.raises(
        CheckpointDamaged, match=r"model/(0\.)?_packed_params\.dtype .*a quantised m"
    ) as refused:
        save(tmp_path, model=make())

    assert "track the model that it was made from" in str(refused.value.hint)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::UserWarning")
def test_a_module_that_learns_to_be_quantised_comes_back(tmp_path: Path) -> None:
    """Its observers have an infinity at first, and ranges of another shape once they have seen something."""

    def observed() -> nn.Module:
        model = nn.Sequential(nn.Linear(4, 3))
        model.qconfig = quantization.get_default_qat_qconfig("fbgemm")
        module: nn.Module = quantization.prepare_qat(model.train())
        return module

    old, new = observed(), observed()
    old(torch.randn(5, 4))
    folder = save(tmp_path, model=old)

    restore(folder, model=new)

    given = torch.randn(5, 4)
    assert same(old.state_dict(), new.state_dict())
    assert torch.equal(old.eval()(given), new.eval()(given))


def test_views_of_one_memory_are_filled_where_they_are(tmp_path: Path) -> None:
    """As of parameters that were laid into one row: whoever holds the row sees what was restored."""

    class Flat(nn.Module):
        def __init__(self, row: torch.Tensor) -> None:
            super().__init__()
            self.row = row
            self.register_buffer("front", row[:6].view(2, 3))
            self.register_buffer("back", row[4:])

    new = Flat(torch.zeros(10))
    restore(save(tmp_path, model=Flat(torch.arange(10.0))), model=new)

    assert new.row.tolist() == list(range(10))


def test_a_model_without_any_number_comes_back(tmp_path: Path) -> None:
    class Empty(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.register_buffer("nothing", torch.empty(0, 3))

    new = Empty()
    restore(save(tmp_path, model=Empty()), model=new)

    assert new.state_dict()["nothing"].shape == (0, 3)


def test_another_shape_is_named(tmp_path: Path) -> None:
    folder = save(tmp_path, model=nn.Linear(4, 64))

    with pytest.raises(CheckpointDamaged, match=r"weight: float32 \[64, 4\] in .*, float32 \[128, 4\]"):
        restore(folder, model=nn.Linear(4, 128))


def test_another_element_type_is_named(tmp_path: Path) -> None:
    folder = save(tmp_path, model=nn.Linear(4, 2))

    with pytest.raises(CheckpointDamaged, match=r"model/weight: float32 \[2, 4\] .*, float64 \[2, 4\] here"):
        restore(folder, model=nn.Linear(4, 2).double())


def test_an_object_that_does_not_take_its_state_is_named(tmp_path: Path) -> None:
    class Forgetful(Box):
        def load_state_dict(self, state: Any) -> None:
            self.state = {**state, "scale": 65536}

    folder = save(tmp_path, scaler=Box(scale=256, growth=0))

    with pytest.raises(CheckpointDamaged, match="scaler/scale: 256 in the checkpoint, 65536 here"):
        restore(folder, scaler=Forgetful())


def test_a_group_on_one_side_only_is_named(tmp_path: Path) -> None:
    folder = save(tmp_path, model=Box(), ema=Box())

    with pytest.raises(CheckpointDamaged, match="holds ema, which the script does not track"):
        restore(folder, model=Box())
    with pytest.raises(CheckpointDamaged, match="tracks scaler, which is not in the checkpoint"):
        restore(folder, model=Box(), ema=Box(), scaler=Box())
    with pytest.raises(CheckpointDamaged, match="optimiser is to be left out"):
        restore(folder, leave_out=("optimiser",), model=Box(), ema=Box())


def test_a_tensor_that_belongs_to_nothing_is_named(tmp_path: Path) -> None:
    with store.publish(tmp_path, facts(1), lambda: True) as draft:
        library = bridge()
        library.take("ghost", torch.ones(2))
        snapshot.take({}, {"step": 1}, library, Arena()).write(draft)

    with pytest.raises(CheckpointDamaged, match="the tensor ghost belongs to nothing"):
        groups_of(tmp_path / "1-a1")


def test_without_a_tensor_library_tensors_are_refused_and_plain_state_works(tmp_path: Path) -> None:
    plain = Plain()
    with store.publish(tmp_path / "plain", facts(1), lambda: True) as draft:
        snapshot.take({"box": Box(count=3)}, {"step": 1}, plain, Arena()).write(draft)
    manifest = store.committed(tmp_path / "plain" / "1-a1")
    assert isinstance(manifest, store.Manifest)
    groups = snapshot.decode(snapshot.load(tmp_path / "plain" / "1-a1", manifest, plain))
    box = Box()
    snapshot.apply(groups, {"box": box}, plain, ())
    assert box.state == {"count": 3}

    folder = save(tmp_path, box=Box(weight=torch.ones(1)))
    manifest = store.committed(folder)
    assert isinstance(manifest, store.Manifest)
    with pytest.raises(CheckpointDamaged, match="torch has not been imported"):
        snapshot.decode(snapshot.load(folder, manifest, plain))


def test_a_flipped_bit_anywhere_in_the_tensors_is_told_by_the_file(tmp_path: Path) -> None:
    """Also in the header, where it may make a length, a name or a shape of anything."""
    folder = save(tmp_path, box=Box(weight=torch.ones(500)))
    manifest = store.committed(folder)
    assert isinstance(manifest, store.Manifest)
    whole = (folder / "tensors.safetensors").read_bytes()
    for at in [*range(0, 400, 7), 1000, len(whole) - 1]:
        data = bytearray(whole)
        data[at] ^= 1 << (at % 8)
        (folder / "tensors.safetensors").write_bytes(data)

        with pytest.raises(store.Unverified, match="does not have the digest of its manifest"):
            snapshot.load(folder, manifest, bridge())


@pytest.mark.parametrize(
    ("header", "why"),
    [
        (b"[]", "not a file of tensors"),
        (b'{"a": {"dtype": "F32", "shape": [1000000000], "data_offsets": [0, 4]}}', "its offsets are"),
        (b'{"a": {"dtype": "F32", "shape": [1], "data_offsets": [4, 8]}}', "its offsets are"),
        (b'{"a": {"dtype": "Q4", "shape": [1], "data_offsets": [0, 4]}}', "Q4"),
        (b"{}", "goes on after its last tensor"),
    ],
)
def test_a_file_that_verifies_and_is_no_file_of_tensors_is_refused(
    tmp_path: Path, header: bytes, why: str
) -> None:
    with store.publish(tmp_path, facts(1), lambda: True) as draft:
        draft.write("tensors.safetensors", [len(header).to_bytes(8, "little"), header, bytes(4)])
        draft.write("state.json", [b'{"version": 1, "groups": {}}'])

    with pytest.raises(CheckpointDamaged, match=why):
        groups_of(tmp_path / "1-a1")


def test_a_state_of_a_later_version_is_refused_with_the_way_out(tmp_path: Path) -> None:
    with store.publish(tmp_path, facts(1), lambda: True) as draft:
        draft.write("state.json", [b'{"version": 3, "what": "ever"}'])

    with pytest.raises(CheckpointDamaged, match="has version 3, not 2") as refused:
        groups_of(tmp_path / "1-a1")

    assert refused.value.hint == "resume with the lastro that saved it"


def test_another_kind_of_device_is_said(tmp_path: Path) -> None:
    """As when a run that was saved on a GPU goes on without one."""
    folder = save(tmp_path, model=nn.Linear(2, 2), box=Box(count=1))
    state = folder / "state.json"
    state.write_bytes(state.read_bytes().replace(b'"model":["cpu"]', b'"model":["cuda"]'))
    loaded = snapshot.Loaded("1-a1", state.read_bytes(), {}, None)

    told = snapshot.moved(loaded, {"model": nn.Linear(2, 2), "box": Box(count=1)}, bridge())

    assert told == {"model": ("cuda", "cpu")}


@pytest.mark.parametrize(
    ("gpus", "together", "put_back"), [(2, False, [0, 1]), (3, True, [1]), (3, False, None)]
)
def test_the_random_states_of_gpus_go_to_as_many_or_to_the_one_in_use(
    monkeypatch: pytest.MonkeyPatch, gpus: int, together: bool, put_back: list[int] | None
) -> None:
    """Saved with two GPUs, the second one in use; of several processes each uses one."""
    done: list[int] = []
    state = {**bridge().random_state(), "cuda": [0, 1], "cuda_device": 1}
    monkeypatch.setattr(torch.cuda, "device_count", lambda: gpus)
    monkeypatch.setattr(torch.cuda, "set_rng_state_all", done.extend)
    monkeypatch.setattr(torch.cuda, "set_rng_state", done.append)
    monkeypatch.setattr(torch.distributed, "is_initialized", lambda: together)

    if put_back is None:
        with pytest.raises(CheckpointDamaged, match="random/cuda is in the checkpoint"):
            bridge().set_random_state(state)
    else:
        bridge().set_random_state(state)

    assert done == (put_back or [])

"""PyTorch: tensors to safetensors and back, bit for bit, and its random states."""

from __future__ import annotations

import random
import sys
from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeGuard

import numpy as np
import torch

from lastro.checkpoint import state
from lastro.checkpoint.adapters.base import Exchange, Parts, Staged, Stateful
from lastro.checkpoint.adapters.plain import AllParts, no_generator
from lastro.checkpoint.adapters.torch_file import DTYPES, read_tensors, stage
from lastro.checkpoint.arena import Arena
from lastro.checkpoint.bulk import Reader
from lastro.checkpoint.divided import Divided
from lastro.checkpoint.state import refused
from lastro.errors import CheckpointDamaged
from lastro.locale import _

if TYPE_CHECKING:
    from torch.distributed.tensor import DTensor

#: How many elements of a tensor tell that it has not been changed behind its count of changes.
_SAMPLE = 64
_PLAIN_TYPES = (torch.Tensor, torch.nn.Parameter, torch.nn.Buffer)
_QUANTISED = (torch.qint8, torch.quint8, torch.qint32, torch.quint4x2, torch.quint2x4)


class Torch:
    """Dense tensors on any device; the generators of Python, NumPy, PyTorch and its CUDA devices."""

    def __init__(self) -> None:
        self._taken: dict[str, torch.Tensor] = {}
        self._names: dict[tuple[Any, ...], str] = {}
        self._devices: dict[str, set[str]] = {}
        self._frozen: frozenset[tuple[Any, ...]] = frozenset()
        self._held: dict[str, torch.Tensor] = {}
        self._wholes: dict[str, str] = {}

    def take(self, path: str, value: Any) -> str | None:
        if not isinstance(value, torch.Tensor):
            _check_element_type(path, value)
            return None
        _check_kind(path, value)
        self._devices.setdefault(path.split("/", 1)[0], set()).add(value.device.type)
        seen = _same_memory(value)
        if seen in self._names:
            return self._names[seen]
        name = path
        while name in self._taken or name in self._held:  # the keys 0 and "0" are spelt alike
            name += "'"
        (self._held if seen in self._frozen else self._taken)[name] = value
        if seen is not None:
            self._names[seen] = name
        return name

    def hold_back(self, objects: Mapping[str, Stateful]) -> None:
        keys = {
            _same_memory(parameter)
            for item in objects.values()
            if isinstance(item, torch.nn.Module)
            for parameter in item.parameters()
            if not parameter.requires_grad and _is_held_plainly(parameter)
        }
        self._frozen = frozenset(key for key in keys if key is not None)

    def marks(self) -> Mapping[str, object]:
        return {name: _mark(value) for name, value in self._held.items()}

    def held_bytes(self) -> int:
        return sum(value.numel() * value.element_size() for value in self._held.values())

    def let_move(self, names: Collection[str]) -> None:
        for name in names:
            if name in self._held:
                self._taken[name] = self._held.pop(name)

    def stage_held(self, arena: Arena) -> Staged | None:
        held, self._held = self._held, {}
        return stage(held, arena) if held else None

    def stage(self, arena: Arena) -> Staged | None:
        taken, self._taken, self._names = self._taken, {}, {}
        return stage(taken, arena) if taken else None

    def devices(self) -> dict[str, list[str]]:
        return {group: sorted(kinds) for group, kinds in self._devices.items()}

    def is_divided(self, objects: Mapping[str, Stateful]) -> bool:
        # No such tensor can be where its class was never loaded, and asking for states is not free.
        return "torch.distributed.tensor" in sys.modules and any(
            _has_divided(item.state_dict()) for item in objects.values()
        )

    def divide(self, together: Exchange) -> dict[str, Divided] | None:
        from lastro.checkpoint.adapters.torch_parts import divide

        divided = {name: tensor for name, tensor in self._all().items() if _is_divided(tensor)}
        parts, layout = divide(divided, together)
        for kept in (self._taken, self._held):
            for name in list(kept):
                if name in divided:
                    del kept[name]
                    kept.update(parts.get(name, {}))
                elif not together.first:  # it is the same in all, and the first one writes it
                    del kept[name]
        self._wholes = {part: name for name, mine in parts.items() for part in mine}
        return layout

    def keep_own(self) -> None:
        for kept in (self._taken, self._held):
            kept.update({name: _own(tensor) for name, tensor in kept.items()})

    def wholes(self) -> Mapping[str, str]:
        return self._wholes

    def parts(self, layout: Mapping[str, Divided], objects: Mapping[str, Stateful]) -> Parts:
        if not layout and not self.is_divided(objects):
            return AllParts()
        from lastro.checkpoint.adapters.torch_fit import Fit

        for group, item in objects.items():
            state.encode(item.state_dict(), group, self.take)
        return Fit(layout, self._all(), objects)

    def _all(self) -> dict[str, torch.Tensor]:
        return {**self._taken, **self._held}

    def read_tensors(self, file: Reader, skip: Collection[str] = ()) -> dict[str, Any]:
        return read_tensors(file, skip)

    def compare(self, saved: Any, live: Any) -> str | None:
        shapes = self.compare_shapes(saved, live)
        if shapes == "":
            saved, live = _own(saved), _own(live)
        if shapes == "" and _same_memory(saved) == _same_memory(live) is not None:
            return ""  # an optimizer keeps the very tensors that it is given
        if shapes != "" or saved is live or _same_bits(saved, live):
            return shapes
        return _("{shape} with other values than in the checkpoint").format(shape=_shape(saved))

    def compare_shapes(self, saved: Any, live: Any) -> str | None:
        if not isinstance(saved, torch.Tensor) and not isinstance(live, torch.Tensor):
            return None
        one, other = _shape(saved), _shape(live)
        if one == other:
            return ""
        return _("{saved} in the checkpoint, {live} here").format(saved=one, live=other)

    def prepare(self, saved: Any, live: Any) -> Any:
        metadata = getattr(live, "_metadata", None)
        if metadata is not None:
            saved._metadata = metadata  # versions of the modules' formats: the same code, so the same
        return saved

    def random_state(self) -> dict[str, Any]:
        numpy_state: Any = np.random.get_state()
        algorithm, keys, position, has_gauss, cached = numpy_state
        state: dict[str, Any] = {
            "python": random.getstate(),
            "numpy": [str(algorithm), keys.tobytes(), int(position), int(has_gauss), float(cached)],
            "torch": torch.get_rng_state(),
        }
        if torch.cuda.is_available() and torch.cuda.is_initialized():  # type: ignore[no-untyped-call]
            state["cuda"] = torch.cuda.get_rng_state_all()
            state["cuda_device"] = torch.cuda.current_device()
        return state

    def set_random_state(self, state: Mapping[str, Any]) -> None:
        for name in state:
            if name not in ("python", "numpy", "torch", "cuda", "cuda_device"):
                raise no_generator(name)
        if "cuda" in state:
            _set_cuda_state(state["cuda"], state.get("cuda_device", 0))
        random.setstate(state["python"])
        if "numpy" in state:
            algorithm, keys, position, has_gauss, cached = state["numpy"]
            np.random.set_state(
                (algorithm, np.frombuffer(keys, dtype=np.uint32), position, has_gauss, cached)
            )
        if "torch" in state:
            torch.set_rng_state(state["torch"])


def _set_cuda_state(states: Sequence[torch.Tensor], device: int) -> None:
    """Put the generators of the GPUs back; `device` is the one that was in use.

    Where a process is one of several it uses one GPU, so another machine may have another number of them.
    """
    if len(states) == torch.cuda.device_count():
        torch.cuda.set_rng_state_all(states)
    elif torch.distributed.is_available() and torch.distributed.is_initialized():
        torch.cuda.set_rng_state(states[device])
    else:
        raise no_generator("cuda")


def _is_divided(value: object) -> TypeGuard[DTensor]:
    """Tell whether this is a tensor of which each process holds a part."""
    if type(value) in _PLAIN_TYPES:
        return False
    module = sys.modules.get("torch.distributed.tensor")
    return module is not None and isinstance(value, module.DTensor)


def _has_divided(tree: Any) -> bool:
    if isinstance(tree, Mapping):
        return any(map(_has_divided, tree.values()))
    if isinstance(tree, (list, tuple)):
        return any(map(_has_divided, tree))
    return _is_divided(tree)


def _is_held_plainly(parameter: torch.nn.Parameter) -> bool:
    """Tell whether a state has this parameter as a plain tensor, or divided.

    The parameter itself may be of a type of its own, as those of a base that was packed to four bits.
    """
    return _is_divided(parameter) or type(parameter.detach()) in _PLAIN_TYPES


def _own(value: Any) -> Any:
    """Return what this process holds of a tensor: a part of it, or all."""
    return value.to_local() if _is_divided(value) else value


def _check_element_type(path: str, value: object) -> None:
    """Refuse an element type that stands as a value of its own, as in the state of a quantised module."""
    if isinstance(value, torch.dtype):
        if value in _QUANTISED:
            raise _refused_quantised(path)
        raise refused(path, _("an element type is no number"), _("keep its name, as str(dtype)"))


def _check_kind(path: str, value: torch.Tensor) -> None:
    if _is_divided(value):
        if any(placement.is_partial() for placement in value.placements):
            raise refused(
                path,
                _("each process holds a summand of it, and nobody the sum"),
                _("keep value.redistribute(placements=[Replicate()]), which has the sum"),
            )
        value = value.to_local()
    if value.is_nested:
        raise refused(
            path,
            _("a nested tensor is not dense"),
            _("keep the tensors that it is made of, as list(value.unbind())"),
        )
    if type(value) not in _PLAIN_TYPES:
        raise refused(
            path,
            _("a {kind} is not a plain tensor").format(kind=type(value).__qualname__),
            _("keep the plain tensors that it is made of, and make it from them in load_state_dict()"),
        )
    if value.is_quantized:
        raise _refused_quantised(path)
    if value.layout is not torch.strided:
        raise refused(
            path,
            _("a {layout} tensor is not dense").format(layout=value.layout),
            _("keep value.to_dense(), or its indices and its values as two tensors"),
        )
    if value.device.type == "meta":
        raise refused(
            path,
            _("a tensor on the meta device has no values"),
            _("give it some, by to_empty() and its initialisation, before the first step"),
        )
    if value.dtype not in DTYPES:
        raise refused(
            path,
            _("{dtype} is not in the safetensors format").format(dtype=value.dtype),
            _("keep torch.view_as_real(value), its real and imaginary parts")
            if value.dtype.is_complex
            else _("keep its bytes, as value.view(torch.uint8)"),
        )


def _refused_quantised(path: str) -> CheckpointDamaged:
    return refused(
        path,
        _("it is part of a quantised module, whose tensors are more than their elements"),
        _("track the model that it was made from, and quantise that again after the restore"),
    )


def _same_memory(value: torch.Tensor) -> tuple[Any, ...] | None:
    """Return a key that two names of the same tensor share (tied weights); None for tensors without bytes."""
    if _is_divided(value):
        # The part of this process may be empty while the others' are not, and all have to say the same.
        own, where = value.to_local(), str((value.device_mesh, value.placements))
        storage = own.untyped_storage()._cdata
        return own.device, storage, own.storage_offset(), own.dtype, tuple(value.shape), own.stride(), where
    if value.numel() == 0:
        return None
    return (
        value.device, value.data_ptr(), value.dtype, tuple(value.shape), value.stride(),
        value.is_conj(), value.is_neg(),
    )  # fmt: skip


def _mark(value: torch.Tensor) -> object:
    """Return what changes with a tensor's values: always, when they are changed by the library's own ways."""
    changes = None if value.is_inference() else value._version  # such tensors are not counted
    return _same_memory(value), changes, _sample(value)


def _sample(value: torch.Tensor) -> bytes:
    """Return the bytes of some elements, spread over the tensor."""
    row = value.detach().reshape(-1) if value.is_contiguous() else value.detach().flatten()
    return bytes(_bits(row[:: max(1, len(row) // _SAMPLE)]).numpy())


def _same_bits(one: torch.Tensor, other: torch.Tensor) -> bool:
    """Compare two rows of bytes, eight at a time where that goes evenly: torch compares one by one."""
    rows = _bits(one), _bits(other)
    if all(len(row) % 8 == 0 and row.storage_offset() % 8 == 0 for row in rows):
        rows = rows[0].view(torch.int64), rows[1].view(torch.int64)
    return torch.equal(*rows)


def _bits(value: torch.Tensor) -> torch.Tensor:
    """Return the elements of a tensor as one row of bytes on the CPU; copies only if it must."""
    dense = value.detach().resolve_conj().resolve_neg().cpu().contiguous()
    return dense.reshape(-1).view(torch.uint8)


def _shape(value: Any) -> str:
    if not isinstance(value, torch.Tensor):
        return type(value).__name__
    text = f"{str(value.dtype).removeprefix('torch.')} {list(value.shape)}"
    return f"{text}, divided by {value.placements}" if _is_divided(value) else text

"""Tensors that are divided among processes (DTensor, as `fully_shard` makes them): who writes and reads what.

PyTorch's distributed checkpoint plans both: each part is written by one process, and whatever parts another
number of processes holds is cut out of those that were written. The files are those of every checkpoint here.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from math import prod

import torch
from torch.distributed.checkpoint.default_planner import DefaultLoadPlanner, DefaultSavePlanner
from torch.distributed.checkpoint.metadata import (
    STORAGE_TYPES,
    ChunkStorageMetadata,
    Metadata,
    MetadataIndex,
    TensorProperties,
    TensorStorageMetadata,
)
from torch.distributed.checkpoint.planner import SavePlan
from torch.distributed.tensor import DTensor

from lastro.checkpoint.adapters.base import Exchange
from lastro.checkpoint.adapters.torch_file import DTYPES, KINDS
from lastro.checkpoint.divided import Divided, Part, part_name
from lastro.errors import CheckpointDamaged
from lastro.locale import _


def divide(
    tensors: Mapping[str, DTensor], together: Exchange
) -> tuple[dict[str, dict[str, torch.Tensor]], dict[str, Divided] | None]:
    """Agree with the other processes on who writes what. Called by all of them.

    Returns:
        What this one writes: for each whole tensor its parts by name, views of the live values. And at the
        first process how every tensor is divided; None at the others.

    Raises:
        CheckpointDamaged: the processes hold different tensors, or parts that do not fit together.
    """
    planner = DefaultSavePlanner(
        flatten_state_dict=False, flatten_sharded_tensors=False, dedup_save_to_lowest_rank=True
    )
    planner.set_up_planner(dict(tensors), is_coordinator=together.first)
    offered = together.at_first(planner.create_local_plan())
    agreed: list[SavePlan] | None = None
    if offered is not None:
        _require_same_names(offered, tensors)
        try:
            agreed, _metadata = planner.create_global_plan(offered)
        except ValueError as error:
            raise CheckpointDamaged(
                _("the parts of the processes do not fit together: {error}").format(error=error)
            ) from error
    mine = planner.finish_plan(together.from_first(agreed)[together.rank])
    parts: dict[str, dict[str, torch.Tensor]] = {}
    for item in mine.items:
        tensor = planner.resolve_data(item)
        assert isinstance(tensor, torch.Tensor)
        if tensor.numel():
            name = item.index.fqn
            parts.setdefault(name, {})[part_name(name, _offset(item.index))] = tensor
    return parts, None if agreed is None else _layout(agreed, tensors)


def _require_same_names(offered: Sequence[SavePlan], tensors: Mapping[str, DTensor]) -> None:
    """What only some processes hold would belong to nothing in the state, which is the first one's."""
    for rank, plan in enumerate(offered):
        for item in plan.items:
            if item.index.fqn not in tensors:
                raise CheckpointDamaged(
                    _("process {rank} holds {name}, which the first process does not").format(
                        rank=rank, name=item.index.fqn
                    ),
                    hint=_("track the same objects in all processes"),
                )


def _layout(plans: Sequence[SavePlan], tensors: Mapping[str, DTensor]) -> dict[str, Divided]:
    parts: dict[str, list[Part]] = {name: [] for name in tensors}
    for rank, plan in enumerate(plans):
        for item in plan.items:
            assert item.tensor_data is not None
            shape = tuple(item.tensor_data.chunk.sizes)
            if prod(shape):
                parts[item.index.fqn].append(Part(rank=rank, at=_offset(item.index), shape=shape))
    return {
        name: Divided(
            dtype=DTYPES[tensor.dtype],
            shape=tuple(tensor.shape),
            parts=tuple(sorted(parts[name], key=_place)),
        )
        for name, tensor in tensors.items()
    }


def _place(part: Part) -> tuple[int, ...]:
    return part.at


def _offset(index: MetadataIndex) -> tuple[int, ...]:
    return tuple(index.offset or ())


class Reading:
    """What of a checkpoint's parts this process needs, and where it goes.

    Args:
        layout: how the tensors of the checkpoint are divided.
        alike: for each of them the live tensor that it is for; None: it is put together whole, on the CPU.
    """

    def __init__(self, layout: Mapping[str, Divided], alike: Mapping[str, torch.Tensor | None]) -> None:
        self._wholes = {name: empty_like(divided, alike[name]) for name, divided in layout.items()}
        self._planner = DefaultLoadPlanner(flatten_state_dict=False, flatten_sharded_tensors=False)
        self._planner.set_up_planner(dict(self._wholes), _metadata_of(layout), is_coordinator=True)
        plan = self._planner.create_local_plan()
        self._plan = self._planner.finish_plan(self._planner.create_global_plan([plan])[0])

    @property
    def needed(self) -> Collection[str]:
        """The names of parts that something is taken from."""
        return {_stored(item.storage_index) for item in self._plan.items}

    def fill(self, parts: Mapping[str, torch.Tensor]) -> dict[str, torch.Tensor]:
        """Return the tensors by their whole names, each made of the parts that were needed.

        Raises:
            CheckpointDamaged: a part is not there, or is not what the layout says.
        """
        for item in self._plan.items:
            name = _stored(item.storage_index)
            target = self._planner.resolve_tensor(item)
            try:
                piece = parts[name]
                for at, (start, length) in enumerate(zip(item.storage_offsets, item.lengths, strict=True)):
                    piece = piece.narrow(at, start, length)
                if piece.dtype != target.dtype:
                    raise ValueError(piece.dtype)
            except (KeyError, RuntimeError, IndexError, ValueError) as error:
                raise CheckpointDamaged(
                    _("the part {name} is not in the checkpoint as its layout says: {error}").format(
                        name=name, error=error
                    )
                ) from error
            target.detach().copy_(piece)
        return self._wholes


def _stored(index: MetadataIndex) -> str:
    return part_name(index.fqn, _offset(index))


def empty_like(divided: Divided, live: torch.Tensor | None) -> torch.Tensor:
    """Return memory for a tensor of a checkpoint, divided as a live one of the same shape is."""
    dtype = KINDS[divided.dtype]
    if not isinstance(live, DTensor) or tuple(live.shape) != divided.shape:
        return torch.empty(divided.shape, dtype=dtype)
    own = live.to_local()
    return DTensor.from_local(
        torch.empty(own.shape, dtype=dtype, device=own.device),
        live.device_mesh,
        live.placements,
        run_check=False,
        shape=live.shape,
        stride=torch.empty(divided.shape, device="meta").stride(),
    )


def whole(tensor: torch.Tensor) -> Divided:
    """Return the layout of a tensor that one process has written whole."""
    shape = tuple(tensor.shape)
    part = Part(rank=0, at=(0,) * len(shape), shape=shape)
    return Divided(dtype=DTYPES[tensor.dtype], shape=shape, parts=(part,) if tensor.numel() else ())


def _metadata_of(layout: Mapping[str, Divided]) -> Metadata:
    told: dict[str, STORAGE_TYPES] = {
        name: TensorStorageMetadata(
            properties=TensorProperties(dtype=KINDS[divided.dtype]),
            size=torch.Size(divided.shape),
            chunks=[
                ChunkStorageMetadata(offsets=torch.Size(part.at), sizes=torch.Size(part.shape))
                for part in divided.parts
            ],
        )
        for name, divided in layout.items()
    }
    return Metadata(told)

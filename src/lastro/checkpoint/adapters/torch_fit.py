"""A checkpoint's tensors for processes among which they are to be divided, however many have saved them."""

from __future__ import annotations

from collections.abc import Mapping
from math import prod

import torch
from torch.distributed.tensor import DTensor

from lastro.checkpoint.adapters.base import Stateful
from lastro.checkpoint.adapters.torch_parts import Reading, whole
from lastro.checkpoint.divided import Divided, part_name


class Fit:
    """See `Parts`.

    Args:
        layout: how the tensors of the checkpoint are divided; what is missing there was written whole.
        live: tensors of the tracked objects, by the names that they would be saved under.
        objects: the tracked objects. An optimizer that has made no update holds no moments yet; they are
            divided as the parameters are that they belong to.
    """

    def __init__(
        self,
        layout: Mapping[str, Divided],
        live: Mapping[str, torch.Tensor],
        objects: Mapping[str, Stateful],
    ) -> None:
        self._layout, self._live = layout, live
        self._parameters = {
            f"{group}/state/{number}/": parameter
            for group, item in objects.items()
            if isinstance(item, torch.optim.Optimizer)
            for number, parameter in enumerate(one for part in item.param_groups for one in part["params"])
        }
        self._reading = Reading(layout, {name: self._like(name, one.shape) for name, one in layout.items()})
        needed = set(self._reading.needed)
        self._ranks = {
            part.rank
            for name, divided in layout.items()
            for part in divided.parts
            if part_name(name, part.at) in needed
        }
        self.skipped = (
            frozenset(part_name(name, part.at) for name, divided in layout.items() for part in divided.parts)
            - needed
        )

    def _like(self, name: str, shape: tuple[int, ...]) -> torch.Tensor | None:
        """Return the tensor here that one of the checkpoint is for; None where there is none yet."""
        if name in self._live:
            return self._live[name]
        before, _slash, key = name.rpartition("/")
        parameter = self._parameters.get(f"{before}/")
        # The count of updates is never divided, not even beside a parameter that has its shape.
        return parameter if parameter is not None and key != "step" and parameter.shape == shape else None

    def needs_file_of(self, rank: int) -> bool:
        return rank in self._ranks

    def fill(self, tensors: Mapping[str, torch.Tensor]) -> dict[str, torch.Tensor]:
        parts = {part_name(name, part.at) for name, one in self._layout.items() for part in one.parts}
        wholes = {name: tensor for name, tensor in tensors.items() if name not in parts}
        to_divide = {
            name: like
            for name, tensor in wholes.items()
            if isinstance(like := self._like(name, tuple(tensor.shape)), DTensor)
        }
        layout = {name: whole(wholes[name]) for name in to_divide}
        own = Reading(layout, to_divide).fill(
            {
                part_name(name, (0,) * wholes[name].dim()): wholes[name]
                for name in to_divide
                if prod(wholes[name].shape)
            }
        )
        return {**wholes, **own, **self._reading.fill(tensors)}

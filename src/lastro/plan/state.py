"""The size of a training state, from the number of parameters: what a checkpoint and a card have to hold."""

from __future__ import annotations

import math

from lastro.spec.data import Model

_BYTES = {"float32": 4.0, "bfloat16": 2.0, "float16": 2.0, "float8": 1.0, "int8": 1.0, "int4": 0.5}
#: Numbers that the optimizer keeps for each parameter that it trains: momentum one, Adam two (torch.optim).
_KEPT = {"none": 0, "sgd": 0, "momentum": 1, "adam": 2, "adamw": 2, "adam8bit": 2}


def state_bytes(model: Model) -> int:
    """Return the bytes of one checkpoint: all weights, and what the optimizer keeps of those that it trains.

    torch.optim keeps its numbers in the dtype of the parameter; with a master copy they are float32, and so
    is the copy. 8-bit Adam keeps a byte for each (Dettmers et al., arXiv 2110.02861).
    """
    return math.ceil(model.parameters * _BYTES[model.dtype] + _optimizer(model))


def in_memory(model: Model) -> int:
    """Return the bytes that a card needs at least while it trains: the state, and a gradient of what is trained.

    Activations come on top: they depend on batch and length, and are not predicted.
    """
    gradients = 0.0 if model.optimizer == "none" else _trained(model) * max(2.0, _BYTES[model.dtype])
    return math.ceil(state_bytes(model) + gradients)


def _trained(model: Model) -> float:
    return model.parameters if model.trainable is None else model.trainable


def _optimizer(model: Model) -> float:
    trained = _trained(model)
    if model.optimizer == "none":
        return 0.0
    each = 4.0 if model.master else _BYTES[model.dtype]
    if model.optimizer == "adam8bit":
        each = 1.0
    copy = 4.0 * trained if model.master else 0.0
    return trained * _KEPT[model.optimizer] * each + copy

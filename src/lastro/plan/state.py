"""The size of a training state: what each checkpoint, the disk beside them, and a card have to hold."""

from __future__ import annotations

import math
from collections.abc import Mapping

from lastro.locale import _
from lastro.records import dataclass
from lastro.spec.data import Model

_BYTES = {"float32": 4.0, "bfloat16": 2.0, "float16": 2.0, "float8": 1.0, "int8": 1.0, "int4": 0.5}
#: Numbers that the optimizer keeps for each parameter that it trains: SGD none, or one with momentum; Adam
#: two. Compared with torch.optim in tests/plan/test_state.py.
_KEPT = {"none": 0, "sgd": 0, "momentum": 1, "adam": 2, "adamw": 2, "adam8bit": 2}
#: 8-bit Adam keeps a byte for each number, and a float32 for each block of 256 of them (bitsandbytes,
#: optim/optimizer.py; Dettmers et al., arXiv 2110.02861, has blocks of 2048).
_OF_8_BITS = 1 + 4 / 256
#: What a weights file calls the element types that can be trained, and how many bytes one has.
_TRAINABLE = {"F64": 8.0, "F32": 4.0, "BF16": 2.0, "F16": 2.0}


@dataclass(frozen=True, kw_only=True)
class State:
    """Bytes of a training state, and who says so.

    `saved`: of each checkpoint. `once`: written a single time beside the checkpoints of a run: what training
    does not change. `memory`: what a card needs at least while it trains; None: unknown.
    """

    saved: int
    once: int
    memory: int | None
    why: str


@dataclass(frozen=True, kw_only=True)
class Weights:
    """What weights files hold: elements by the name of their type, bytes of them all, and how it is known.

    An element of a quantised tensor is what is stored, which may hold several weights.
    """

    elements: Mapping[str, int]
    bytes: int
    why: str

    @property
    def floats(self) -> int:
        """How many elements are numbers that can be trained."""
        return sum(count for name, count in self.elements.items() if name in _TRAINABLE)

    @property
    def float_bytes(self) -> float:
        """Bytes of the elements that can be trained."""
        return sum(count * _TRAINABLE.get(name, 0.0) for name, count in self.elements.items())

    @property
    def main_bytes(self) -> float | None:
        """Bytes of an element of the type that most of the trainable ones have; None: none can be trained."""
        most = max(
            ((count, name) for name, count in self.elements.items() if name in _TRAINABLE), default=None
        )
        return _TRAINABLE[most[1]] if most else None


def predicted(model: Model, weights: Weights | None, *, own_program: bool) -> State | None:
    """Return the state of a model; None when its weights are needed and were not read.

    Args:
        model: what the campaign file says of it.
        weights: what the files hold that it names.
        own_program: the program saves by itself. Then all weights count in each checkpoint; what lastro saves
            holds what is trained, and the rest once. `model.saves` says otherwise.

    torch.optim keeps its numbers in the dtype of the parameter; with a master copy they are float32, and so
    is the copy (Micikevicius et al., arXiv 1710.03740). A gradient has the dtype of its parameter, and 16
    bits at least. Activations are not counted: they depend on batch and length.
    """
    if model.parameters is None and weights is None:
        return None
    sizes = _sizes(model, weights)
    optimizer = _optimizer(model, sizes)
    gradients = 0.0 if model.optimizer == "none" else sizes.trained * sizes.each
    saves = model.saves or ("all" if own_program else "trained")
    frozen = sizes.frozen
    why = _("predicted from the number of parameters")
    if weights is not None and model.parameters is None:
        why = _("predicted from {weights}").format(weights=weights.why)
    apart = saves == "trained"
    return State(
        saved=math.ceil(sizes.trained * sizes.each + optimizer + (0.0 if apart else frozen)),
        once=math.ceil(frozen) if apart and model.saves is None else 0,
        memory=math.ceil(sizes.trained * sizes.each + frozen + optimizer + gradients),
        why=why,
    )


@dataclass(frozen=True, kw_only=True)
class _Sizes:
    """`trained`: how many parameters, of `each` bytes; `frozen`: bytes of all others."""

    trained: float
    each: float
    frozen: float


def _sizes(model: Model, weights: Weights | None) -> _Sizes:
    if model.parameters is not None or weights is None:
        count = trainable = model.parameters or 0.0
        each = _BYTES[model.dtype or "float32"]
        whole = count * each
        float_bytes = each if each >= 2 else None
    else:
        count, trainable = float(sum(weights.elements.values())), float(weights.floats)
        whole = count * _BYTES[model.dtype] if model.dtype else float(weights.bytes)
        float_bytes = _BYTES[model.dtype] if model.dtype else weights.main_bytes
        float_bytes = float_bytes if float_bytes is not None and float_bytes >= 2 else None
    trained = trainable if model.trainable is None else model.trainable
    # Quantised weights stay as they are: what is trained beside them is float32, as PEFT makes it.
    each_trained = _BYTES[model.trained_dtype] if model.trained_dtype else (float_bytes or 4.0)
    if weights is not None and model.parameters is None and model.trainable is None and model.dtype is None:
        return _Sizes(trained=trained, each=each_trained, frozen=weights.bytes - weights.float_bytes)
    if trained >= count:
        return _Sizes(trained=trained, each=each_trained, frozen=0.0)
    return _Sizes(trained=trained, each=each_trained, frozen=whole * (1 - trained / count))


def _optimizer(model: Model, sizes: _Sizes) -> float:
    if model.optimizer == "none":
        return 0.0
    each = 4.0 if model.master else sizes.each
    if model.optimizer == "adam8bit":
        each = _OF_8_BITS
    copy = 4.0 * sizes.trained if model.master else 0.0
    return sizes.trained * _KEPT[model.optimizer] * each + copy

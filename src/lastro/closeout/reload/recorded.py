"""A small fixed input and what the model said to it when it was published, against what it says now.

The run writes both into one file of safetensors: `input.<name>` for each argument, `output.<name>` for each
part of the answer.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from lastro.locale import _
from lastro.records import dataclass

_INPUT, _OUTPUT = "input.", "output."
#: Largest gap that is allowed, as a share of the largest recorded value, by the type of the weights. Assumed:
#: some hundreds of roundings of the type, or a few of the short ones; other hardware sums in another order.
#: A wrong base or a lost layer changes the answer by its own size.
TOLERANCE: Mapping[str, float] = {"float64": 1e-9, "float32": 1e-4, "float16": 5e-3, "bfloat16": 3e-2}
_OTHER_TYPES = 3e-2


@dataclass(frozen=True)
class Recorded:
    """What a run recorded: arguments and answer, tensors by name."""

    inputs: Mapping[str, Any]
    outputs: Mapping[str, Any]


def read_recorded(path: str) -> Recorded:
    """Read what was recorded. Raises ValueError when the file has no input or no output."""
    from safetensors.torch import load_file

    tensors = load_file(path)
    inputs = {name[len(_INPUT) :]: one for name, one in tensors.items() if name.startswith(_INPUT)}
    outputs = {name[len(_OUTPUT) :]: one for name, one in tensors.items() if name.startswith(_OUTPUT)}
    if not inputs or not outputs:
        raise ValueError(_("what was recorded has no tensors named input.<name> and output.<name>"))
    return Recorded(inputs, outputs)


def compare_recorded(recorded: Recorded, answered: Mapping[str, Any], dtype: str) -> tuple[str | None, str]:
    """Return what differs (None: nothing), and the sentence of what was compared.

    Args:
        recorded: from the run.
        answered: what the reloaded model says to the same input.
        dtype: of its weights, such as `float32`.
    """
    allowed = TOLERANCE.get(dtype, _OTHER_TYPES)
    largest = 0.0
    for name, then in recorded.outputs.items():
        now = answered.get(name)
        if now is None:
            return _("the model answers with {have}, and {name} was recorded").format(
                have=", ".join(answered), name=name
            ), ""
        if tuple(now.shape) != tuple(then.shape):
            return _("{name} has the shape {now}, recorded was {then}").format(
                name=name, now=list(now.shape), then=list(then.shape)
            ), ""
        gap = share_of_gap(now, then)
        if not gap <= allowed:  # NaN too
            return _(
                "it does not say what was recorded: {name} differs by {gap:.2g} of its largest value, "
                "{allowed:g} is allowed for {dtype}"
            ).format(name=name, gap=gap, allowed=allowed, dtype=dtype), ""
        largest = max(largest, gap)
    return None, _(
        "it says to the recorded input what was recorded: {names}, largest gap {gap:.1e} of the largest "
        "value ({allowed:g} is allowed for {dtype})"
    ).format(names=", ".join(recorded.outputs), gap=largest, allowed=allowed, dtype=dtype)


def share_of_gap(now: Any, then: Any) -> float:
    """Return the largest difference of two tensors of one shape, as a share of `then`'s largest value."""
    import torch

    a, b = now.to(torch.float64), then.to(torch.float64)
    if b.numel() == 0:
        return 0.0
    gap, size = float((a - b).abs().max()), float(b.abs().max())
    if gap == 0.0:
        return 0.0
    return gap / size if size else float("inf")

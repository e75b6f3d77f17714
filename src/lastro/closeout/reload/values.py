"""The tensors in a loaded value: whether there are any, whether all are finite."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from lastro.locale import _


def tensors_in(value: Any, name: str = "") -> Iterator[tuple[str, Any]]:
    """Yield every tensor in nested dicts, lists and tuples, by its path."""
    import torch

    if isinstance(value, torch.Tensor):
        yield name, value
    elif isinstance(value, Mapping):
        for key, item in value.items():
            yield from tensors_in(item, f"{name}.{key}" if name else str(key))
    elif isinstance(value, (list, tuple)):
        for place, item in enumerate(value):
            yield from tensors_in(item, f"{name}[{place}]")


def fault_of(value: Any) -> str | None:
    """Return what is wrong with the tensors of a loaded value; None when nothing is."""
    import torch

    found = False
    for name, tensor in tensors_in(value):
        found = True
        if (tensor.is_floating_point() or tensor.is_complex()) and not bool(torch.isfinite(tensor).all()):
            return _("tensor '{name}' holds NaN or infinity").format(name=name)
    return None if found else _("it holds no tensor")

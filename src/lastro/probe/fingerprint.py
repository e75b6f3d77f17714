"""Digests of live values: two are equal exactly when the values are, bit for bit."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping
from typing import Any

from lastro.checkpoint import digest as digests

#: Rows of a batch are told apart one by one, up to so many.
MOST_ROWS = 1024
_DEEPEST = 12


def digest(value: Any) -> str:
    """Return the digest of a tree of tensors, arrays and plain values, 12 hex digits."""
    hasher = digests.hasher(digests.ALGORITHM)
    assert hasher is not None  # the algorithm was chosen because it is here
    _feed(hasher, value, 0)
    return str(hasher.hexdigest())[:12]


def rows(value: Any) -> list[str]:
    """Return a digest for each row (slice of the first axis) of the first tensor in a tree; else nothing."""
    found = first_tensor(value)
    if found is None or found.dim() == 0 or found.shape[0] > MOST_ROWS:
        return []
    return [digest(row)[:8] for row in found]


def first_tensor(value: Any) -> Any | None:
    """Return the first tensor of a tree, None without one."""
    if _is_tensor(value):
        return value
    parts: Iterable[Any] = ()
    if isinstance(value, Mapping):
        parts = value.values()
    elif isinstance(value, (list, tuple)):
        parts = value
    return next((found for part in parts if (found := first_tensor(part)) is not None), None)


def _is_tensor(value: Any) -> bool:
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(value, torch.Tensor)


def _is_array(value: Any) -> bool:
    numpy = sys.modules.get("numpy")
    return numpy is not None and isinstance(value, numpy.ndarray)


def _feed(hasher: Any, value: Any, depth: int) -> None:
    if _is_tensor(value):
        _feed_tensor(hasher, value)
    elif _is_array(value):
        hasher.update(f"array {value.dtype} {value.shape}".encode())
        hasher.update(value.tobytes())
    elif isinstance(value, Mapping) and depth < _DEEPEST:
        hasher.update(b"{")
        for key in sorted(value, key=repr):
            hasher.update(repr(key).encode())
            _feed(hasher, value[key], depth + 1)
    elif isinstance(value, (list, tuple)) and depth < _DEEPEST:
        hasher.update(b"[")
        for item in value:
            _feed(hasher, item, depth + 1)
    elif isinstance(value, float):
        hasher.update(value.hex().encode())
    elif value is None or isinstance(value, (bool, int, str, bytes)):
        hasher.update(repr(value).encode())
    else:
        hasher.update(type(value).__qualname__.encode())  # an address would differ in every process


def _feed_tensor(hasher: Any, value: Any) -> None:
    hasher.update(f"tensor {value.dtype} {tuple(value.shape)}".encode())
    if value.device.type == "meta" or value.numel() == 0:
        return
    torch = sys.modules["torch"]
    dense = value.detach()
    if hasattr(dense, "full_tensor"):  # a DTensor: what this rank holds of it
        dense = dense.to_local()
    if dense.layout is not torch.strided:
        dense = dense.to_dense()
    dense = dense.resolve_conj().resolve_neg().cpu().contiguous()
    hasher.update(memoryview(dense.reshape(-1).view(torch.uint8).numpy()))

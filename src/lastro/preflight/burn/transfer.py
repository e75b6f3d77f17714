"""Copies to a device and back: their pace, and that what comes back is what was sent."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from typing import Any

_FEWEST = 3


def check_transfer(
    torch: Any,
    device: str,
    size: int,
    seconds: float,
    *,
    send: Callable[[Any], Any] | None = None,
) -> dict[str, Any]:
    """Copy `size` bytes to a device and back for `seconds`.

    On a processor this is its memory's own pace. `send` is what copies; by itself `Tensor.to`.

    Returns:
        `bytes`, `times`, `wrong` (bytes that came back as others), `there` and `back`: bytes a second, the
        middle of all times; `pinned`: from memory that cannot be swapped.
    """
    pinned = device.startswith("cuda")
    generator = torch.Generator().manual_seed(21)
    source = torch.randint(0, 256, (size,), dtype=torch.uint8, generator=generator)
    source = source.pin_memory() if pinned else source
    copy = send if send is not None else (lambda one: one.to(device, copy=True))
    there: list[float] = []
    back: list[float] = []
    wrong, deadline = 0, time.monotonic() + seconds
    while len(there) < _FEWEST or time.monotonic() < deadline:
        began = time.monotonic()
        sent = copy(source)
        _settle(torch, device)
        middle = time.monotonic()
        returned = sent.to("cpu", copy=True)
        back.append(size / max(time.monotonic() - middle, 1e-9))
        there.append(size / max(middle - began, 1e-9))
        wrong += int((returned != source).sum())
    return {
        "bytes": size,
        "times": len(there),
        "wrong": wrong,
        "there": statistics.median(there),
        "back": statistics.median(back),
        "pinned": pinned,
    }


def _settle(torch: Any, device: str) -> None:
    if device.startswith("cuda"):
        torch.cuda.synchronize(device)

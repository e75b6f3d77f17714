"""Bridges to libraries of tensors; the only place of this room that loads one."""

from __future__ import annotations

import sys

from lastro.checkpoint.adapters.base import Bridge


def bridge() -> Bridge:
    """Return the bridge for what this process has imported: PyTorch, else plain values only."""
    if "torch" in sys.modules:
        from lastro.checkpoint.adapters.torch import Torch

        return Torch()
    from lastro.checkpoint.adapters.plain import Plain

    return Plain()

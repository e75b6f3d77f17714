"""Corpora for PyTorch that are read from packs: any item at once, in an order that resumes anywhere."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from lastro.data.dataset import PackedDataset
    from lastro.data.loader import PackedLoader
    from lastro.data.stream import PackedStream

__all__ = ["PackedDataset", "PackedLoader", "PackedStream"]

_HOMES = {"PackedDataset": "dataset", "PackedLoader": "loader", "PackedStream": "stream"}


def __getattr__(name: str) -> Any:
    """Load a class when it is asked for: it needs torch."""
    if name not in _HOMES:
        raise AttributeError(name)
    import importlib

    return getattr(importlib.import_module(f"lastro.data.{_HOMES[name]}"), name)

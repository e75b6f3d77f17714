"""Opening outputs again: one file per loader, and the user's own command.

command      the user's `reload:` in a fresh process, to recompute what was delivered
safetensors  weights: header, places and values, without torch
table        predictions in CSV or TSV
"""

from __future__ import annotations

from pathlib import Path

from lastro.closeout.reload.loader import Loader, Opened
from lastro.closeout.reload.safetensors import SafetensorsLoader
from lastro.closeout.reload.table import TableLoader

#: Every loader; the first that reads a file opens it.
LOADERS: tuple[Loader, ...] = (SafetensorsLoader(), TableLoader())


def open_output(path: Path) -> Opened | None:
    """Open a file with the loader of its format; None when there is no loader for it."""
    for loader in LOADERS:
        if loader.reads(path):
            return loader.open(path)
    return None

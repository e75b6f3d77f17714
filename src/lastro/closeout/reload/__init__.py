"""Opening outputs again: one file per loader, and the user's own command.

command       the user's `reload:` command, to recompute what was delivered
safetensors   weights: header, places and values, without torch
table         predictions in CSV, TSV, JSON Lines or Parquet

These run apart, in a process of their own (`apart`, `child`):

transformers  a folder of configuration, weights and tokenizer
peft          an adapter, on its base
torch         what torch.save has written, tensors only
pickled       other pickles, where the plan allows it
images        pictures
"""

from __future__ import annotations

from pathlib import Path

from lastro.closeout.reload.loader import Loader, Opened
from lastro.closeout.reload.safetensors import SafetensorsLoader
from lastro.closeout.reload.table import TableLoader

#: Every loader that runs in the process that closes; the first that reads a file opens it.
LOADERS: tuple[Loader, ...] = (SafetensorsLoader(), TableLoader())


def open_output(path: Path) -> Opened | None:
    """Open an output in this process; None when no loader that does without a library is for it."""
    for loader in LOADERS:
        if loader.reads(path):
            return loader.open(path)
    return None

"""What weights files of the campaign's folder say that they hold, from their headers alone."""

from __future__ import annotations

import math
from collections import Counter
from pathlib import Path

from lastro.closeout.reload.tensors import HeaderDamaged, read_header
from lastro.closeout.shards import shard_faults
from lastro.locale import _
from lastro.plan.state import Weights
from lastro.records import dataclass

_SUFFIX = ".safetensors"


@dataclass(frozen=True, kw_only=True)
class WeightsRead:
    """`weights` None: a file cannot be read, so what they hold is unknown. `oddities`: a sentence each."""

    weights: Weights | None
    oddities: tuple[str, ...]


def weights_here(path: Path) -> WeightsRead | None:
    """Read the headers of a safetensors file, or of all of them directly in a folder; None: there is none."""
    files = _files(path)
    if not files:
        return None
    elements: Counter[str] = Counter()
    size = 0
    damaged = []
    for file in files:
        try:
            with file.open("rb") as opened:
                tensors = read_header(opened).tensors
        except (HeaderDamaged, OSError) as error:
            damaged.append(_("{file} is damaged: {why}").format(file=file.name, why=error))
            continue
        for tensor in tensors:
            elements[tensor.dtype] += math.prod(tensor.shape)
            size += tensor.bytes
    # A damaged file that an index names is a fault of the index too; once is enough.
    faults = [fault for fault in shard_faults(path) if not damaged] if path.is_dir() else []
    if damaged:
        return WeightsRead(weights=None, oddities=tuple(damaged))
    why = _("the headers of {count} files").format(count=len(files))
    if len(files) == 1:
        why = _("the header of {file}").format(file=files[0].name)
    whole = None if faults else Weights(elements=dict(elements), bytes=size, why=why)
    return WeightsRead(weights=whole, oddities=tuple(faults))


def _files(path: Path) -> list[Path]:
    if path.is_dir():
        return sorted(file for file in path.glob(f"*{_SUFFIX}") if file.is_file())
    return [path] if path.suffix == _SUFFIX and path.is_file() else []

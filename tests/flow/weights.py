"""Safetensors files for tests, made by hand as the format says: length, header, bytes."""

from __future__ import annotations

import json
import math
import struct
from collections.abc import Mapping
from pathlib import Path

_BYTES = {"F32": 4, "BF16": 2, "U8": 1}


def write_weights(path: Path, tensors: Mapping[str, tuple[str, list[int]]]) -> None:
    """Write tensors of zeros: name to dtype and shape."""
    header: dict[str, object] = {}
    end = 0
    for name, (dtype, shape) in tensors.items():
        begin, end = end, end + math.prod(shape) * _BYTES[dtype]
        header[name] = {"dtype": dtype, "shape": shape, "data_offsets": [begin, end]}
    text = json.dumps(header).encode()
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(struct.pack("<Q", len(text)) + text + bytes(end))

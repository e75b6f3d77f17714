"""The safetensors format, read with the standard library alone.

Eight bytes: length of the header. The header: JSON, for each tensor its dtype, shape and place in the
bytes that follow. The places have to cover these bytes exactly, without a gap or an overlap.
Source: the format's description in the safetensors project.
"""

from __future__ import annotations

import math
import os
import struct
from collections.abc import Iterator, Mapping
from typing import Any, BinaryIO

from lastro import strictjson
from lastro.locale import _
from lastro.records import dataclass

#: Bits of one element.
_BITS = {
    "BOOL": 8, "U8": 8, "I8": 8, "F8_E5M2": 8, "F8_E4M3": 8, "F8_E8M0": 8, "F8_E4M3FNUZ": 8, "F8_E5M2FNUZ": 8,
    "I16": 16, "U16": 16, "F16": 16, "BF16": 16, "I32": 32, "U32": 32, "F32": 32,
    "I64": 64, "U64": 64, "F64": 64, "C64": 64, "F4": 4, "F6_E2M3": 6, "F6_E3M2": 6,
}  # fmt: skip
#: The format's own limit for a header.
_LONGEST_HEADER = 100_000_000
#: Divisible by every element's size.
_BLOCK = 1 << 22


class HeaderDamaged(ValueError):
    """A file is not whole safetensors; the message is a sentence for the user."""


@dataclass(frozen=True)
class Tensor:
    """One tensor: where its bytes begin in the file, and how many they are."""

    name: str
    dtype: str
    shape: tuple[int, ...]
    start: int
    bytes: int


@dataclass(frozen=True)
class Header:
    """What a safetensors file says that it holds, in the order of the bytes."""

    tensors: tuple[Tensor, ...]
    metadata: Mapping[str, Any]


def read_header(file: BinaryIO) -> Header:
    """Read the header, and check that the file holds exactly the bytes that it tells of.

    Raises:
        HeaderDamaged: it does not, or there is no header.
    """
    size = os.fstat(file.fileno()).st_size
    first = file.read(8)
    length = struct.unpack("<Q", first)[0] if len(first) == 8 else 0
    if not 2 <= length <= min(_LONGEST_HEADER, size - 8):
        raise HeaderDamaged(_("it does not begin with a safetensors header"))
    try:
        header = strictjson.loads(file.read(length))
        metadata = header.pop("__metadata__", None) or {}
        tensors = [_tensor(name, item, 8 + length) for name, item in header.items()]
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise HeaderDamaged(_("its header cannot be read: {why}").format(why=error)) from error
    tensors.sort(key=lambda tensor: tensor.start)
    end = 8 + length
    for tensor in tensors:
        if tensor.start != end:
            raise HeaderDamaged(
                _("tensor '{name}' begins at byte {start}, the one before it ends at {end}").format(
                    name=tensor.name, start=tensor.start, end=end
                )
            )
        end += tensor.bytes
    if end != size:
        raise HeaderDamaged(
            _("its tensors take {wanted} bytes, the file has {size}").format(wanted=end, size=size)
        )
    return Header(tuple(tensors), metadata if isinstance(metadata, dict) else {})


def _tensor(name: str, item: Mapping[str, Any], data: int) -> Tensor:
    dtype, shape = item["dtype"], tuple(item["shape"])
    begin, end = item["data_offsets"]
    if dtype not in _BITS:
        raise ValueError(_("tensor '{name}' has the unknown dtype {dtype}").format(name=name, dtype=dtype))
    if not all(type(length) is int and length >= 0 for length in (*shape, begin, end)):
        raise ValueError(_("tensor '{name}' has no shape and place").format(name=name))
    if math.prod(shape) * _BITS[dtype] != (end - begin) * 8:
        raise ValueError(
            _("tensor '{name}' of {dtype} {shape} does not fit its {count} bytes").format(
                name=name, dtype=dtype, shape=list(shape), count=end - begin
            )
        )
    return Tensor(name, dtype, shape, data + begin, end - begin)


def tensor_bytes(file: BinaryIO, tensor: Tensor) -> Iterator[bytes]:
    """Yield the bytes of one tensor, in blocks of whole elements."""
    file.seek(tensor.start)
    left = tensor.bytes
    while left:
        block = file.read(min(left, _BLOCK))
        if not block:
            raise HeaderDamaged(_("the file ends inside tensor '{name}'").format(name=tensor.name))
        left -= len(block)
        yield block

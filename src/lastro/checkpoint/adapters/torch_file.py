"""The file of a checkpoint's tensors: laid out in an arena to be written, and read into tensors again.

Source of the format: the safetensors README: length of the header as 8 bytes, little-endian; a JSON header
padded with spaces; then the data, in the order of the header.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Callable, Collection, Mapping
from math import prod
from typing import Any, NamedTuple

import torch

from lastro.checkpoint.adapters.base import TENSORS
from lastro.checkpoint.adapters.finite import is_finite
from lastro.checkpoint.arena import Arena
from lastro.checkpoint.bulk import Reader
from lastro.checkpoint.copying import Piece, copy
from lastro.errors import CheckpointDamaged
from lastro.locale import _
from lastro.records import dataclass

#: Names of element types in the safetensors format.
DTYPES = {
    torch.float64: "F64", torch.float32: "F32", torch.float16: "F16", torch.bfloat16: "BF16",
    torch.int64: "I64", torch.int32: "I32", torch.int16: "I16", torch.int8: "I8", torch.uint8: "U8",
    torch.uint16: "U16", torch.uint32: "U32", torch.uint64: "U64", torch.bool: "BOOL",
    torch.complex64: "C64", torch.float8_e4m3fn: "F8_E4M3", torch.float8_e5m2: "F8_E5M2",
    torch.float8_e4m3fnuz: "F8_E4M3FNUZ", torch.float8_e5m2fnuz: "F8_E5M2FNUZ",
}  # fmt: skip
KINDS = {name: dtype for dtype, name in DTYPES.items()}
#: The data begins at a multiple of this, so that the copies are as fast as copies can be.
_ALIGNED = 64


class _Place(NamedTuple):
    """Where one tensor lies in the file; `start` and `end` are in bytes from its beginning."""

    dtype: str
    start: int
    end: int


@dataclass(frozen=True)
class StagedTensors:
    """See `Staged`. `places` is in the order in which the tensors were taken."""

    memory: memoryview
    places: Mapping[str, _Place]

    def not_finite(self) -> tuple[str, ...]:
        return tuple(
            name
            for name, place in self.places.items()
            if not is_finite(self.memory[place.start : place.end], place.dtype)
        )


def stage(tensors: Mapping[str, torch.Tensor], arena: Arena) -> StagedTensors:
    """Copy dense tensors of known element types, from whatever device, into the arena."""
    header, places, size = _layout(tensors)
    devices = {tensor.device for tensor in tensors.values() if tensor.device.type == "cuda"}
    memory = arena.reserve(size, _pin if devices else None)
    memory[: len(header)] = header
    whole = torch.frombuffer(memory, dtype=torch.uint8)
    rows = []
    for name, tensor in tensors.items():
        place = places[name]
        if place.end == place.start:
            continue
        if _is_row(tensor):
            rows.append(Piece(tensor.data_ptr(), place.end - place.start, place.start))
        else:
            target = whole[place.start : place.end].view(tensor.dtype).view(tensor.shape)
            target.copy_(tensor.detach(), non_blocking=tensor.device in devices)
    copy(rows, memory)  # while what comes from a device is on its way
    for device in devices:
        torch.cuda.synchronize(device)
    return StagedTensors(memory, places)


def _is_row(tensor: torch.Tensor) -> bool:
    """Tell whether the bytes of a tensor lie in this process's memory as they will in the file."""
    on_cpu = tensor.device.type == "cpu" and tensor.is_contiguous()
    return on_cpu and not tensor.is_conj() and not tensor.is_neg()


def _layout(tensors: Mapping[str, torch.Tensor]) -> tuple[bytes, dict[str, _Place], int]:
    """Return the header of the file, where each tensor goes, and the size of the file.

    Larger element types come first, which keeps every tensor aligned.
    """
    ordered = sorted(tensors.items(), key=lambda item: (-item[1].element_size(), item[0]))
    told: dict[str, Any] = {}
    offset = 0
    for name, tensor in ordered:
        end = offset + tensor.nbytes
        dtype = DTYPES[tensor.dtype]
        told[name] = {"dtype": dtype, "shape": tuple(tensor.shape), "data_offsets": (offset, end)}
        offset = end
    text = json.dumps(told, separators=(",", ":")).encode()
    text += b" " * (-(len(text) + 8) % _ALIGNED)
    header = struct.pack("<Q", len(text)) + text
    begin = len(header)
    places = {}
    for name in tensors:
        start, end = told[name]["data_offsets"]
        places[name] = _Place(told[name]["dtype"], begin + start, begin + end)
    return header, places, begin + offset


def _pin(memory: memoryview) -> Callable[[], None] | None:
    """Lock memory for transfers from the GPU; None where the driver refuses, which is only slower."""
    runtime: Any = torch.cuda.cudart()  # type: ignore[no-untyped-call]
    address = torch.frombuffer(memory, dtype=torch.uint8).data_ptr()
    if int(runtime.cudaHostRegister(address, len(memory), 0)) != 0:
        return None

    def unpin() -> None:
        runtime.cudaHostUnregister(address)

    return unpin


def read_tensors(file: Reader, skip: Collection[str] = ()) -> dict[str, torch.Tensor]:
    """Read a file to its end; return its tensors, each in memory of its own, on the CPU.

    Args:
        file: at its beginning.
        skip: names of tensors whose bytes are read and not kept.

    Raises:
        CheckpointDamaged: it is not a file of tensors as this module lays it out.
        EOFError: it is shorter than it says.
    """
    try:
        (length,) = struct.unpack("<Q", file.bytes(8))
        header = json.loads(file.bytes(length))
        begin, offset = 8 + length, 0
        tensors = {}
        for name, told in sorted(header.items(), key=lambda item: item[1]["data_offsets"]):
            tensor, size = _empty(told, offset, file.size - begin)
            if size:
                row: Any = tensor.reshape(-1).view(torch.uint8).numpy()
                file.into(memoryview(row))
            if name not in skip:
                tensors[name] = tensor
            offset += size
        if begin + offset != file.size:
            raise ValueError(_("it goes on after its last tensor"))
    except (KeyError, TypeError, ValueError, AttributeError, RuntimeError) as error:
        raise CheckpointDamaged(
            _("{file} is not a file of tensors: {error}").format(file=TENSORS, error=error)
        ) from error
    return tensors


def _empty(told: Mapping[str, Any], offset: int, most: int) -> tuple[torch.Tensor, int]:
    """Return memory for one tensor, and its bytes; see that it follows the one before and fits."""
    dtype, (start, end) = KINDS[told["dtype"]], told["data_offsets"]
    size = prod(told["shape"]) * dtype.itemsize
    if start != offset or end - start != size or end > most:
        raise ValueError(_("its offsets are {offsets}").format(offsets=told["data_offsets"]))
    return torch.empty(told["shape"], dtype=dtype), size

"""PNG, decoded with the standard library: checksums, length, and whether there is more than one colour.

Source: PNG specification, third edition (W3C, 2025): chunks (5), filters (9), interlacing (8).
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from lastro.locale import _
from lastro.records import dataclass

SIGNATURE = b"\x89PNG\r\n\x1a\n"
_CHANNELS = {0: 1, 2: 3, 3: 1, 4: 2, 6: 4}
_DEPTHS = (1, 2, 4, 8, 16)
#: Adam7: first column and row, steps between columns and rows, of each pass.
_PASSES = ((0, 0, 8, 8), (4, 0, 8, 8), (0, 4, 4, 8), (2, 0, 4, 4), (0, 2, 2, 4), (1, 0, 2, 2), (0, 1, 1, 2))
#: Chunks that say which colours the samples are; the rest is about the picture.
_COLOURS = (b"IHDR", b"PLTE", b"tRNS")


class PngDamaged(ValueError):
    """A file is no whole PNG; the message is a sentence for the user."""


@dataclass(frozen=True)
class Png:
    """A decoded picture. `samples`: rows, each behind the number of its filter; `colours`: their meaning."""

    width: int
    height: int
    bits: int
    interlaced: bool
    colours: bytes
    samples: bytes

    @property
    def row_bytes(self) -> int:
        return _row_bytes(self.width, self.bits)

    @property
    def constant(self) -> bool | None:
        """Say whether all pixels are equal; None where that was not looked at (interlaced, cut bytes)."""
        if self.interlaced or (self.bits < 8 and self.width * self.bits % 8):
            return None
        size = max(1, self.bits // 8)
        pixel = self.samples[1 : 1 + size]
        for row in range(self.height):
            begin = row * (1 + self.row_bytes)
            filtered = self.samples[begin + 1 : begin + 1 + self.row_bytes]
            if filtered != _filtered(self.samples[begin], pixel, self.row_bytes // size, first=row == 0):
                return False
        return True


def _filtered(kind: int, pixel: bytes, count: int, *, first: bool) -> bytes:
    """Return a row of equal pixels as a filter writes it, below nothing (`first`) or below the same row."""
    nothing = bytes(len(pixel))
    half = bytes((value - value // 2) % 256 for value in pixel)
    begin, follow = {
        0: (pixel, pixel),
        1: (pixel, nothing),
        2: (pixel, pixel) if first else (nothing, nothing),
        3: (pixel, half) if first else (half, nothing),
        4: (pixel, nothing) if first else (nothing, nothing),
    }[kind]
    return begin + follow * (count - 1)


def read_png(path: Path) -> Png:
    """Read and check a whole picture.

    Raises:
        PngDamaged: it is cut, a checksum or the length of its data is wrong, or it says what PNG has not.
    """
    with path.open("rb") as file:
        if file.read(len(SIGNATURE)) != SIGNATURE:
            raise PngDamaged(_("it does not begin as a PNG does"))
        chunks = list(_chunks(file))
    named = dict(reversed(chunks))
    if chunks[0][0] != b"IHDR" or len(chunks[0][1]) != 13 or chunks[-1][0] != b"IEND":
        raise PngDamaged(_("it has no first or no last part"))
    width, height, depth, kind, _method, _filters, interlaced = struct.unpack(">IIBBBBB", chunks[0][1])
    if not width or not height or kind not in _CHANNELS or depth not in _DEPTHS or interlaced > 1:
        raise PngDamaged(_("its header says what a PNG cannot be"))
    bits = _CHANNELS[kind] * depth
    wanted = _length(width, height, bits, interlaced=bool(interlaced))
    samples = _inflate(b"".join(data for name, data in chunks if name == b"IDAT"), wanted)
    colours = b"".join(name + named[name] for name in _COLOURS if name in named)
    picture = Png(width, height, bits, bool(interlaced), colours, samples)
    if not interlaced and max(samples[:: 1 + picture.row_bytes]) > 4:
        raise PngDamaged(_("a row has a filter that PNG does not have"))
    return picture


def _chunks(file: BinaryIO) -> Iterator[tuple[bytes, bytes]]:
    while True:
        head = file.read(8)
        if len(head) < 8:
            raise PngDamaged(_("it ends before its last part"))
        length, name = struct.unpack(">I4s", head)
        data, check = file.read(length), file.read(4)
        if len(data) != length or len(check) != 4:
            raise PngDamaged(_("it ends inside its part {name}").format(name=name.decode("latin-1")))
        if zlib.crc32(name + data) != struct.unpack(">I", check)[0]:
            raise PngDamaged(
                _("the checksum of its part {name} is wrong").format(name=name.decode("latin-1"))
            )
        yield name, data
        if name == b"IEND":
            return


def _row_bytes(width: int, bits: int) -> int:
    return (width * bits + 7) // 8


def _length(width: int, height: int, bits: int, *, interlaced: bool) -> int:
    if not interlaced:
        return height * (1 + _row_bytes(width, bits))
    total = 0
    for column, row, across, down in _PASSES:
        wide, high = -(-(width - column) // across), -(-(height - row) // down)
        if wide > 0 and high > 0:
            total += high * (1 + _row_bytes(wide, bits))
    return total


def _inflate(data: bytes, wanted: int) -> bytes:
    try:
        # One byte more than there should be, and no more: a small file can unfold to anything.
        samples = zlib.decompressobj().decompress(data, wanted + 1)
    except zlib.error as error:
        raise PngDamaged(_("its data cannot be unpacked: {why}").format(why=error)) from error
    if len(samples) != wanted:
        raise PngDamaged(_("its data has another length than its size asks for"))
    return samples

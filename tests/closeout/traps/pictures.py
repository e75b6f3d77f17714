"""PNG files, written by hand: any filter, any size, any text beside the picture."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Sequence

Row = Sequence[int]


def chunk(name: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))


def png(rows: Sequence[Row], *, kind: int = 0, level: int = 6, text: str = "", filters: Row = ()) -> bytes:
    """Return a PNG of 8 bits a sample.

    Args:
        rows: samples, grey (`kind` 0) or red, green, blue after each other (`kind` 2).
        kind: of colour.
        level: of compression.
        text: a comment.
        filters: of the rows, as PNG numbers them; 0 for those that are not named.
    """
    size = {0: 1, 2: 3}[kind]
    data, above = b"", [0] * len(rows[0])
    for place, row in enumerate(rows):
        chosen = filters[place] if place < len(filters) else 0
        data += bytes([chosen]) + bytes(filtered(chosen, row, above, size))
        above = list(row)
    head = struct.pack(">IIBBBBB", len(rows[0]) // size, len(rows), 8, kind, 0, 0, 0)
    comment = chunk(b"tEXt", b"Comment\0" + text.encode()) if text else b""
    parts = (chunk(b"IHDR", head), comment, chunk(b"IDAT", zlib.compress(data, level)), chunk(b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(parts)


def filtered(kind: int, row: Row, above: Row, size: int) -> list[int]:
    """Filter a row, as PNG (third edition, 9.2) defines it."""
    found = []
    for place, value in enumerate(row):
        left = row[place - size] if place >= size else 0
        corner = above[place - size] if place >= size else 0
        up = above[place]
        guess = (0, left, up, (left + up) // 2, paeth(left, up, corner))[kind]
        found.append((value - guess) % 256)
    return found


def paeth(left: int, up: int, corner: int) -> int:
    estimate = left + up - corner
    distances = [abs(estimate - value) for value in (left, up, corner)]
    return (left, up, corner)[distances.index(min(distances))]


def gradient(width: int = 6, height: int = 4, step: int = 7) -> list[list[int]]:
    return [[(column * step + row * 3) % 256 for column in range(width)] for row in range(height)]

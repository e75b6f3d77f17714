"""Frames between home and the agent on a machine: a line of JSON behind a mark, and the bytes that it tells.

What a shell prints on its own (a banner, a motto, a warning) has no mark, and is passed over.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, BinaryIO

from lastro import strictjson

#: A control character in front: no banner begins so.
MARK = b"\x1elastro "
#: Bytes of one frame's head, and of what stands around frames.
LONGEST_LINE = 1 << 24


def frame(head: Mapping[str, Any], body: bytes = b"") -> bytes:
    """Return a frame as it goes over the wire."""
    return MARK + strictjson.dumps({**head, "bytes": len(body)}).encode() + b"\n" + body


def head_of(line: bytes) -> dict[str, Any] | None:
    """Return the head that a line is; None for a line of no frame. Raises ValueError for a torn one."""
    place = line.find(MARK)  # a banner without a newline at its end may stand in front
    if place < 0:
        return None
    head: dict[str, Any] = strictjson.loads(line[place + len(MARK) :])
    return head


def read_frame(stream: BinaryIO) -> tuple[dict[str, Any], bytes] | None:
    """Read the next frame, however long it takes; None at the end."""
    while line := stream.readline(LONGEST_LINE):
        head = head_of(line)
        if head is not None:
            return head, stream.read(int(head["bytes"]))
    return None

"""Headers of a POSIX tar that are the same for the same file: no owner, no time, a mode of two kinds.

Source: POSIX.1-2017, pax, "ustar Interchange Format" and "pax Interchange Format".
"""

from __future__ import annotations

import functools

from lastro.storage.pack.tree import Entry, Kind

BLOCK = 512
#: An archive ends with two empty blocks.
END = bytes(2 * BLOCK)
#: The largest size that eleven octal digits hold: 8 GiB less a byte.
_MAX_SIZE = 8**11 - 1
_TYPES = {Kind.FILE: b"0", Kind.LINK: b"2", Kind.FOLDER: b"5"}


def header_of(entry: Entry) -> bytes:
    """Return what stands before the content: one block, or three and more where ustar cannot say it all."""
    if is_plain(entry):
        return _plain_block(entry.name, entry.size, entry.mode)
    name = entry.name + b"/" if entry.kind is Kind.FOLDER else entry.name
    records = []
    split = _split(name) if name.isascii() else None
    if split is None:
        records.append((b"path", name))
        split = b"", _readable(name)
    if not entry.target.isascii() or len(entry.target) > 100:
        records.append((b"linkpath", entry.target))
    if entry.size > _MAX_SIZE:
        records.append((b"size", b"%d" % entry.size))
    size = entry.size if entry.size <= _MAX_SIZE else 0
    block = _block(split, size, entry.mode, _TYPES[entry.kind], _readable(entry.target))
    return _extended(records, split[1]) + block if records else block


def header_length(entry: Entry) -> int:
    """Return the length of `header_of(entry)`, which is one block for nearly all."""
    return BLOCK if is_plain(entry) else len(header_of(entry))


def is_plain(entry: Entry) -> bool:
    """Say whether one block says all of an entry: a file with a short name of ASCII, as nearly all are."""
    plain = entry.kind is Kind.FILE and len(entry.name) <= 100 and entry.size <= _MAX_SIZE
    return plain and entry.name.isascii()


def padding(size: int) -> int:
    """Return how many empty bytes follow content of this size."""
    return -size % BLOCK


def _plain_block(name: bytes, size: int, mode: int) -> bytes:
    """Return the block of a plain file, from that of an empty one without a name: most of it is the same."""
    before, after, empty = _frame(mode)
    octal = b"%011o" % size
    # The sum is over all bytes; eleven zeros stood where the size stands now.
    total = empty + sum(name) + sum(octal) - 11 * 0x30
    return b"%s%s%s%s%06o\0 %s" % (name.ljust(100, b"\0"), before, octal, after, total, _TAIL)


@functools.cache
def _frame(mode: int) -> tuple[bytes, bytes, int]:
    """Return what stands between name and size, and between size and sum, and the sum of an empty file."""
    block = _block((b"", b""), 0, mode, _TYPES[Kind.FILE], b"")
    return block[100:124], block[135:148], int(block[148:154], 8)


def _split(name: bytes) -> tuple[bytes, bytes] | None:
    """Return prefix and name of a ustar header; None where they do not fit."""
    if len(name) <= 100:
        return b"", name
    cut = name.find(b"/", len(name) - 101)
    if 0 < cut <= 155 and 0 < len(name) - cut - 1 <= 100:
        return name[:cut], name[cut + 1 :]
    return None


def _readable(name: bytes) -> bytes:
    """Return what stands in the short field for programs that do not read the long one."""
    return bytes(byte if byte < 128 else 0x5F for byte in name[:100])


def _extended(records: list[tuple[bytes, bytes]], name: bytes) -> bytes:
    """Return the header and the block of a pax extended header with these records."""
    if any(not _is_utf8(value) for _key, value in records):
        records = [(b"hdrcharset", b"BINARY"), *records]
    body = b"".join(_record(key, value) for key, value in records)
    head = _block((b"", b"PaxHeaders/" + name[:80]), len(body), 0o644, b"x", b"")
    return head + body + bytes(padding(len(body)))


def _is_utf8(value: bytes) -> bool:
    try:
        value.decode()
    except UnicodeDecodeError:
        return False
    return True


def _record(key: bytes, value: bytes) -> bytes:
    """Return one record, which begins with its own length in decimal digits."""
    rest = len(key) + len(value) + 3
    length = rest + len(str(rest))
    length = rest + len(str(length))
    return b"%d %s=%s\n" % (length, key, value)


def _block(split: tuple[bytes, bytes], size: int, mode: int, kind: bytes, target: bytes) -> bytes:
    head = b"%s%07o\x000000000\x000000000\x00%011o\x0000000000000\x00" % (
        split[1].ljust(100, b"\0"),
        mode,
        size,
    )
    tail = b"%s%sustar\x0000%s0000000\x000000000\x00%s" % (
        kind,
        target.ljust(100, b"\0"),
        bytes(64),
        split[0].ljust(167, b"\0"),
    )
    # The sum is taken with blanks in its own field.
    return b"%s%06o\0 %s" % (head, sum(head) + sum(tail) + 8 * 32, tail)


#: What stands behind the sum in the block of a plain file, whatever its name, size and mode.
_TAIL = _block((b"", b""), 0, 0o644, _TYPES[Kind.FILE], b"")[156:]

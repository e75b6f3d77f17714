"""What an output holds, whatever its order or wrapping: equal content is one deliverable, counted once."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from lastro.closeout.judge import Judgement, Verdict
from lastro.closeout.reload.tensors import HeaderDamaged, read_header, tensor_bytes
from lastro.closeout.tables import TableDamaged, is_table, read_table
from lastro.storage.digest import sha256_file


def content_digest(path: Path) -> str:
    """Return the SHA-256 of a file's content.

    Tables: columns and rows in sorted order. Safetensors: name, dtype, shape and bytes of each tensor,
    without metadata. Everything else, and what cannot be read as what its name says: the bytes.
    """
    try:
        if is_table(path):
            return _of_table(path)
        if path.suffix.lower() == ".safetensors":
            return _of_tensors(path)
    except (TableDamaged, HeaderDamaged):
        pass
    return sha256_file(path)


def _of_table(path: Path) -> str:
    table = read_table(path)
    order = sorted(range(len(table.columns)), key=lambda place: table.columns[place])
    digest = hashlib.sha256(b"table\n")
    digest.update(_line([table.columns[place] for place in order]))
    for line in sorted(_line([row[place] for place in order]) for row in table.rows):
        digest.update(line)
    return digest.hexdigest()


def _line(cells: Sequence[str]) -> bytes:
    # Lengths in front: no cell can pretend to be two.
    return b"".join(b"%d:%s," % (len(cell.encode()), cell.encode()) for cell in cells) + b"\n"


def _of_tensors(path: Path) -> str:
    digest = hashlib.sha256(b"tensors\n")
    with path.open("rb") as file:
        for tensor in sorted(read_header(file).tensors, key=lambda tensor: tensor.name):
            shape = "x".join(str(length) for length in tensor.shape)
            digest.update(_line([tensor.name, tensor.dtype, shape, str(tensor.bytes)]))
            for block in tensor_bytes(file, tensor):
                digest.update(block)
    return digest.hexdigest()


def mark_duplicates(judgements: Sequence[Judgement]) -> tuple[Judgement, ...]:
    """Return the judgements with every later accepted one of equal content marked `duplicate_of` the first.

    Pure. They stay accepted, and what they cost stays in the bill; they only do not count again.
    """
    first: dict[str, Judgement] = {}
    marked = []
    for one in judgements:
        if one.verdict is not Verdict.ACCEPTED or one.content is None:
            marked.append(one)
            continue
        earlier = first.setdefault(one.content, one)
        marked.append(one if earlier is one else replace(one, duplicate_of=f"{earlier.run}/{earlier.path}"))
    return tuple(marked)

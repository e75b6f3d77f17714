"""What an output holds, whatever its order or wrapping: equal content is one deliverable, counted once."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path, PurePosixPath

from lastro import strictjson
from lastro.closeout.controls import is_bystander
from lastro.closeout.inventory import output_files
from lastro.closeout.judge import Judgement, Verdict
from lastro.closeout.reload.png import PngDamaged, read_png
from lastro.closeout.reload.tensors import HeaderDamaged, read_header, tensor_bytes
from lastro.closeout.shards import INDEX
from lastro.closeout.tables import TableDamaged, TableUnreadable, is_table, read_table
from lastro.spec.run_id import canonical_json
from lastro.storage.digest import sha256_file

_WEIGHTS, _JSON, _PNG = ".safetensors", ".json", ".png"
#: Files of a folder that describe it, and change nothing of what it does.
_DESCRIPTIONS = frozenset({"README.md", "LICENSE", "LICENSE.txt", "NOTICE", ".gitattributes", ".gitignore"})
#: Settings that tell who wrote a configuration, and where from.
_VOLATILE = frozenset({"transformers_version", "peft_version", "_name_or_path", "name_or_path"})


def content_digest(path: Path) -> str:
    """Return the SHA-256 of an output's content.

    Tables (of any format): columns and rows in sorted order. Weights: name, dtype, shape and bytes of each
    tensor, without metadata. JSON: keys in sorted order, without the writer's name. PNG: colours and samples,
    without compression and texts. A folder: its weights as if they were one file, and each other file's
    content by its name, without descriptions. Everything else, and what cannot be read as what its name says:
    the bytes.
    """
    return digest_of_parts(content_parts(path))


def digest_of_parts(parts: Sequence[bytes]) -> str:
    """Return the SHA-256 of a content by its parts, in whatever order. Pure."""
    return hashlib.sha256(b"".join(sorted(parts))).hexdigest()


def content_parts(path: Path) -> list[bytes]:
    """Return what the content consists of, in no order: a line for each row, tensor or file."""
    if path.is_dir():
        return [part for name in output_files(path, ".") for part in _of_member(path, name)]
    try:
        return list(_parts_of(path))
    except (TableDamaged, TableUnreadable, HeaderDamaged, PngDamaged, ValueError):
        return [_line(["bytes", sha256_file(path)])]


def _of_member(folder: Path, name: str) -> Iterator[bytes]:
    base = PurePosixPath(name).name
    if base in _DESCRIPTIONS or base.endswith(INDEX) or is_bystander(name):
        return
    place = str(PurePosixPath(name).parent)
    if name.endswith(_WEIGHTS):
        # Without the file's own name: how weights are divided into files is wrapping.
        for part in content_parts(folder / name):
            yield _line([place]) + part
        return
    yield _line([name, content_digest(folder / name)])


def _parts_of(path: Path) -> Iterable[bytes]:
    suffix = path.suffix.lower()
    if is_table(path):
        return _of_table(path)
    if suffix == _WEIGHTS:
        return _of_tensors(path)
    if suffix == _JSON:
        return [_line(["json"]) + canonical_json(_steady(strictjson.loads(path.read_bytes())))]
    if suffix == _PNG:
        picture = read_png(path)
        return [_line(["png", picture.colours.hex(), hashlib.sha256(picture.samples).hexdigest()])]
    return [_line(["bytes", sha256_file(path)])]


def _steady(value: object) -> object:
    if not isinstance(value, dict):
        return value
    return {key: item for key, item in value.items() if key not in _VOLATILE}


def _of_table(path: Path) -> Iterator[bytes]:
    table = read_table(path)
    order = sorted(range(len(table.columns)), key=lambda place: table.columns[place])
    yield _line(["columns", *(table.columns[place] for place in order)])
    for row in table.rows:
        yield _line(["row", *(row[place] for place in order)])


def _line(cells: Sequence[str]) -> bytes:
    # Lengths in front: no cell can pretend to be two.
    return b"".join(b"%d:%s," % (len(cell.encode()), cell.encode()) for cell in cells) + b"\n"


def _of_tensors(path: Path) -> Iterator[bytes]:
    with path.open("rb") as file:
        for tensor in read_header(file).tensors:
            digest = hashlib.sha256()
            for block in tensor_bytes(file, tensor):
                digest.update(block)
            shape = "x".join(str(length) for length in tensor.shape)
            yield _line(["tensor", tensor.name, tensor.dtype, shape, digest.hexdigest()])


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

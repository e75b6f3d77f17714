"""What lies where a deliverable should lie, collected once so that the controls can be pure."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import field, replace
from pathlib import Path

from lastro.atomic import TEMPORARY
from lastro.closeout.base import NamedBase, named_base
from lastro.closeout.foreign import (
    CONFIGURATION,
    DATA,
    PROSE,
    VOCABULARIES,
    foreign_path,
    strings_in,
    values_in,
)
from lastro.closeout.hosts import foreign_host
from lastro.closeout.pickles import PickleFacts, scan
from lastro.closeout.reload.tensors import HeaderDamaged, read_header
from lastro.closeout.shards import shard_faults
from lastro.closeout.tables import Table, TableDamaged, TableUnreadable, is_table, read_table
from lastro.records import dataclass
from lastro.storage.secrets import find_in_file

_WEIGHTS = ".safetensors"


@dataclass(frozen=True, kw_only=True)
class Surroundings:
    """What belongs to the run's own machines, and must not stand in an output.

    folders: see `foreign.usable_prefixes`. hosts: names of machines. secrets: name -> value.
    """

    folders: Sequence[str] = ()
    hosts: Sequence[str] = ()
    secrets: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class FileFacts:
    """One file of an output; `name` is relative to the outputs.

    `foreign`: the first path inside it that only its own machine has, `host` the first name of a machine.
    `secret`: what looks like a key, with its line. `pickle`: what it would call; None for what is no pickle.
    """

    name: str
    bytes: int
    foreign: str | None = None
    host: str | None = None
    secret: tuple[str, int] | None = None
    pickle: PickleFacts | None = None


@dataclass(frozen=True, kw_only=True)
class Inventory:
    """One promised output as it was found: a file, or a folder with all that lies below it.

    `links_out`: symbolic links at, below or on the way to it that lead outside of the outputs, with their
    targets. `damage`: why it cannot be read; `unreadable`: why it cannot be read *here*. `shards`: where they
    do not match their index. `named_base`: the base that its configuration names.
    """

    path: str
    exists: bool
    is_folder: bool = False
    files: tuple[FileFacts, ...] = ()
    links_out: Mapping[str, str] = field(default_factory=dict)
    table: Table | None = None
    damage: str | None = None
    unreadable: str | None = None
    shards: tuple[str, ...] = ()
    named_base: NamedBase | None = None

    @property
    def bytes(self) -> int:
        return sum(file.bytes for file in self.files)


def collect(folder: Path, path: str, around: Surroundings) -> Inventory:
    """Look at one output below `folder`; a link that leads outside is not followed.

    Args:
        folder: the outputs, or a copy of them.
        path: relative to it, as promised.
        around: what must not stand in it.
    """
    place = folder / path
    links = links_out(folder, path)
    if path in links:
        return Inventory(path=path, exists=True, links_out=links)
    if place.is_dir():
        names = [name for name in output_files(folder, path) if name not in links]
        return Inventory(
            path=path,
            exists=True,
            is_folder=True,
            files=tuple(_facts(folder, name, around, in_folder=True) for name in names),
            links_out=links,
            shards=shard_faults(place),
            named_base=named_base(place),
        )
    if not place.is_file():
        return Inventory(path=path, exists=False)
    facts = _facts(folder, path, around, in_folder=False)
    found = Inventory(path=path, exists=True, files=(facts,), links_out=links)
    return _with_table(found, place) if facts.bytes and is_table(place) else found


def output_files(folder: Path, path: str) -> list[str]:
    """Return the files of an output, relative to `folder`, sorted; what is half written is passed over."""
    place = folder / path
    if not place.is_dir() or place.is_symlink():
        return [path] if place.is_file() else []
    return sorted(
        Path(around, name).relative_to(folder).as_posix()
        for around, _folders, names in os.walk(place)
        for name in names
        if not name.startswith(TEMPORARY)
    )


def links_out(folder: Path, path: str) -> dict[str, str]:
    """Return each symbolic link at, above or below `path` that leads out of `folder`, and where to."""
    found = {}
    if (target := _leads_out(folder, path)) is not None:
        return {path: target}
    for around, folders, names in os.walk(folder / path):
        for name in (*folders, *names):
            entry = Path(around, name)
            inside = entry.relative_to(folder).as_posix()
            if entry.is_symlink() and (target := _leads_out(folder, inside)) is not None:
                found[inside] = target
    return found


def _leads_out(folder: Path, path: str) -> str | None:
    try:
        inside, target = folder.resolve(), (folder / path).resolve()
    except (OSError, RuntimeError):  # RuntimeError: before Python 3.13, a link that leads to itself
        return path
    if (folder / path).is_symlink() and not target.exists():
        return str(target)
    return None if inside in target.parents else str(target)


def _with_table(found: Inventory, file: Path) -> Inventory:
    try:
        return replace(found, table=read_table(file))
    except TableUnreadable as error:
        return replace(found, unreadable=str(error))
    except (TableDamaged, OSError) as error:
        return replace(found, damage=str(error))


def _facts(folder: Path, name: str, around: Surroundings, *, in_folder: bool) -> FileFacts:
    file = folder / name
    suffix = file.suffix.lower()
    data = suffix in DATA
    foreign = host = None
    for value in _texts(file, in_folder=in_folder):
        foreign = foreign or foreign_path(value, around.folders, inside=not data)
        host = host or (None if data else foreign_host(value, around.hosts))
    is_text = suffix in CONFIGURATION | DATA | PROSE
    return FileFacts(
        name=name,
        bytes=file.stat().st_size,
        foreign=foreign,
        host=host,
        secret=find_in_file(file, around.secrets) if is_text else None,
        pickle=scan(file),
    )


def _texts(file: Path, *, in_folder: bool) -> Iterator[str]:
    """Yield what may steer a program that reads the file; in a folder prose is documentation of the rest."""
    suffix = file.suffix.lower()
    if file.name in VOCABULARIES:
        return
    if suffix in CONFIGURATION | DATA or (suffix in PROSE and not in_folder):
        yield from values_in(file.read_text(encoding="utf-8", errors="replace"), suffix)
    elif suffix == _WEIGHTS:
        with suppress(HeaderDamaged), file.open("rb") as opened:  # damage is the loader's to tell
            yield from strings_in(dict(read_header(opened).metadata))

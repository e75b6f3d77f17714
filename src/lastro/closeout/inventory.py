"""What lies where a deliverable should lie, collected once so that the controls can be pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from lastro.closeout.foreign import TEXT, foreign_path, strings_in, values_in
from lastro.closeout.reload.tensors import HeaderDamaged, read_header
from lastro.closeout.tables import Table, TableDamaged, is_table, read_table


@dataclass(frozen=True, kw_only=True)
class Inventory:
    """One promised file as it was found.

    `leads_out`: where a symbolic link on the way to it points, when that is outside the outputs.
    `foreign`: the first path inside it that only its own machine has. `damage`: why it could not be read.
    """

    path: str
    exists: bool
    bytes: int = 0
    leads_out: str | None = None
    foreign: str | None = None
    table: Table | None = None
    damage: str | None = None


def collect(folder: Path, path: str, prefixes: Sequence[str]) -> Inventory:
    """Look at one file below `folder`; one to which a link outside leads is not opened.

    Args:
        folder: the outputs, or a copy of them.
        path: relative to it, as promised.
        prefixes: the run's own folders, see `foreign.usable_prefixes`.
    """
    file = folder / path
    leads_out = link_out(folder, path)
    if leads_out is not None:
        return Inventory(path=path, exists=True, leads_out=leads_out)
    if not file.is_file():
        return Inventory(path=path, exists=False)
    size = file.stat().st_size
    table, damage = None, None
    try:
        if size and is_table(file):
            table = read_table(file)
    except (TableDamaged, OSError) as error:
        damage = str(error)
    foreign = next((found for value in _texts(file) if (found := foreign_path(value, prefixes))), None)
    return Inventory(path=path, exists=True, bytes=size, foreign=foreign, table=table, damage=damage)


def link_out(folder: Path, path: str) -> str | None:
    """Return where a link at or on the way to `path` leads, when that is outside `folder`; else None."""
    try:
        inside, target = folder.resolve(), (folder / path).resolve()
    except (OSError, RuntimeError):  # RuntimeError: before Python 3.13, a link that leads to itself
        return path
    return None if inside in target.parents else str(target)


def _texts(file: Path) -> Iterator[str]:
    suffix = file.suffix.lower()
    if suffix in TEXT:
        yield from values_in(file.read_text(encoding="utf-8", errors="replace"), suffix)
    elif suffix == ".safetensors":
        with suppress(HeaderDamaged), file.open("rb") as opened:  # damage is the loader's to tell
            yield from strings_in(dict(read_header(opened).metadata))

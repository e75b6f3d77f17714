"""What lies below a folder, in one order, and what of it cannot be packed."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from enum import Enum
from pathlib import Path

from lastro.errors import StorageError, UsageError
from lastro.locale import _
from lastro.records import dataclass
from lastro.storage.pack.names import shown


class Kind(str, Enum):
    """What an archive holds of a tree. The value stands in records."""

    FILE = "file"
    LINK = "link"
    FOLDER = "folder"


@dataclass(frozen=True, kw_only=True)
class Entry:
    """One thing below a folder.

    `name`: relative, parts divided by a slash. `mode`: 0o755 for what its owner may execute, else 0o644.
    `changed_ns`: when its content was changed last. `target`: where a link points to.
    """

    kind: Kind
    name: bytes
    size: int = 0
    mode: int = 0o644
    changed_ns: int = 0
    target: bytes = b""


@dataclass(frozen=True, kw_only=True)
class LeftOut:
    """Something that is not packed, and why."""

    name: bytes
    why: str

    def as_json(self) -> dict[str, str]:
        return {"path": shown(self.name), "why": self.why}


@dataclass(frozen=True, kw_only=True)
class Tree:
    """All entries below a folder, sorted by their names' bytes. Folders stand there only when empty.

    `holes`: bytes of sparse files that take no room where they lie, and do so when they are packed.
    """

    entries: tuple[Entry, ...]
    left_out: tuple[LeftOut, ...]
    holes: int


def read_tree(source: Path) -> Tree:
    """Return what lies below a folder; links are not followed.

    Raises:
        UsageError: it is no folder.
        StorageError: it is not there, or a folder in it cannot be listed.
    """
    root = os.fsencode(source)
    if not source.exists():
        raise StorageError(
            _("{path} is not there").format(path=source),
            hint=_("check the path, and that the disk is attached"),
        )
    if not source.is_dir():
        raise UsageError(
            _("{path} is a file, and only a folder can be packed").format(path=source),
            hint=_("name the folder that holds it"),
        )
    found: list[Entry | LeftOut] = []
    holes = 0
    real = os.path.realpath(root)
    for name, entry in _walk(root):
        if entry is None:
            found.append(Entry(kind=Kind.FOLDER, name=name, mode=0o755))
            continue
        facts = entry.stat(follow_symlinks=False)
        if stat.S_ISREG(facts.st_mode):
            mode = 0o755 if facts.st_mode & 0o100 else 0o644
            holes += max(0, facts.st_size - 512 * facts.st_blocks)
            found.append(
                Entry(  # all of it is given, which makes it in half the time
                    kind=Kind.FILE,
                    name=name,
                    size=facts.st_size,
                    mode=mode,
                    changed_ns=facts.st_mtime_ns,
                    target=b"",
                )
            )
        else:
            found.append(_special(real, root, name, facts.st_mode))
    entries = sorted((one for one in found if isinstance(one, Entry)), key=lambda one: one.name)
    left_out = sorted((one for one in found if isinstance(one, LeftOut)), key=lambda one: one.name)
    return Tree(entries=tuple(entries), left_out=tuple(left_out), holes=holes)


def _walk(root: bytes) -> Iterator[tuple[bytes, os.DirEntry[bytes] | None]]:
    """Yield everything below that is no folder, and empty folders, with None."""
    waiting = [b""]
    while waiting:
        prefix = waiting.pop()
        try:
            with os.scandir(os.path.join(root, prefix)) as listed:
                inside = list(listed)
        except OSError as error:
            folder = shown(os.path.join(root, prefix))
            raise StorageError(
                _("{folder} cannot be listed: {error}").format(folder=folder, error=error.strerror),
                hint=_("check its permissions and the disk"),
            ) from error
        if not inside and prefix:
            yield prefix[:-1], None
        for entry in inside:
            if entry.is_dir(follow_symlinks=False):
                waiting.append(prefix + entry.name + b"/")
            else:
                yield prefix + entry.name, entry


def _special(real: bytes, root: bytes, name: bytes, mode: int) -> Entry | LeftOut:
    if not stat.S_ISLNK(mode):
        kinds = {stat.S_IFSOCK: _("a socket"), stat.S_IFIFO: _("a pipe")}
        what = kinds.get(stat.S_IFMT(mode), _("a device"))
        return LeftOut(name=name, why=_("it is {what}, which has no content").format(what=what))
    path = os.path.join(root, name)
    target = os.readlink(path)
    if not stays_inside(name, target) or not is_below(os.path.realpath(path), real):
        return LeftOut(
            name=name, why=_("it is a link that leaves the folder, to {to}").format(to=shown(target))
        )
    return Entry(kind=Kind.LINK, name=name, mode=0o777, target=target)


def stays_inside(name: bytes, target: bytes) -> bool:
    """Say whether a link's target, read from where the link is, lies in the same tree, by its text alone."""
    joined = os.path.normpath(os.path.join(os.path.dirname(name), target))
    return not (target.startswith(b"/") or joined == b".." or joined.startswith(b"../"))


def is_below(path: bytes, folder: bytes) -> bool:
    """Say whether a real path is a real folder, or lies in it."""
    return path == folder or path.startswith(folder.rstrip(b"/") + b"/")

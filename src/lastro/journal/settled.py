"""Files that have got their last bytes: told once, with their digests, by whoever wrote them last.

That is what an audit of a campaign that was cut off goes by. Each file is read once, when it is done: looks
at a campaign that goes on read nothing again.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from lastro.errors import LastroError
from lastro.journal.events import EventType
from lastro.journal.streams import Event
from lastro.records import dataclass
from lastro.storage.digest import sha256_file


@dataclass(frozen=True, kw_only=True)
class Settled:
    """One file: POSIX path below the campaign's folder, size in bytes, SHA-256 in hex."""

    path: str
    bytes: int
    sha256: str


def settled_facts(root: Path, paths: Iterable[Path]) -> list[dict[str, Any]]:
    """Read files below `root` and return the fact `files` of a `files.settled`.

    One that cannot be read is left out: nothing is said of it.
    """
    found = []
    for path in paths:
        with contextlib.suppress(OSError, LastroError):
            size = path.stat().st_size
            name = path.relative_to(root).as_posix()
            found.append(asdict(Settled(path=name, bytes=size, sha256=sha256_file(path))))
    return found


def settled_files(streams: Mapping[str, Sequence[Event]]) -> Mapping[str, tuple[Settled, ...]]:
    """Return what streams say of each path: the last word of each stream that names it. Pure."""
    found: dict[str, tuple[Settled, ...]] = {}
    for events in streams.values():
        last = {
            str(one["path"]): Settled(
                path=str(one["path"]), bytes=int(one["bytes"]), sha256=str(one["sha256"])
            )
            for event in events
            if event.type is EventType.FILES_SETTLED
            for one in event.facts["files"]
        }
        for path, one in last.items():
            found[path] = (*found.get(path, ()), one)
    return found

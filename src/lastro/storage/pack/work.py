"""What the processes that pack are asked, and how they answer: a line of JSON each way.

A process of its own for each, whose standard input ends with the one that asked: when that is killed, they
end by themselves after the shard in hand, which is whole or not there.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from lastro import atomic
from lastro.records import dataclass
from lastro.storage.pack.layout import WORK, shard_name
from lastro.storage.pack.shard import Written, write_shard
from lastro.storage.pack.tree import Entry, Kind


@dataclass(frozen=True, kw_only=True)
class Shard:
    """A shard to be written: its number, and the entries that it holds."""

    number: int
    entries: tuple[Entry, ...]

    @property
    def bytes(self) -> int:
        """The content of its files."""
        return sum(entry.size for entry in self.entries)

    def listing(self, checksum: str) -> str:
        """Return the SHA-256 of all that its bytes depend on; times included, so a changed file is seen."""
        digest = hashlib.sha256(checksum.encode())
        for one in self.entries:
            digest.update(b"%s\0%s\0%d %d %d " % (one.name, one.target, one.size, one.mode, one.changed_ns))
            digest.update(one.kind.value.encode())
        return digest.hexdigest()


def ask(source: Path, target: Path, shard: Shard, checksum: str) -> str:
    """Return the line that asks for a shard. Names may hold any bytes, so they travel as escapes."""
    entries = [
        (one.kind.value, os.fsdecode(one.name), one.size, one.mode, one.changed_ns, os.fsdecode(one.target))
        for one in shard.entries
    ]
    asked = {
        "source": str(source),
        "target": str(target),
        "number": shard.number,
        "checksum": checksum,
        "entries": entries,
    }
    return json.dumps(asked) + "\n"


def answer(asked: dict[str, Any], told: Callable[[int], None]) -> None:
    """Write the shard that was asked for, and the record that says so. Raises StorageError."""
    shard = Shard(number=asked["number"], entries=tuple(_entry(*one) for one in asked["entries"]))
    target = Path(asked["target"])
    written = write_shard(
        Path(asked["source"]), shard.entries, target / shard_name(shard.number), asked["checksum"], told
    )
    facts = {"listing": shard.listing(asked["checksum"]), "bytes": written.bytes, "sha256": written.sha256}
    record = json.dumps({**facts, "items": written.items})
    atomic.write_bytes(_record(target, shard.number), record.encode())


def _entry(kind: str, name: str, size: int, mode: int, changed_ns: int, target: str) -> Entry:
    return Entry(
        kind=Kind(kind),
        name=os.fsencode(name),
        size=size,
        mode=mode,
        changed_ns=changed_ns,
        target=os.fsencode(target),
    )


def _record(target: Path, number: int) -> Path:
    return target / WORK / f"{number:06d}.json"


def written(target: Path, shard: Shard, checksum: str) -> Written | None:
    """Return a shard that was written before from these very entries; None when it has to be made (again)."""
    try:
        value = json.loads(_record(target, shard.number).read_bytes())
        size = (target / shard_name(shard.number)).stat().st_size
        if value["listing"] != shard.listing(checksum) or value["bytes"] != size:
            return None
        items = tuple((int(offset), int(size), int(value)) for offset, size, value in value["items"])
        return Written(bytes=size, sha256=str(value["sha256"]), items=items)
    except (OSError, ValueError, KeyError, TypeError):
        return None

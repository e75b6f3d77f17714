"""`disk.json`: the disk's uuid and every machine that has seen it, which is the proof of persistence."""

from __future__ import annotations

import uuid
from dataclasses import dataclass

from lastro import atomic, strictjson
from lastro.errors import StorageError
from lastro.locale import _
from lastro.paths import Disk


@dataclass(frozen=True)
class DiskFacts:
    """What a disk says of itself. `nodes`: the machines that have seen it, oldest first."""

    uuid: str
    nodes: tuple[str, ...]


def open_disk(disk: Disk) -> DiskFacts:
    """Return the facts of a disk; an unmarked folder becomes one, durably and once.

    Raises:
        StorageError: the folder cannot be made or written, or its marker cannot be read.
    """
    try:
        atomic.make_folder(disk.facts.parent)
        if not disk.facts.exists():
            atomic.claim(disk.facts, strictjson.pretty({"uuid": str(uuid.uuid4()), "nodes": []}).encode())
    except OSError as error:
        raise StorageError(
            _("the disk {path} cannot be used: {error}").format(path=disk.root, error=error.strerror),
            hint=_("create or mount it, or name another with --disk"),
        ) from error
    return read_disk(disk)


def read_disk(disk: Disk) -> DiskFacts:
    """Return the facts of a marked disk. Raises FileNotFoundError, StorageError."""
    value = strictjson.read(disk.facts)
    try:
        return DiskFacts(uuid=str(value["uuid"]), nodes=tuple(value["nodes"]))
    except (KeyError, TypeError) as error:
        raise StorageError(
            _("{path} does not say which disk this is").format(path=disk.facts),
            hint=_("it was changed by something else; restore it from a copy"),
        ) from error


def seen_by(disk: Disk, node: str) -> DiskFacts:
    """Record that a machine has seen the disk."""
    facts = read_disk(disk)
    if node in facts.nodes:
        return facts
    seen = DiskFacts(uuid=facts.uuid, nodes=(*facts.nodes, node))
    atomic.write_text(disk.facts, strictjson.pretty({"uuid": seen.uuid, "nodes": list(seen.nodes)}))
    return seen


def other_disk(disk: Disk, uuid: str) -> str | None:
    """Return why a disk is not the one of that uuid: gone, unmarked or another one; None when it is."""
    try:
        found = read_disk(disk).uuid
    except FileNotFoundError:
        return _("{path} has no mark of a disk: it is not attached, or was emptied").format(path=disk.root)
    except (OSError, StorageError, KeyError, TypeError) as error:
        return _("the mark of the disk {path} cannot be read: {error}").format(path=disk.root, error=error)
    if found != uuid:
        return _("{path} is another disk ({found}) than the one of this campaign ({wanted})").format(
            path=disk.root, found=found[:8], wanted=uuid[:8]
        )
    return None

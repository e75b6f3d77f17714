"""What is kept of one machine: the request, and its one end."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from lastro import atomic, strictjson
from lastro.clock import Stamp
from lastro.errors import UsageError
from lastro.locale import _
from lastro.paths import MachineFolder
from lastro.providers.base import MachineRequest
from lastro.providers.machine_ids import unknown
from lastro.records import dataclass


@dataclass(frozen=True, kw_only=True)
class Record:
    """`machine.json`: a machine that was asked for. It is claimed before anything is started.

    `finding`: the code of what a script wants preflight to find on it.
    """

    id: str
    node: str
    born: Stamp
    request: MachineRequest
    level: str | None = None
    level_why: str | None = None
    finding: str | None = None


@dataclass(frozen=True, kw_only=True)
class End:
    """`end.json`: nothing of the machine lives, its scratch is gone.

    `used_seconds`: from its beginning, where that is not its creation; None: nobody has measured it.
    """

    at: Stamp
    cause: str
    used_seconds: float | None = None


def make_record(folder: MachineFolder, record: Record) -> Record:
    """Keep the record of a machine, or return the one that the same tag has made before."""
    atomic.make_folder(folder.root)
    value = {
        "id": record.id,
        "node": record.node,
        "born": record.born.as_json(),
        "request": record.request.as_json(),
        "level": record.level,
        "level_why": record.level_why,
        **({"finding": record.finding} if record.finding is not None else {}),
    }
    atomic.claim(folder.record, strictjson.pretty(value).encode())
    kept = read_record(folder)
    if kept.request.tag != record.request.tag:
        raise UsageError(
            _("machine {id} belongs to the tag {tag}").format(id=record.id, tag=kept.request.tag),
            hint=_("use another tag"),
        )
    return kept


def read_record(folder: MachineFolder) -> Record:
    """Return the record of a machine.

    Raises:
        ProviderError: there is no such machine.
    """
    value = read_or_none(folder.record)
    if value is None:
        raise unknown(folder.root.name)
    return Record(
        id=value["id"],
        node=value["node"],
        born=Stamp.from_json(value.get("born") or {"at": value["created_at"]}),
        request=MachineRequest.from_json(value["request"]),
        level=value.get("level"),
        level_why=value.get("level_why"),
        finding=value.get("finding"),
    )


def write_end(folder: MachineFolder, end: End) -> None:
    """Publish the end of a machine; the first one that is published stays."""
    value = {**end.at.as_json(), "cause": end.cause, "used_seconds": end.used_seconds}
    atomic.claim(folder.end, strictjson.pretty(value).encode())


def read_end(folder: MachineFolder) -> End | None:
    """Return the end of a machine; None while it has not ended."""
    value = read_or_none(folder.end)
    if not value:
        return None
    return End(at=Stamp.from_json(value), cause=value["cause"], used_seconds=value.get("used_seconds"))


def read_or_none(path: Path) -> Any | None:
    """Return a record; None when it is not there."""
    try:
        return strictjson.read(path)
    except FileNotFoundError:
        return None

"""`lastro.lock`: the exact machine that a campaign was proven on, written by the first machine that passed.

It lies beside the campaign file and belongs into its repository; a copy lies on the disk. It has an answer
for machines without a GPU and one for machines with GPUs, each from the first such machine. From then on
every machine is compared with it. Its digest covers everything else in it, so an edit or a cut is seen.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import field, replace
from enum import Enum
from pathlib import Path
from typing import Any

from lastro import atomic, strictjson
from lastro.errors import StorageError
from lastro.locale import _
from lastro.paths import CampaignFolder
from lastro.records import dataclass

VERSION = 1
CPU, GPU = "cpu", "gpu"

Value = str | int | float | bool | None


@dataclass(frozen=True, kw_only=True)
class Answer:
    """One machine, exactly. `facts`: by name. `measured`: what it was measured to do, by name."""

    at: str
    node_id: str
    facts: Mapping[str, Value]
    measured: Mapping[str, Mapping[str, Value]] = field(default_factory=dict)

    def as_json(self) -> dict[str, Any]:
        return {
            "at": self.at,
            "node_id": self.node_id,
            "facts": dict(self.facts),
            "measured": {name: dict(one) for name, one in self.measured.items()},
        }

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> Answer:
        """Read what `as_json` wrote. Raises KeyError, TypeError or AttributeError for anything else."""
        return cls(
            at=str(value["at"]),
            node_id=str(value["node_id"]),
            facts=dict(value["facts"].items()),
            measured={name: dict(one.items()) for name, one in value["measured"].items()},
        )


@dataclass(frozen=True, kw_only=True)
class Relock:
    """That a lock has replaced another one, on purpose. `replaces`: the digest of that one, if it had one."""

    why: str
    at: str
    replaces: str | None

    def as_json(self) -> dict[str, Any]:
        return {"why": self.why, "at": self.at, "replaces": self.replaces}


@dataclass(frozen=True, kw_only=True)
class Lock:
    """A campaign's lock. `relock`: None for the first one."""

    campaign: str
    answers: Mapping[str, Answer]
    relock: Relock | None = None

    @property
    def digest(self) -> str:
        """SHA-256 of what it says, in hex."""
        return _digest(self._content())

    def _content(self) -> dict[str, Any]:
        return {
            "lock": VERSION,
            "campaign": self.campaign,
            "relock": self.relock.as_json() if self.relock else None,
            "answers": {kind: answer.as_json() for kind, answer in sorted(self.answers.items())},
        }

    def as_json(self) -> dict[str, Any]:
        return {**self._content(), "digest": self.digest}


class State(str, Enum):
    """What was found where a lock may lie."""

    ABSENT = "absent"
    CUT = "cut"  # it is no lock: cut, or something else
    EDITED = "edited"  # it says something else than what its digest was made of
    FOREIGN = "foreign"  # of another campaign
    READ = "read"


@dataclass(frozen=True, kw_only=True)
class Reading:
    """What was read. `lock` is there when it could be understood, also of one that is edited or foreign."""

    path: Path
    state: State
    lock: Lock | None = None
    why: str | None = None
    digest: str | None = None


def path_beside(folder: Path) -> Path:
    """Return where the lock of a campaign in this folder lies."""
    return folder / "lastro.lock"


def read_lock(folder: Path, campaign: str) -> Reading:
    """Read the lock beside a campaign file; whatever is wrong with it is an answer, not an error."""
    path = path_beside(folder)
    try:
        value = strictjson.read(path)
        content = {name: item for name, item in value.items() if name != "digest"}
        told = value.get("digest")
        if content.get("lock") != VERSION:
            why = _("it is of version {version}, and this lastro reads {known}").format(
                version=content.get("lock"), known=VERSION
            )
            return Reading(path=path, state=State.CUT, why=why)
        lock = _lock(content)
    except FileNotFoundError:
        return Reading(path=path, state=State.ABSENT)
    except StorageError as error:
        return Reading(path=path, state=State.CUT, why=error.message)
    except OSError as error:
        return Reading(path=path, state=State.CUT, why=str(error.strerror))
    except (KeyError, TypeError, AttributeError) as error:
        why = _("what a lock has to hold is missing or of another kind: {what}").format(what=error)
        return Reading(path=path, state=State.CUT, why=why)
    state = State.READ
    if lock.campaign != campaign:
        state = State.FOREIGN
    elif told != _digest(content):
        state = State.EDITED
    return Reading(path=path, state=state, lock=lock, digest=told if isinstance(told, str) else None)


def _lock(value: Mapping[str, Any]) -> Lock:
    relock = value["relock"]
    return Lock(
        campaign=str(value["campaign"]),
        relock=Relock(why=str(relock["why"]), at=str(relock["at"]), replaces=relock["replaces"])
        if relock is not None
        else None,
        answers={str(kind): Answer.from_json(one) for kind, one in value["answers"].items()},
    )


def _digest(content: Mapping[str, Any]) -> str:
    return hashlib.sha256(strictjson.dumps(dict(content)).encode()).hexdigest()


def filled(reading: Reading, campaign: str, kind: str, answer: Answer, relock: Relock | None) -> Lock | None:
    """Return the lock that a machine which has passed leaves behind; None when nothing of it is new. Pure.

    What is locked stays: a second machine only adds an answer of its kind, or a figure that nobody measured.

    Args:
        reading: what lies there now.
        campaign: its name.
        kind: of the machine, `cpu` or `gpu`.
        answer: that machine.
        relock: why the old lock is to be forgotten; None: it holds.
    """
    if relock is not None:
        return Lock(campaign=campaign, answers={kind: answer}, relock=relock)
    if reading.state is State.ABSENT:
        return Lock(campaign=campaign, answers={kind: answer})
    old = reading.lock
    if reading.state is not State.READ or old is None:
        return None
    known = old.answers.get(kind)
    if known is None:
        return replace(old, answers={**old.answers, kind: answer})
    new = {name: value for name, value in answer.measured.items() if name not in known.measured}
    if not new:
        return None
    known = replace(known, measured={**known.measured, **new})
    return replace(old, answers={**old.answers, kind: known})


def write_lock(folder: Path, lock: Lock) -> Path:
    """Put a lock beside its campaign file, whole or not at all."""
    path = path_beside(folder)
    atomic.write_text(path, strictjson.pretty(lock.as_json()))
    return path


def copy_to_disk(folder: Path, on_disk: CampaignFolder) -> None:
    """Put a copy of the lock beside the frozen plan, where there is one already and the copy is another."""
    source, target = path_beside(folder), on_disk.lock
    if not on_disk.root.is_dir() or not source.is_file():
        return
    data = source.read_bytes()
    if not target.exists() or target.read_bytes() != data:
        atomic.write_bytes(target, data)

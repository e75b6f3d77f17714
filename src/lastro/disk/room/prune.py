"""What can go from a disk: each thing is kept, removed or archived with a reason, and first only told."""

from __future__ import annotations

import hashlib
import os
import tarfile
from collections.abc import Sequence
from enum import Enum
from pathlib import Path
from typing import Any

from lastro import atomic
from lastro.clock import Clock
from lastro.disk.guard.scan import Candidate, scan
from lastro.errors import StorageError
from lastro.locale import _
from lastro.paths import CampaignFolder, Disk, Home
from lastro.records import dataclass
from lastro.storage.digest import sha256_file

_DAY = 86400.0
#: What a write left behind that was killed may still be written for so long.
LEFTOVER_DAYS = 1.0
#: Compiled kernels that no machine has brought for so long are of a card that is not rented any more.
KERNEL_DAYS = 90.0
#: For so long somebody may still want to know what a machine has logged.
MACHINE_DAYS = 30.0


class Action(str, Enum):
    """What becomes of a thing."""

    KEEP = "keep"
    REMOVE = "remove"
    ARCHIVE = "archive"  # one compressed file in its place, read back before it goes


class Sort(str, Enum):
    """What a thing is, by where it lies."""

    LEFTOVER = "leftover"
    PARTIAL = "partial download"
    KERNELS = "compiled kernels"
    CLOSED = "closed campaign"
    OPEN = "open campaign"
    MACHINE = "machine"
    RESCUED = "rescued"
    CORPUS = "corpus"
    CACHE = "cache"
    OTHER = "other"


@dataclass(frozen=True, kw_only=True)
class Thing:
    """A file or folder that stays or goes as one.

    `days`: since it was changed last. `used_by`: campaigns that name it. `ended`: of a machine, that its end
    is known; `rescued`: that something was copied off it.
    """

    path: str
    sort: Sort
    bytes: int
    days: float
    used_by: tuple[str, ...] = ()
    ended: bool = False
    rescued: bool = False


@dataclass(frozen=True, kw_only=True)
class Choice:
    """What becomes of a thing, and why."""

    thing: Thing
    action: Action
    why: str

    def as_json(self) -> dict[str, Any]:
        return {
            "path": self.thing.path,
            "sort": self.thing.sort.value,
            "bytes": self.thing.bytes,
            "days": round(self.thing.days, 2),
            "action": self.action.value,
            "why": self.why,
        }


def choose(thing: Thing, *, archive_closed: bool = False) -> Choice:
    """Return what becomes of a thing. Pure.

    What nobody else has is never removed: a person may do so with other means.
    """
    action, why = _choice(thing, archive_closed)
    return Choice(thing=thing, action=action, why=why)


def _choice(thing: Thing, archive_closed: bool) -> tuple[Action, str]:
    if thing.sort in (Sort.LEFTOVER, Sort.PARTIAL):
        what = _("left by a write that a kill has ended")
        if thing.sort is Sort.PARTIAL:
            what = _("a part of a download that did not end")
        if thing.days < LEFTOVER_DAYS:
            return Action.KEEP, _("{what}, or is being written: younger than a day").format(what=what)
        return Action.REMOVE, what
    if thing.sort is Sort.KERNELS:
        if thing.days < KERNEL_DAYS:
            return Action.KEEP, _("kernels that machines of this kind bring with them")
        return Action.REMOVE, _("not written for {days} days, and can be compiled again").format(
            days=int(thing.days)
        )
    if thing.sort is Sort.MACHINE:
        return _of_machine(thing)
    if thing.sort is Sort.CLOSED and archive_closed:
        return Action.ARCHIVE, _("closed: one compressed file keeps it, as it was sealed")
    if thing.sort is Sort.CORPUS and thing.used_by:
        return Action.KEEP, _("the corpus of {names}").format(names=", ".join(thing.used_by))
    return Action.KEEP, _reasons()[thing.sort]


def _of_machine(thing: Thing) -> tuple[Action, str]:
    if not thing.ended:
        return Action.KEEP, _("a machine whose end nobody has seen: its job may still wait or run")
    if thing.rescued:
        return Action.KEEP, _("its log says how what was rescued from it came about")
    if thing.days < MACHINE_DAYS:
        return Action.KEEP, _("the log of a machine that ended less than {days:.0f} days ago").format(
            days=MACHINE_DAYS
        )
    return Action.REMOVE, _("the log of a machine that ended {days} days ago, with nothing rescued").format(
        days=int(thing.days)
    )


def _reasons() -> dict[Sort, str]:
    return {
        Sort.CLOSED: _("closed, and sealed as it is; --archive-closed makes one file of it"),
        Sort.OPEN: _("a campaign that is not closed"),
        Sort.RESCUED: _("rescued from a machine that is gone: the only copy"),
        Sort.CORPUS: _("no campaign here names it; it may be the only copy"),
        Sort.CACHE: _("a cache: its program knows what of it is old"),
        Sort.OTHER: _("not written by lastro"),
    }


# --- looking --------------------------------------------------------------------------------------------


def things_on(disk: Disk, clock: Clock, home: Home) -> list[Thing]:
    """Return what lies on a disk, as it stays or goes. Reads, never writes.

    `home`: has seen ends of machines that could not write them down themselves.
    """
    root = os.path.realpath(disk.root)
    now = clock.now().timestamp()
    whole: dict[tuple[str, Sort], list[Candidate]] = {}
    for file in scan(root, 0).candidates:
        relative = file.path[len(root) :].lstrip("/")
        if relative.startswith(".lastro/") and not relative.startswith(".lastro/machines/"):
            continue  # what makes it a disk
        path, sort = _unit(relative, disk)
        whole.setdefault((path, sort), []).append(file)
    corpora = _corpora(disk)
    return [
        Thing(
            path=path,
            sort=sort,
            bytes=sum(file.blocks * 512 for file in files),
            days=max(0.0, (now - max(file.mtime_ns for file in files) / 1e9) / _DAY),
            used_by=corpora.get(path, ()),
            ended=sort is Sort.MACHINE and _has_ended(Path(path).name, disk, home),
            rescued=sort is Sort.MACHINE and disk.rescued(Path(path).name).exists(),
        )
        for (path, sort), files in sorted(whole.items())
    ]


def _unit(relative: str, disk: Disk) -> tuple[str, Sort]:
    """Return what a file stays or goes with."""
    parts = relative.split("/")
    for count, part in enumerate(parts, 1):
        if part.startswith(atomic.TEMPORARY):
            return "/".join(parts[:count]), Sort.LEFTOVER
    if parts[-1].endswith(".incomplete"):
        return relative, Sort.PARTIAL
    if parts[0] == ".lastro":
        return "/".join(parts[:3]), Sort.MACHINE
    top = "/".join(parts[:2])
    if parts[:2] == ["cache", "compiled"]:
        return relative, Sort.KERNELS
    if parts[0] == "campaigns" and len(parts) > 2:
        closed = CampaignFolder(disk.root / top).close_manifest.exists()
        return top, Sort.CLOSED if closed else Sort.OPEN
    sorts = {"cache": Sort.CACHE, "rescued": Sort.RESCUED, "data": Sort.CORPUS}
    if parts[0] in sorts and len(parts) > 1:
        return top, sorts[parts[0]]
    return parts[0], Sort.OTHER


def _has_ended(machine: str, disk: Disk, home: Home) -> bool:
    return disk.allotted(machine).end.exists() or home.slurm_machine(machine).end.exists()


def _corpora(disk: Disk) -> dict[str, tuple[str, ...]]:
    """Return which campaigns use which folder below `data`, by what their plans say."""
    found: dict[str, tuple[str, ...]] = {}
    for path in sorted(disk.root.glob("campaigns/*/plan.json")):
        text = path.read_text(errors="replace")
        for folder in (disk.root / "data").glob("*"):
            if folder.name in text:
                name = f"data/{folder.name}"
                found[name] = (*found.get(name, ()), path.parent.name)
    return found


# --- doing ----------------------------------------------------------------------------------------------


def carry_out(choices: Sequence[Choice], disk: Disk) -> list[str]:
    """Remove and archive what was chosen; return the problems. What could not be archived stays."""
    problems = []
    for choice in choices:
        path = disk.root / choice.thing.path
        try:
            if choice.action is Action.REMOVE:
                _remove(path)
            elif choice.action is Action.ARCHIVE:
                archive(path, disk.archive(path.name))
                _remove(path)
        except (OSError, StorageError, tarfile.TarError) as error:
            problems.append(f"{choice.thing.path}: {error}")
    return problems


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        atomic.remove_tree(path)
    else:
        path.unlink(missing_ok=True)


def archive(folder: Path, target: Path) -> None:
    """Write a folder as one compressed tar, and read every file of it back before it is published.

    Raises:
        StorageError: it is there already, or other bytes came back.
    """
    if target.exists():
        raise StorageError(
            _("{path} is there already").format(path=target), hint=_("move it away, then prune again")
        )
    atomic.make_folder(target.parent)
    files = sorted(path for path in folder.rglob("*") if path.is_symlink() or not path.is_dir())
    with atomic.publish_file(target) as aside:
        with tarfile.open(aside, "w:gz", format=tarfile.PAX_FORMAT) as tar:
            for path in files:
                tar.add(path, arcname=str(path.relative_to(folder.parent)), recursive=False)
        _read_back(aside, folder.parent, files)


def _read_back(aside: Path, root: Path, files: Sequence[Path]) -> None:
    wanted = {str(path.relative_to(root)): sha256_file(path) for path in files if not path.is_symlink()}
    with tarfile.open(aside) as tar:
        for member in tar:
            if member.isreg():
                source = tar.extractfile(member)
                assert source is not None
                digest = hashlib.sha256()
                while piece := source.read(1 << 20):
                    digest.update(piece)
                if wanted.pop(member.name, None) != digest.hexdigest():
                    raise StorageError(_("{name} came back otherwise").format(name=member.name))
            elif member.islnk():
                wanted.pop(member.name, None)  # the same inode as a member that was read
    if wanted:
        raise StorageError(_("{count} files are not in the archive").format(count=len(wanted)))

"""Files go to another machine, or come from one, by rsync over ssh; then every byte is compared."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

from lastro.errors import StorageError
from lastro.locale import _
from lastro.records import dataclass
from lastro.storage.transfer.place import Remote

_MOVED = re.compile(r"^Total bytes sent: ([\d,.]+)$|^Total bytes received: ([\d,.]+)$", re.M)
_PLANNED = re.compile(r"^Total transferred file size: ([\d,.]+)", re.M)
_FILES = re.compile(r"^Number of regular files transferred: ([\d,.]+)$", re.M)


#: What rsync ends with when something that was named is not there.
_PARTIAL = 23


class _NotThere(StorageError):
    """What was named does not lie there."""


@dataclass(frozen=True, kw_only=True)
class Rsynced:
    """What moved: bytes over the wire, files, and whether some had to be sent whole after the comparison."""

    moved_bytes: int
    files: int
    repaired: tuple[str, ...]


def rsync(
    local: Path, remote: Remote, *, away: bool, ssh: Sequence[str] = ("ssh",), leave_out: str | None = None
) -> Rsynced:
    """Copy a file, or what a folder holds, and compare it; what was half there goes on where it was.

    Args:
        local: the path here.
        remote: the path there; what comes from a path that ends with a slash is a folder.
        away: from here to there; else from there to here.
        ssh: the program that connects, with its options.
        leave_out: a path below the folder that is not copied.

    Raises:
        StorageError: there is no rsync, the machine cannot be reached, or both ends differ at the end.
    """
    ends = _ends(local, remote, away)
    shell = _shell(remote, ssh, leave_out)
    # Files that are shorter there are gone on with; those of the same length are taken to be equal by it, so
    # the comparison that follows is what counts.
    first = _run(["--archive", "--partial", "--append-verify", "--stats", *shell, *ends])
    wrong = _differing(shell, ends)
    if wrong:
        _run(["--archive", "--checksum", *shell, *ends])
        if still := _differing(shell, ends):
            raise StorageError(
                _("{first} differs at both ends after it was copied twice").format(first=still[0]),
                hint=_("let what changes it finish; then look at the disks and memory of both machines"),
            )
    moved = sum(_number(a or b) for a, b in _MOVED.findall(first))
    files = _FILES.search(first)
    return Rsynced(moved_bytes=moved, files=_number(files[1]) if files else 0, repaired=tuple(wrong))


def is_there(remote: Remote, ssh: Sequence[str] = ("ssh",)) -> bool:
    """Tell whether a file or a folder is there. Raises StorageError when the machine cannot be asked."""
    user = f"{remote.user}@" if remote.user else ""
    listed = ["--list-only", *_shell(remote, ssh), f"{user}{remote.host}:{remote.path}"]
    try:
        _run(listed)
    except _NotThere:
        return False
    return True


def planned(
    local: Path, remote: Remote, *, away: bool, ssh: Sequence[str] = ("ssh",), leave_out: str | None = None
) -> int:
    """Return the size of the files that a copy would move, whole ones for those that are half there.

    Raises:
        StorageError: as `rsync`.
    """
    shell = _shell(remote, ssh, leave_out)
    said = _run(["--archive", "--dry-run", "--stats", *shell, *_ends(local, remote, away)])
    found = _PLANNED.search(said)
    return _number(found[1]) if found else 0


def _number(text: str) -> int:
    return int(re.sub(r"[,.]", "", text))


def _ends(local: Path, remote: Remote, away: bool) -> list[str]:
    user = f"{remote.user}@" if remote.user else ""
    there = f"{user}{remote.host}:{remote.path.rstrip('/') or '/'}"
    here = os.fspath(local.absolute())
    folder = local.is_dir() or (not away and remote.path.endswith("/"))
    ends = [f"{end}/" if folder else end for end in (here, there)]
    return ends if away else ends[::-1]


def _shell(remote: Remote, ssh: Sequence[str], leave_out: str | None = None) -> list[str]:
    port = ["-p", str(remote.port)] if remote.port else []
    left = [] if leave_out is None else [f"--exclude=/{leave_out}"]
    return ["--rsh", " ".join([*ssh, "-o", "BatchMode=yes", *port]), "--mkpath", "--protect-args", *left]


def _differing(shell: Sequence[str], ends: Sequence[str]) -> list[str]:
    """Return the names whose content differs: both ends read all of it."""
    listed = _run(["--archive", "--checksum", "--dry-run", "--out-format=%i %n", *shell, *ends])
    return [line.split(" ", 1)[1] for line in listed.splitlines() if re.match(r"[<>c]f", line)]


def _run(arguments: Sequence[str]) -> str:
    if shutil.which("rsync") is None:
        raise StorageError(
            _("rsync is not installed here"), hint=_("install it on both machines: apt install rsync")
        )
    environment = {**os.environ, "LC_ALL": "C"}
    done = subprocess.run(
        ["rsync", *arguments], capture_output=True, text=True, errors="replace", env=environment, check=False
    )
    if done.returncode == _PARTIAL and "No such file or directory" in done.stderr:
        raise _NotThere(_("there is no such file: {error}").format(error=done.stderr.splitlines()[0]))
    if done.returncode:
        last = [line for line in done.stderr.splitlines() if line.strip()]
        raise StorageError(
            _("rsync ended with {code}: {error}").format(
                code=done.returncode, error=last[0] if last else _("it said nothing")
            ),
            hint=_("try `ssh` to that machine by hand; then type the same again: what has arrived stays"),
        )
    return done.stdout

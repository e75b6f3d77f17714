"""The scratch of a local machine: made at its boot, wiped at its end, and nothing else with it."""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import shutil
import stat
import tempfile
from pathlib import Path

from lastro.errors import StorageError
from lastro.locale import _
from lastro.paths import MachineFolder

#: Longest path of a Unix socket (sockaddr_un), and what programs add to the temporary folder for one:
#: multiprocessing's `/pymp-xxxxxxxx/listener-xxxxxxxx`, with a reserve.
_SOCKET_PATH = 107
_SOCKET_NAME = 40
_TRIES = 5
_OCTAL = re.compile(rb"\\([0-7]{3})")


def prepare(folder: MachineFolder) -> Path:
    """Make home, work and temporary folder, and return the name to use for the last.

    Where its path is too long for the sockets that data loaders put there, that is a short link to it.
    """
    for part in (folder.user_home, folder.tmp, folder.work):
        part.mkdir(parents=True, exist_ok=True)
    if len(os.fsencode(folder.tmp)) + _SOCKET_NAME <= _SOCKET_PATH:
        return folder.tmp
    link = _short(folder)
    with contextlib.suppress(FileExistsError):
        link.symlink_to(folder.tmp)
    # A name that somebody else took is not used: a long path that may fail is better than a foreign folder.
    return link if _is_ours(link, folder) else folder.tmp


def wipe(folder: MachineFolder) -> None:
    """Remove the scratch. Links are removed, never followed.

    Raises:
        StorageError: something is mounted inside, or it cannot be removed.
    """
    link = _short(folder)
    if _is_ours(link, folder):
        link.unlink(missing_ok=True)
    scratch = folder.scratch
    if scratch.is_symlink():
        scratch.unlink(missing_ok=True)
        return
    if mounted := _mounts_inside(scratch):
        raise StorageError(
            _("{scratch} cannot be wiped: {mount} is mounted inside").format(
                scratch=scratch, mount=mounted[0]
            ),
            hint=_("unmount it; what is mounted there may be valuable, so it was not touched"),
        )
    for _attempt in range(_TRIES):
        if not os.path.lexists(scratch):
            return
        # Another process may be wiping too, and a job may have left folders that refuse their owner.
        with contextlib.suppress(OSError):
            _allow(scratch)
            shutil.rmtree(scratch)
    if os.path.lexists(scratch):
        raise StorageError(
            _("{scratch} cannot be removed").format(scratch=scratch),
            hint=_("look at who owns what is left in it"),
        )


def _short(folder: MachineFolder) -> Path:
    digest = hashlib.sha256(os.fsencode(folder.root)).hexdigest()
    return Path(tempfile.gettempdir()) / f"lastro-{digest[:10]}"


def _is_ours(link: Path, folder: MachineFolder) -> bool:
    try:
        return link.lstat().st_uid == os.getuid() and link.readlink() == folder.tmp
    except OSError:
        return False


def _allow(folder: Path) -> None:
    for here, folders, _files in os.walk(folder):
        for path in (here, *(os.path.join(here, name) for name in folders)):  # noqa: PTH118 - a walk's strings
            mode = os.lstat(path).st_mode
            if stat.S_ISDIR(mode) and mode & stat.S_IRWXU != stat.S_IRWXU:
                os.chmod(path, stat.S_IRWXU)  # noqa: PTH101


def _mounts_inside(folder: Path) -> list[str]:
    try:
        lines = Path("/proc/self/mountinfo").read_bytes().splitlines()
    except OSError:
        return []
    points = [os.fsdecode(_OCTAL.sub(_character, line.split()[4])) for line in lines]
    return [point for point in points if Path(point).is_relative_to(folder.resolve())]


def _character(match: re.Match[bytes]) -> bytes:
    """Read a blank or backslash of a path as the kernel writes it in its tables."""
    return bytes([int(match[1], 8)])

"""What a file system really does, tried out: each answer with what it means for the plan.

Everything is tried in a folder of its own, which is removed again. A return value alone is not believed:
some network file systems say that a lock was given to everybody who asks.
"""

from __future__ import annotations

import contextlib
import ctypes
import errno
import fcntl
import os
import secrets
import stat
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import field
from pathlib import Path
from typing import Any

from lastro import atomic
from lastro.disk import reads
from lastro.locale import _
from lastro.records import dataclass
from lastro.units import show_bytes

_FSYNCS = 5
#: A commit of a checkpoint takes about four; an assumption that is the same in preflight.
SLOW_FSYNC_SECONDS = 0.2
#: Numbers of inodes beyond this are made up: 2^63 - 1 and 10^9 were seen on file systems over buckets.
_INODES_MADE_UP = 10**9
#: With fewer names left than a packed data set and its checkpoints need, small files are the first to fail.
_FEW_INODES = 100_000
_STEP = 2**30
_KEEP_SIZE = 1  # FALLOC_FL_KEEP_SIZE, linux/falloc.h
_LOCK_SECONDS = 20
_ASK = """
import errno, fcntl, sys
file = open(sys.argv[1], "r+b")
said = []
for lock in (fcntl.flock, fcntl.lockf):
    try:
        lock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        said.append("given")
    except OSError as error:
        said.append("refused" if error.errno in (errno.EAGAIN, errno.EACCES) else "failed")
print(*said)
"""


@dataclass(frozen=True, kw_only=True)
class Probe:
    """One thing that was tried. `ok` None: no answer. `means`: for the plan. `figures`: seconds and bytes."""

    name: str
    ok: bool | None
    value: str
    means: str
    figures: dict[str, Any] = field(default_factory=dict)

    def as_json(self) -> dict[str, Any]:
        return vars(self)


def probe_disk(root: Path, planned: int | None = None) -> tuple[Probe, ...]:
    """Try everything out below `root`. Writes some 64 MB and removes them again.

    Args:
        root: an existing folder.
        planned: bytes that the plan wants to put there; they are allocated for a moment. None: not tried.
    """
    place = root / f"{atomic.TEMPORARY}probe-{secrets.token_hex(6)}"
    try:
        place.mkdir()
    except OSError as error:
        return (_refused(_("write"), error),)
    try:
        return tuple(_all(place, planned))
    finally:
        with contextlib.suppress(OSError):
            atomic.remove_tree(place)


def _all(place: Path, planned: int | None) -> Iterator[Probe]:
    tries: tuple[tuple[str, Callable[[Path], Probe]], ...] = (
        (_("rename"), _rename),
        (_("fsync"), _fsync),
        (_("lock"), _lock),
        (_("symlink"), _symlink),
        (_("hard link"), _hard_link),
        (_("chmod"), _chmod),
        (_("names"), _names),
        (_("upper and lower case"), _case),
        (_("number of files"), _inodes),
        (_("reads of 4 KB"), lambda folder: _reads(folder, reads.SMALL)),
        (_("reads of 1 MB"), lambda folder: _reads(folder, reads.LARGE)),
    )
    for name, attempt in tries:
        try:
            yield attempt(place)
        except OSError as error:
            yield _refused(name, error)
    if planned is not None:
        yield _room(place, planned)


def _refused(name: str, error: OSError) -> Probe:
    return Probe(
        name=name,
        ok=False,
        value=str(error.strerror or error),
        means=_("what needs it cannot be kept here"),
    )


def _told(name: str, ok: bool, *, well: str, bad: str, value: str = "") -> Probe:
    said = value or (_("works") if ok else _("does not work"))
    return Probe(name=name, ok=ok, value=said, means=well if ok else bad)


# --- names and contents -------------------------------------------------------------------------------


def _rename(place: Path) -> Probe:
    old, new = place / "old", place / "new"
    old.write_bytes(b"old")
    new.write_bytes(b"new")
    new.replace(old)
    return _told(
        _("rename"),
        old.read_bytes() == b"new" and not new.exists(),
        well=_("a checkpoint is published whole or not at all"),
        bad=_("no checkpoint can be published safely here"),
    )


def _fsync(place: Path) -> Probe:
    seconds = []
    with (place / "synced").open("wb") as file:
        for _number in range(_FSYNCS):
            file.write(secrets.token_bytes(64 * 1024))
            file.flush()
            began = time.perf_counter()
            os.fsync(file.fileno())
            seconds.append(time.perf_counter() - began)
    median = statistics.median(seconds)
    return Probe(
        name=_("fsync"),
        ok=median <= SLOW_FSYNC_SECONDS,
        value=_("{ms:.3g} ms (median of {count})").format(ms=median * 1000, count=len(seconds)),
        means=_("a commit takes about four of them")
        if median <= SLOW_FSYNC_SECONDS
        else _("each commit waits for about four of them: save less often, or use a faster disk"),
        figures={"median_seconds": median, "samples": len(seconds)},
    )


def _lock(place: Path) -> Probe:
    """Hold a lock and let another process ask for it: only its answer counts."""
    path = place / "lock"
    with path.open("w+b") as mine:
        fcntl.flock(mine, fcntl.LOCK_EX)
        flock = _ask(path)[0]
    with path.open("r+b") as mine:
        fcntl.lockf(mine, fcntl.LOCK_EX)
        record = _ask(path)[1]
    wrong = [name for name, said in (("flock", flock), ("fcntl", record)) if said != "refused"]
    ok = None if "no answer" in (flock, record) else not wrong
    return Probe(
        name=_("lock"),
        ok=ok,
        value=_("refused to a second process")
        if ok
        else _("{names}: not refused to a second process").format(names=", ".join(wrong)),
        means=_("caches that lock can be shared by processes")
        if ok
        else _("two processes can hold one lock: keep caches that lock (models, packages) off this disk"),
        figures={"flock": flock, "fcntl": record},
    )


def _ask(path: Path) -> list[str]:
    try:
        asked = subprocess.run(
            [sys.executable, "-I", "-S", "-c", _ASK, path],
            capture_output=True,
            text=True,
            timeout=_LOCK_SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return ["no answer", "no answer"]
    return asked.stdout.split() if len(asked.stdout.split()) == 2 else ["no answer", "no answer"]


def _symlink(place: Path) -> Probe:
    (place / "target").write_bytes(b"there")
    link = place / "link"
    link.symlink_to("target")
    return _told(
        _("symlink"),
        link.is_symlink() and link.read_bytes() == b"there",
        well=_("caches of models keep one copy of each file"),
        bad=_("caches of models keep a copy for each revision: count them twice"),
    )


def _hard_link(place: Path) -> Probe:
    (place / "one").write_bytes(b"1")
    os.link(place / "one", place / "two")
    return _told(
        _("hard link"),
        (place / "two").stat().st_nlink == 2,
        well=_("claims are atomic, package caches share their files"),
        bad=_("claims of attempts are not atomic here: no run can be supervised on it"),
    )


def _chmod(place: Path) -> Probe:
    path = place / "mode"
    path.write_bytes(b"")
    path.chmod(0o640)
    before = stat.S_IMODE(path.stat().st_mode)
    path.chmod(0o600)
    after = stat.S_IMODE(path.stat().st_mode)
    return _told(
        _("chmod"),
        (before, after) == (0o640, 0o600),
        well=_("programs and keys keep their permissions"),
        bad=_("permissions are ignored: keep no environment and no key here"),
    )


def _names(place: Path) -> Probe:
    odd = (b"colon:and?", b"line\nbreak", b"not utf-8 \xff", b"n" * 255)
    refused = []
    for name in odd:
        path = os.path.join(os.fsencode(place), name)  # noqa: PTH118 - bytes, because one is no text
        try:
            with open(path, "wb"):  # noqa: PTH123
                pass
        except (OSError, UnicodeError):
            refused.append(repr(name[:12])[2:-1])
    return _told(
        _("names"),
        not refused,
        well=_("any name can be kept"),
        bad=_("files with such names cannot be kept: pack them"),
        value=_("refused: {names}").format(names=", ".join(refused)) if refused else _("any"),
    )


def _case(place: Path) -> Probe:
    (place / "Case").write_bytes(b"")
    folds = (place / "cASE").exists()
    return _told(
        _("upper and lower case"),
        not folds,
        well=_("names that differ in case only are two files"),
        bad=_("names that differ in case only are one file: such a data set loses files here"),
        value=_("are the same") if folds else _("are kept apart"),
    )


# --- room ---------------------------------------------------------------------------------------------


def _inodes(place: Path) -> Probe:
    found = os.statvfs(place)
    name = _("number of files")
    figures = {"files": found.f_files, "free": found.f_favail}
    if not 0 < found.f_files < _INODES_MADE_UP:
        return Probe(
            name=name,
            ok=None,
            value=_("not told"),
            means=_("whether millions of files fit is unknown: pack them"),
            figures=figures,
        )
    few = found.f_favail < _FEW_INODES
    return Probe(
        name=name,
        ok=not few,
        value=_("{free} of {all} left").format(free=found.f_favail, all=found.f_files),
        means=_("a data set of small files does not fit: pack it")
        if few
        else _("so many more files can be made"),
        figures=figures,
    )


def _room(place: Path, planned: int) -> Probe:
    """Allocate the planned size for a moment: free room as a file system tells it need not be there."""
    name = _("room for the plan")
    found = os.statvfs(place)
    free = found.f_frsize * found.f_bavail
    figures: dict[str, Any] = {"planned": planned, "free": free}
    if free < planned:
        text = _("{free} are free, {planned} are planned")
        return Probe(
            name=name,
            ok=False,
            value=text.format(free=show_bytes(free), planned=show_bytes(planned)),
            means=_("the plan does not fit"),
            figures=figures,
        )
    held, number = _allocate(place / "room", planned)
    figures["allocated"] = held
    if number in (errno.EOPNOTSUPP, errno.ENOSYS):
        return Probe(
            name=name,
            ok=None,
            value=_("{free} are told free; this file system promises no room").format(free=show_bytes(free)),
            means=_("a quota may end the run later"),
            figures=figures,
        )
    if number is not None:
        return Probe(
            name=name,
            ok=False,
            value=_("{held} of {planned}, then: {error}").format(
                held=show_bytes(held), planned=show_bytes(planned), error=os.strerror(number)
            ),
            means=_("the plan does not fit, although {free} are told free").format(free=show_bytes(free)),
            figures=figures,
        )
    return Probe(
        name=name,
        ok=True,
        value=_("{planned} could be allocated").format(planned=show_bytes(planned)),
        means=_("the plan fits"),
        figures=figures,
    )


def _allocate(path: Path, wanted: int) -> tuple[int, int | None]:
    """Allocate blocks step by step; return the bytes that were had, and the error that ended it, if any.

    The system call itself, because the C library's posix_fallocate writes every byte where a file system
    promises nothing. What was allocated is free again at the return.
    """
    libc = ctypes.CDLL(None, use_errno=True)
    fallocate = getattr(libc, "fallocate64", None) or getattr(libc, "fallocate", None)
    if fallocate is None:
        return 0, errno.ENOSYS
    fallocate.argtypes = (ctypes.c_int, ctypes.c_int, ctypes.c_longlong, ctypes.c_longlong)
    had = 0
    with path.open("xb") as file:
        try:
            while had < wanted:
                step = min(_STEP, wanted - had)
                if fallocate(file.fileno(), _KEEP_SIZE, had, step) != 0:
                    return had, ctypes.get_errno()
                had += step
        finally:
            path.unlink()
    return had, None


# --- reads --------------------------------------------------------------------------------------------


def _reads(place: Path, size: int) -> Probe:
    found = reads.measure(place, size)
    return Probe(
        name=_("reads of 4 KB") if size == reads.SMALL else _("reads of 1 MB"),
        ok=True,
        value=found.text,
        means=found.means,
        figures=found.as_json(),
    )

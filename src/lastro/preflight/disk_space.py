"""Is there room on the disk?"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from lastro.locale import _
from lastro.preflight.check import Finding, Level, Subject
from lastro.spec.want import parse_size
from lastro.units import show_bytes

#: Room that every campaign should have beside its corpus when it does not say what it needs; an assumption.
ASSUMED_BYTES = 10**9


def existing(path: Path) -> Path:
    """Return the nearest part of a path that is there already; a file is in the way of a disk."""
    return next(place for place in (path, *path.parents) if place.exists())


def check(subject: Subject) -> Iterator[Finding]:
    """Compare free space and free names with `want.disk`, else with the corpus and an assumed floor."""
    try:
        found = os.statvfs(existing(subject.disk))
    except OSError as error:
        yield Finding(
            code="disk_space",
            level=Level.NO_ANSWER,
            fact=_("room on the disk"),
            value=_("cannot be asked: {error}").format(error=error.strerror),
        )
        return
    yield from judge(subject, found.f_frsize * found.f_bavail, found.f_favail if found.f_files else None)


def judge(subject: Subject, free: int, names: int | None) -> Iterator[Finding]:
    """Return the findings for free bytes, and for files that still fit.

    Args:
        subject: what is wanted, and how large its corpus is.
        free: bytes.
        names: free inodes; None: the file system has no fixed number of them, and tells 0 of 0.
    """
    yield _room(subject, free)
    if names is not None and names < 10_000:
        yield Finding(
            code="disk_inodes",
            level=Level.WARN,
            fact=_("files that still fit on the disk"),
            value=str(names),
            consequence=_("checkpoints fail with 'no space left' although there is room"),
            next_step=_("remove small files, or use another disk"),
        )


def _room(subject: Subject, free: int) -> Finding:
    wanted = subject.want.get("disk")
    if wanted is not None:
        need, level, source = parse_size(wanted).bytes, Level.FAIL, "declared"
    else:
        need, level, source = (subject.corpus_bytes or 0) + ASSUMED_BYTES, Level.WARN, "assumed"
        if free <= (subject.corpus_bytes or 0):
            level = Level.FAIL
    well = free >= need
    return Finding(
        code="disk_space",
        level=Level.PASS if well else level,
        fact=_("room on the disk"),
        value=show_bytes(free),
        expected=_("at least {size}, {source}").format(size=show_bytes(need), source=source),
        consequence=None if well else _("the disk fills up and the run stops at a checkpoint"),
        next_step=None if well else _("free space at {path}, or use another disk").format(path=subject.disk),
    )

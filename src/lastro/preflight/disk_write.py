"""Does the disk keep what is written to it, in the way that checkpoints and claims need?"""

from __future__ import annotations

import os
import secrets
import statistics
import time
from collections.abc import Iterator
from pathlib import Path

from lastro import atomic
from lastro.locale import _
from lastro.preflight.check import Finding, Level, Subject
from lastro.preflight.disk_space import existing

_WRITES = 5
_BYTES = 64 * 1024
#: A publish takes about four of these; slower than this it is felt at every checkpoint. An assumption.
SLOW_SECONDS = 0.2


def check(subject: Subject) -> Iterator[Finding]:
    """Write, fsync, rename, link and read back in a folder of its own, which is removed again."""
    place = existing(subject.disk)
    probe = place / f"{atomic.TEMPORARY}preflight-{secrets.token_hex(6)}"
    try:
        probe.mkdir()
    except OSError as error:
        yield _failed(place, error)
        return
    try:
        seconds = [_write_and_read(probe, number) for number in range(_WRITES)]
        linked = atomic.claim(probe / "claim", b"1") and not atomic.claim(probe / "claim", b"2")
    except OSError as error:
        yield _failed(place, error)
    else:
        yield _judge(place, seconds, linked)
    finally:
        atomic.remove_tree(probe)


def _write_and_read(probe: Path, number: int) -> float | None:
    """Publish some bytes; return the seconds of one fsync, None when other bytes came back."""
    data = secrets.token_bytes(_BYTES)
    atomic.write_bytes(probe / "published", data)
    with (probe / f"{number}").open("wb") as file:
        file.write(data)
        file.flush()
        began = time.monotonic()
        os.fsync(file.fileno())
        took = time.monotonic() - began
    back = (probe / "published").read_bytes() == data == (probe / f"{number}").read_bytes()
    return took if back else None


def _judge(place: Path, seconds: list[float | None], linked: bool) -> Finding:
    known = [item for item in seconds if item is not None]
    if len(known) < len(seconds) or not linked:
        what = _("other bytes came back") if len(known) < len(seconds) else _("two claims succeeded")
        return Finding(
            code="disk_write",
            level=Level.FAIL,
            fact=_("writing to the disk"),
            value=what,
            consequence=_("no checkpoint on it can be believed"),
            next_step=_("use another disk than {path}").format(path=place),
        )
    p50 = statistics.median(known)
    slow = p50 > SLOW_SECONDS
    return Finding(
        code="disk_write",
        level=Level.WARN if slow else Level.PASS,
        fact=_("writing to the disk"),
        value=_(
            "written, renamed, linked, read back; one fsync takes {ms:.3g} ms (median of {count})"
        ).format(ms=p50 * 1000, count=len(known)),
        expected=_("at most {ms:.3g} ms, assumed").format(ms=SLOW_SECONDS * 1000),
        consequence=_("every checkpoint waits several times as long") if slow else None,
        next_step=_("use a faster disk, or save less often") if slow else None,
    )


def _failed(place: Path, error: OSError) -> Finding:
    return Finding(
        code="disk_write",
        level=Level.FAIL,
        fact=_("writing to the disk"),
        value=_("{path}: {error}").format(path=place, error=error.strerror or error),
        consequence=_("nothing can be saved there"),
        next_step=_("check permissions and mount options, or name another disk"),
    )

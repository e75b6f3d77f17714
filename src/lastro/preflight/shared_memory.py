"""Is there shared memory for loader workers?"""

from __future__ import annotations

from collections.abc import Iterator

from lastro.locale import _
from lastro.preflight.check import Finding, Level, Subject
from lastro.spec.want import parse_size
from lastro.units import show_bytes

#: What Docker gives a container unless it is told otherwise (docs.docker.com, `--shm-size`, read 2026-11).
DOCKER_DEFAULT = 64 * 2**20


def check(subject: Subject) -> Iterator[Finding]:
    """Compare the size of /dev/shm with `want.shared_memory`, else with Docker's small default."""
    wanted = subject.want.get("shared_memory")
    found = subject.stack.shared_memory_bytes
    if found is None:
        yield Finding(
            code="shared_memory",
            level=Level.NO_ANSWER,
            fact=_("shared memory"),
            value=_("there is no /dev/shm"),
            expected=wanted,
        )
        return
    need = parse_size(wanted).bytes if wanted else DOCKER_DEFAULT + 1
    well = found >= need
    level = Level.PASS if well else Level.FAIL if wanted else Level.WARN
    yield Finding(
        code="shared_memory",
        level=level,
        fact=_("shared memory"),
        value=show_bytes(found),
        expected=wanted or _("more than Docker's default of {size}").format(size=show_bytes(DOCKER_DEFAULT)),
        consequence=None if well else _("loader workers end with a bus error"),
        next_step=None if well else _("start the container with --shm-size or --ipc=host, or use no workers"),
    )

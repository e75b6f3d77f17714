"""Is there the memory that the campaign wants, after what the container allows?"""

from __future__ import annotations

from collections.abc import Iterator

from lastro.locale import _
from lastro.preflight.check import Finding, Level, Subject
from lastro.spec.want import parse_size
from lastro.units import show_bytes


def check(subject: Subject) -> Iterator[Finding]:
    """Compare the usable memory with `want.memory`."""
    wanted = subject.want.get("memory")
    found = subject.stack.memory_bytes
    if found is None:
        yield Finding(
            code="memory", level=Level.NO_ANSWER, fact=_("memory"), value=_("unknown"), expected=wanted
        )
        return
    well = wanted is None or found >= parse_size(wanted).bytes
    limited = _(" (limited by the container)") if subject.stack.memory_limited else ""
    yield Finding(
        code="memory",
        level=Level.PASS if well else Level.FAIL,
        fact=_("memory"),
        value=show_bytes(found) + limited,
        expected=wanted,
        consequence=None if well else _("the job may be killed without a word"),
        next_step=None if well else _("take a larger machine, or lower `want.memory` if the job needs less"),
    )

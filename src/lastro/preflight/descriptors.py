"""May the job open as many files as loaders and checkpoints need?"""

from __future__ import annotations

import resource
from collections.abc import Iterator

from lastro.locale import _
from lastro.preflight.check import Finding, Level, Subject

#: Loader workers hand tensors over by descriptors, and 1024 are used up by a few of them
#: (pytorch/pytorch#973); four times that is an assumption.
LEAST = 4096


def check(_subject: Subject) -> Iterator[Finding]:
    """Read the limits of this process, which its children inherit."""
    yield judge(*resource.getrlimit(resource.RLIMIT_NOFILE))


def judge(soft: int, hard: int) -> Finding:
    """Return the finding for the limits of open files. A limit of -1 is none."""
    well = soft == resource.RLIM_INFINITY or soft >= LEAST
    can_raise = hard == resource.RLIM_INFINITY or hard >= LEAST
    return Finding(
        code="descriptors",
        level=Level.PASS if well else Level.WARN,
        fact=_("open files"),
        value=_("no limit") if soft == resource.RLIM_INFINITY else str(soft),
        expected=_("at least {count}").format(count=LEAST),
        consequence=None if well else _("loader workers end with 'too many open files'"),
        next_step=None
        if well
        else _("ulimit -n {count}").format(count=LEAST)
        if can_raise
        else _("start the container with --ulimit nofile={count}").format(count=LEAST),
    )

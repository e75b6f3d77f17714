"""Are local machines kept apart as far as was asked for?"""

from __future__ import annotations

import os
from collections.abc import Iterator

from lastro.locale import _
from lastro.preflight.check import Finding, Level, Subject
from lastro.providers import jail


def check(subject: Subject) -> Iterator[Finding]:
    """Say why `LASTRO_LOCAL_LEVEL=jailed` cannot be had; nothing where it is not asked for."""
    if os.environ.get(jail.LEVEL) == jail.JAILED:
        yield judge(jail.why_not())


def judge(why_not: str | None) -> Finding:
    """Return the finding for machines that were to be jailed. `why_not`: why they cannot be."""
    return Finding(
        code="isolation",
        level=Level.PASS if why_not is None else Level.WARN,
        fact=_("isolation of local machines"),
        value=_("jailed") if why_not is None else _("not jailed: {why}").format(why=why_not),
        expected=_("jailed, as {name} asks for").format(name=jail.LEVEL),
        consequence=None if why_not is None else _("their jobs see, and can write, all of this box"),
        next_step=None if why_not is None else _("install bubblewrap, and let lastro make namespaces"),
    )

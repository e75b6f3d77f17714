"""Is the program there that the command starts?"""

from __future__ import annotations

from collections.abc import Iterator

from lastro.locale import _
from lastro.preflight.check import Finding, Level, Subject
from lastro.preflight.interpreter import find_program


def check(subject: Subject) -> Iterator[Finding]:
    """Look for the first word of the command as `exec` would."""
    word = subject.command[0]
    found = find_program(subject.command, subject.workdir)
    if found:
        yield Finding(code="command", level=Level.PASS, fact=_("program"), value=found)
        return
    yield Finding(
        code="command",
        level=Level.FAIL,
        fact=_("program"),
        value=_("{word} is not there").format(word=word),
        consequence=_("no run can start"),
        next_step=_("install it, activate its environment, or change `command`"),
    )

"""How the processes of an attempt came to their end, in words: by themselves, or found by which rung."""

from __future__ import annotations

from lastro.locale import _
from lastro.procs.killtree import Members


def ended_by(found: Members, left: int) -> str:
    """Return one sentence for the journal.

    Args:
        found: what was ended from outside, by the rung that found it.
        left: how many processes the job's own parent had to end after it.
    """
    apart = len(found.namespace)
    descent = len(found.descent - found.namespace)
    environment = len(found.environment - found.descent - found.namespace)
    parts = [
        text.format(count=count)
        for count, text in (
            (left, _("{count} left behind, ended by the job's parent")),
            (apart, _("{count} ended, found by their PID namespace")),
            (descent, _("{count} ended, found by descent")),
            (environment, _("{count} ended, found by the environment alone")),
        )
        if count
    ]
    return "; ".join(parts) or _("by itself; nothing was left")

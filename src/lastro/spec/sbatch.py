"""What a campaign asks of sbatch: `slurm: {partition: gpu, time: "8:00:00", gres: "gpu:1"}`.

Names are those of sbatch's long options (its manual page, Slurm 22.05); Slurm itself judges their values.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from lastro.locale import _
from lastro.spec.base import Contradiction, Problem, shown

_NAME = re.compile(r"[a-z][a-z0-9-]*")
#: Options that lastro says itself: it finds its jobs by their name, reads their log, and restarts runs.
_OURS = frozenset(
    {
        *("array", "chdir", "error", "job-name", "open-mode", "output", "parsable", "requeue", "no-requeue"),
        *("signal", "test-only", "wait", "wrap"),
    }
)


def check_sbatch(value: object) -> object:
    """Check the names of all options, and return their values as texts; "" for one that takes none."""
    if not isinstance(value, Mapping):
        raise ValueError(_("{value} is not a mapping such as {{partition: gpu}}").format(value=shown(value)))
    judged = {name: _wrong(name, wanted) for name, wanted in value.items()}
    problems = [Problem((name,), wrong) for name, wrong in judged.items() if wrong is not None]
    if problems:
        raise Contradiction(*problems)
    asked = {name: wanted for name, wanted in value.items() if wanted is not False}
    return {name: "" if wanted is True else str(wanted) for name, wanted in asked.items()}


def _wrong(name: object, wanted: object) -> str | None:
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        return _("{name} is not the name of an option of sbatch, such as partition").format(name=shown(name))
    if name in _OURS:
        return _("lastro says --{name} itself").format(name=name)
    if not isinstance(wanted, (str, int)):
        return _("{value} is neither a text nor a number nor true").format(value=shown(wanted))
    if isinstance(wanted, str) and (not wanted.strip() or not wanted.isprintable()):
        return _("it has to be a text on one line")
    return None

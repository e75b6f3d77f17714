"""Carries out the steps of a burn-in in the Python of the job."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from lastro import strictjson
from lastro.errors import LastroError
from lastro.locale import _
from lastro.preflight.lent import lent_command
from lastro.procs.child import run_with_deadline

#: What the import, the first kernels and a slow step take beyond their own time.
SPARE_SECONDS = 60.0


def run_steps(
    python: str | None, steps: Sequence[Mapping[str, Any]], seconds: float
) -> Sequence[Mapping[str, Any]] | str:
    """Carry steps out in the job's Python, killed after `seconds`; a text: why nothing was carried out."""
    if python is None:
        return _("the job's Python is not known")
    try:
        done = run_with_deadline(
            lent_command(python, "lastro.preflight.burn.child"),
            seconds=seconds,
            cwd=Path("/"),
            env=os.environ,
            input=strictjson.dumps({"steps": list(steps)}).encode(),
        )
        told = [strictjson.loads(line) for line in done.out.splitlines() if line.startswith("{")]
    except (LastroError, ValueError) as error:
        return str(error)
    if told and told[0].get("missing"):
        return _("the job's Python has no torch that can be loaded: {why}").format(why=told[0]["error"])
    if not told and not done.timed_out:
        last = (done.err.strip().splitlines() or [_("it said nothing")])[-1]
        return _("the kernels ended at once: {why}").format(why=last[:200])
    return told

"""Does the machine compute right, over minutes, in each type of numbers that the plan has? The burn-in."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from lastro import strictjson
from lastro.errors import LastroError
from lastro.locale import _
from lastro.preflight.burn.judge import judge_burn
from lastro.preflight.burn.steps import burn_steps
from lastro.preflight.check import Finding, Level, Subject
from lastro.preflight.lent import lent_command
from lastro.procs.child import run_with_deadline

#: How long the kernels work on a processor, where they only show that the path works.
CPU_SECONDS = 5.0
#: Part of the time that the import, the first kernels and a slow step may take.
SPARE = 0.25


def check(subject: Subject, seconds: float) -> Iterator[Finding]:
    """Burn every GPU of the machine for `seconds` in all; without one the kernels run on its processor."""
    gpus = 0 if subject.cpu_only else len(subject.stack.gpus or ())
    work = seconds * (1 - SPARE) if gpus else min(CPU_SECONDS, seconds * (1 - SPARE))
    steps = burn_steps(gpus, subject.dtypes, work)
    told = run_steps(subject.versions.path, steps, seconds)
    if isinstance(told, str):
        yield Finding(code="burn", level=Level.NO_ANSWER, fact=_("burn-in"), value=told)
        return
    yield from judge_burn(steps, told)


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

"""The size of a training state, from the campaign's own code: built without memory, in its own process."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Mapping, Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any

from lastro import strictjson
from lastro.errors import LastroError
from lastro.locale import _
from lastro.plan.state import State
from lastro.preflight.interpreter import find_program
from lastro.procs.child import run_with_deadline
from lastro.providers.environment import with_interpreter
from lastro.units import show_duration

_PROGRAM = Path(__file__).with_name("build_on_meta.py")
#: Planning rents nothing, touches no GPU, and leaves nothing behind in the campaign's folder.
_QUIET = {"CUDA_VISIBLE_DEVICES": "", "PYTHONDONTWRITEBYTECODE": "1"}


def built_state(
    target: str,
    configs: Sequence[Mapping[str, Any]],
    *,
    command: Sequence[str],
    folder: Path,
    seconds: float,
    own_program: bool,
) -> State | str:
    """Return the largest state that the code builds; a text: why that is not known.

    Args:
        target: `module:function`; the function returns (model, optimizer), or a model alone. It gets a run's
            configuration when it takes an argument.
        configs: of the runs.
        command: of a run: the Python that it starts is asked, else the one that runs lastro.
        folder: where the code is; it is imported there.
        seconds: after so long the process is killed.
        own_program: the program saves by itself, all weights each time.
    """
    # The program is handed over as text: its own folder must not hide modules of the user.
    asked = [
        _python(command, folder),
        "-c",
        _PROGRAM.read_text(encoding="utf-8"),
        target,
        json.dumps(configs),
    ]
    try:
        done = run_with_deadline(
            asked, seconds=seconds, cwd=folder, env={**with_interpreter(os.environ), **_QUIET}
        )
    except LastroError as error:
        return _("{target} was not built: {why}").format(target=target, why=error)
    if done.timed_out:
        limit = show_duration(timedelta(seconds=seconds))
        return _("{target} was not built within {limit}").format(target=target, limit=limit)
    answer = _last_line(done.out)
    if "missing" in answer:
        return _("{target} was not built: torch is missing ({why})").format(
            target=target, why=answer["missing"]
        )
    if "failed" in answer:
        return _("{target} cannot be built without memory: {why}").format(target=target, why=answer["failed"])
    if "sizes" not in answer:
        last = (done.err.strip().splitlines() or [_("it said nothing")])[-1]
        return _("{target} was not built: {why}").format(target=target, why=last)
    return _largest(target, answer["sizes"], own_program)


def _python(command: Sequence[str], folder: Path) -> str:
    """Return the Python that a command starts; lastro's own for one that starts something else."""
    if Path(command[0]).name.startswith("python"):
        return find_program(command, folder) or sys.executable
    return sys.executable


def _last_line(out: str) -> Mapping[str, Any]:
    """Return what the program answered; nothing when it ended before."""
    try:
        answer = strictjson.loads((out.strip().splitlines() or [""])[-1])
    except ValueError:
        return {}
    return answer if isinstance(answer, dict) else {}


def _largest(target: str, sizes: Sequence[Mapping[str, int]], own_program: bool) -> State:
    """Return the state of the configuration whose checkpoints are largest."""
    whole = [size["trained"] + size["frozen"] + size["saved"] + size["optimizer"] for size in sizes]
    size = sizes[whole.index(max(whole))]
    once = 0 if own_program else size["frozen"]
    why = _("built by {target} without memory").format(target=target)
    if len(sizes) > 1:
        why = _("the largest of {count} configurations, {why}").format(count=len(sizes), why=why)
    return State(
        saved=max(whole) - once,
        once=once,
        memory=max(whole) + size["kept"] + size["gradients"],
        why=why,
    )

"""Starts training processes that have torch imported already, and lastro not: one fork each.

Its arguments are modules that are imported too. Reads one JSON object per line: `script`, `args`,
`environment`, `log`, and optionally `signal` and `step`: the process sends itself that signal when it has
told its heartbeat that step, which is the only way to hit an exact place. Answers each with a line
`{"code": ..., "signal": ...}`.
"""

from __future__ import annotations

import gc
import importlib
import json
import os
import runpy
import signal
import sys
from pathlib import Path
from typing import Any


def strike_at(step: int, number: int) -> None:
    """Send this process a signal right after the heartbeat of one step, before anything is saved there."""
    from lastro.journal.signals import Heartbeat

    beat = Heartbeat.beat

    def struck(self: Heartbeat, at: int) -> None:
        beat(self, at)
        if at == step:
            os.kill(os.getpid(), number)

    Heartbeat.beat = struck  # type: ignore[method-assign, assignment]


def become(ask: dict[str, Any]) -> None:
    """Turn this fork into a process that was started with the script's command line."""
    log = os.open(ask["log"], os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    nothing = os.open(os.devnull, os.O_RDONLY)
    for target, descriptor in ((0, nothing), (1, log), (2, log)):
        os.dup2(descriptor, target)
    script = Path(ask["script"])
    os.chdir(script.parent)
    os.environ.clear()
    os.environ.update(ask["environment"])
    sys.argv = [str(script), *ask["args"]]
    sys.path[0] = str(script.parent)
    if ask.get("signal"):
        strike_at(ask["step"], ask["signal"])


def main() -> dict[str, Any] | None:
    """Return what a fork has to run; None in the parent, when there is nothing more to do."""
    import safetensors.torch
    import torch

    for name in sys.argv[1:]:
        importlib.import_module(name)
    torch.set_num_threads(1)
    assert safetensors.torch is not None
    gc.freeze()  # what is imported stays: no fork has to look through it
    for line in sys.stdin:
        ask: dict[str, Any] = json.loads(line)
        child = os.fork()
        if child == 0:
            become(ask)
            return ask
        _pid, status = os.waitpid(child, 0)
        code = os.waitstatus_to_exitcode(status)
        answer = {"code": code, "signal": None} if code >= 0 else {"code": None, "signal": -code}
        sys.stdout.write(json.dumps(answer) + "\n")
        sys.stdout.flush()
    return None


if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    asked = main()
    if asked is not None:  # at the top level, so that exits and exceptions are the interpreter's own
        runpy.run_path(asked["script"], run_name="__main__")

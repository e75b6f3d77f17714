"""Starts training processes that have torch imported already, and lastro not: one fork each.

Its arguments are modules that are imported too. Reads one JSON object per line: `script`, `args`,
`environment`, `log`, and optionally `signal` and `step`: the process sends itself that signal when it has
told its heartbeat that step, which is the only way to hit an exact place. With `ranks` so many processes are
started, as torchrun would; the signal is for the last one, and when one has failed the others are told to
leave. Answers each with a line `{"code": ..., "signal": ...}`, of the first process that failed.
"""

from __future__ import annotations

import gc
import importlib
import json
import os
import runpy
import signal
import socket
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


def team(ask: dict[str, Any]) -> list[dict[str, Any]]:
    """Return what each process is asked; several are told who they are."""
    count = ask.get("ranks")
    if count is None:
        return [ask]
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    together = {
        "WORLD_SIZE": str(count),
        "LOCAL_WORLD_SIZE": str(count),
        "MASTER_ADDR": "127.0.0.1",
        "MASTER_PORT": str(port),
        "TORCHELASTIC_RUN_ID": "nursery",
    }
    struck = {key: ask[key] for key in ("signal", "step")}
    return [
        {
            **ask,
            **(struck if rank == count - 1 else {"signal": None}),
            "environment": {**ask["environment"], **together, "RANK": str(rank), "LOCAL_RANK": str(rank)},
        }
        for rank in range(count)
    ]


def wait_for(children: list[int]) -> int:
    """Return the exit code of the first that failed, 0 when none has."""
    failed = 0
    left = set(children)
    while left:
        pid, status = os.wait()
        left.discard(pid)
        if not failed and (failed := os.waitstatus_to_exitcode(status)):
            for other in left:
                os.kill(other, signal.SIGTERM)
    return failed


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
        children = []
        for told in team(ask):
            child = os.fork()
            if child == 0:
                become(told)
                return told
            children.append(child)
        code = wait_for(children)
        answer = {"code": code, "signal": None} if code >= 0 else {"code": None, "signal": -code}
        sys.stdout.write(json.dumps(answer) + "\n")
        sys.stdout.flush()
    return None


if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    asked = main()
    if asked is not None:  # at the top level, so that exits and exceptions are the interpreter's own
        runpy.run_path(asked["script"], run_name="__main__")

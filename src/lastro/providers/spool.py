"""The spool of a local machine: processes that it is asked to start, each once, with an answer."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from datetime import datetime, timezone
from pathlib import Path

from lastro import atomic, strictjson
from lastro.clock import iso
from lastro.errors import LastroError
from lastro.paths import MachineFolder
from lastro.procs.detach import start_detached


def say(sentence: str) -> None:
    """Write a line to the machine's log."""
    sys.stderr.write(f"{iso(datetime.now(timezone.utc))} {sentence}\n")
    sys.stderr.flush()


def serve(folder: MachineFolder, env: Mapping[str, str], log: Path) -> bool:
    """Start what is asked for; True when there was something."""
    names = os.listdir(folder.requests)  # noqa: PTH208 - looked at ten times a second
    tokens = [name.partition(".")[0] for name in sorted(names) if name.endswith(".json")]
    for token in filter(None, tokens):
        _start(folder, token, env, log)
    return bool(tokens)


def _start(folder: MachineFolder, token: str, env: Mapping[str, str], log: Path) -> None:
    taken = folder.taken_request(token)
    try:
        folder.request(token).rename(taken)
    except FileNotFoundError:
        return  # withdrawn
    answer: dict[str, object] = {"process": None, "error": None}
    try:
        argv = strictjson.read(taken)["argv"]
        process = start_detached(argv, cwd=folder.scratch, env=env, log=log)
        answer["process"] = process.as_json()
        say(f"started {argv[0]} as {process.pid}")
    except LastroError as error:
        answer["error"] = error.message
    atomic.write_text(folder.answer(token), strictjson.dumps(answer))

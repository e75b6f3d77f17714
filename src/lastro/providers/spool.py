"""The spool of a machine: processes that it is asked to start, each once, with an answer."""

from __future__ import annotations

import os
import secrets
import sys
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timezone
from pathlib import Path

from lastro import atomic, strictjson
from lastro.clock import iso
from lastro.errors import LastroError, ProviderError
from lastro.locale import _
from lastro.paths import MachineFolder
from lastro.procs.detach import start_detached
from lastro.providers.records import read_or_none


def say(sentence: str) -> None:
    """Write a line to the machine's log."""
    sys.stderr.write(f"{iso(datetime.now(timezone.utc))} {sentence}\n")
    sys.stderr.flush()


def ask(folder: MachineFolder, argv: Sequence[str], until: Callable[[Callable[[], bool]], bool]) -> None:
    """Ask a machine to start a process, and return when it has.

    Args:
        folder: the machine's.
        argv: what is to be started.
        until: waits for a condition, for as long as it makes sense.

    Raises:
        ProviderError: it did not say so in time, or could not.
    """
    token = secrets.token_hex(8)
    atomic.write_text(folder.request(token), strictjson.dumps({"argv": list(argv)}))
    until(lambda: folder.answer(token).exists())
    answer = read_or_none(folder.answer(token))
    if answer is None:
        # Withdrawn, so that it is not started later after all; when it was taken, its answer is near.
        folder.request(token).unlink(missing_ok=True)
        raise ProviderError(
            _("machine {id} did not say whether it started {command}").format(
                id=folder.root.name, command=argv[0]
            ),
            hint=_("look at its state; a second supervisor of the same run does no harm"),
        )
    if answer["error"] is not None:
        raise ProviderError(
            _("machine {id} could not start {command}: {error}").format(
                id=folder.root.name, command=argv[0], error=answer["error"]
            )
        )


def serve(folder: MachineFolder, env: Mapping[str, str], log: Path, cwd: Path) -> bool:
    """Start what is asked for, in `cwd` and with its output to `log`; True when there was something."""
    names = os.listdir(folder.requests)  # noqa: PTH208 - looked at ten times a second
    tokens = [name.partition(".")[0] for name in sorted(names) if name.endswith(".json")]
    for token in filter(None, tokens):
        _start(folder, token, env, log, cwd)
    return bool(tokens)


def _start(folder: MachineFolder, token: str, env: Mapping[str, str], log: Path, cwd: Path) -> None:
    taken = folder.taken_request(token)
    try:
        folder.request(token).rename(taken)
    except FileNotFoundError:
        return  # withdrawn
    answer: dict[str, object] = {"process": None, "error": None}
    try:
        argv = strictjson.read(taken)["argv"]
        process = start_detached(argv, cwd=cwd, env=env, log=log)
        answer["process"] = process.as_json()
        say(f"started {argv[0]} as {process.pid}")
    except LastroError as error:
        answer["error"] = error.message
    atomic.write_text(folder.answer(token), strictjson.dumps(answer))

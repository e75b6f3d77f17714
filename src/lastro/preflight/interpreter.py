"""The Python that a command starts on this machine."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

from lastro.locale import _
from lastro.providers.environment import with_interpreter
from lastro.stack.versions import Versions, ask, is_python


def find_program(command: Sequence[str], workdir: Path) -> str | None:
    """Return the program that a command starts, as `exec` would find it; None when there is none."""
    word = command[0]
    if "/" in word:
        path = workdir / word
        # Without `..`, and without following links: a Python of a virtual environment is one.
        return os.path.normpath(path) if path.is_file() and os.access(path, os.X_OK) else None
    return shutil.which(word, path=with_interpreter(os.environ).get("PATH"))


def ask_versions(command: Sequence[str], workdir: Path, packages: Iterable[str]) -> Versions:
    """Ask the Python that a command starts for its own version and those of packages.

    A command that starts something else is answered for the Python that runs lastro, with the reason.
    """
    program, environment = find_program(command, workdir), with_interpreter(os.environ)
    if not is_python(command[0]):
        name = Path(command[0]).name
        reason = _("{program} is no Python; the one that runs lastro was asked").format(program=name)
        return ask(sys.executable, packages, cwd=workdir, environment=environment, reason=reason)
    if program is None:
        return Versions(reason=_("{program} is not there").format(program=command[0]))
    return ask(program, packages, cwd=workdir, environment=environment)

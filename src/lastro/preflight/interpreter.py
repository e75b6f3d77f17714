"""The Python that a command starts, and the versions of what is installed for it."""

from __future__ import annotations

import os
import re
import shutil
import sys
from collections.abc import Iterable, Sequence
from dataclasses import field
from pathlib import Path

from lastro import strictjson
from lastro.errors import LastroError
from lastro.locale import _
from lastro.procs.child import run_with_deadline
from lastro.providers.environment import with_interpreter
from lastro.records import dataclass

#: A Python that has not come up by then has no answer; the step that judges it has little more.
_SECONDS = 8.0
_PYTHON = re.compile(r"python(?:[0-9.]*)(?:\.exe)?")
_ASK = """
import importlib.metadata as metadata, json, platform, sys
def version(name):
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return None
def name(one):
    try:
        return one.metadata["Name"] or ""
    except Exception:  # an install that was cut has no metadata
        return ""
named = [(name(one).lower().replace("_", "-"), one.version) for one in metadata.distributions()]
installed = {name: version for name, version in reversed(named) if name}
print(json.dumps({"python": platform.python_version(), "packages": {n: version(n) for n in sys.argv[1:]},
    "implementation": platform.python_implementation(), "installed": installed}))
"""


@dataclass(frozen=True, kw_only=True)
class Versions:
    """What is installed for one Python. `python` None: it could not be asked, and `reason` says why.

    `packages`: those that were asked for; None: not installed. `installed`: all of them, in small letters.
    """

    path: str | None = None
    python: str | None = None
    packages: dict[str, str | None] = field(default_factory=dict)
    reason: str | None = None
    implementation: str | None = None
    installed: dict[str, str] = field(default_factory=dict)


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
    program = find_program(command, workdir)
    name = Path(command[0]).name
    if not _PYTHON.fullmatch(name):
        reason = _("{program} is no Python; the one that runs lastro was asked").format(program=name)
        return _ask(sys.executable, workdir, packages, reason)
    if program is None:
        return Versions(reason=_("{program} is not there").format(program=command[0]))
    return _ask(program, workdir, packages, None)


def _ask(program: str, workdir: Path, packages: Iterable[str], reason: str | None) -> Versions:
    # -P and -I are not used: what stands on the user's PYTHONPATH is there for the job as well.
    command = [program, "-c", _ASK, *packages]
    try:
        done = run_with_deadline(command, seconds=_SECONDS, cwd=workdir, env=with_interpreter(os.environ))
        answer = strictjson.loads(done.out.strip().splitlines()[-1]) if done.code == 0 else None
    except (LastroError, ValueError, IndexError) as error:
        return Versions(path=program, reason=str(error))
    if not isinstance(answer, dict):
        last = (done.err.strip().splitlines() or [_("it said nothing")])[-1]
        return Versions(
            path=program, reason=_("{program} did not answer: {why}").format(program=program, why=last)
        )
    return Versions(
        path=program,
        python=answer["python"],
        packages=answer["packages"],
        reason=reason,
        implementation=answer["implementation"],
        installed=answer["installed"],
    )

"""The Python that a job starts, asked for its own version, what is installed for it, and its environment.

Standard library, on either side: the question is a few lines that any Python can answer.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, field
from pathlib import Path
from typing import Any

from lastro import strictjson
from lastro.errors import LastroError
from lastro.locale import _
from lastro.procs.child import run_with_deadline
from lastro.records import dataclass

#: A Python that has not come up by then has no answer; the step that judges it has little more.
_SECONDS = 8.0
_PYTHON = re.compile(r"python(?:[0-9.]*)(?:\.exe)?")
_ASK = """
import importlib.metadata as metadata, json, os, platform, sys
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
asked, variables = sys.argv[1].split(), sys.argv[2].split()
named = [(name(one).lower().replace("_", "-"), one.version) for one in metadata.distributions()]
installed = {name: version for name, version in reversed(named) if name}
print(json.dumps({"python": platform.python_version(), "packages": {n: version(n) for n in asked},
    "implementation": platform.python_implementation(), "installed": installed,
    "architecture": platform.machine(),
    "environment": {n: os.environ[n] for n in variables if n in os.environ}}))
"""


@dataclass(frozen=True, kw_only=True)
class Versions:
    """What is installed for one Python. `python` None: it could not be asked, and `reason` says why.

    `packages`: those that were asked for; None: not installed. `installed`: all of them, in small letters.
    `architecture`: of its processor. `environment`: of the variables that were asked for, those that are set.
    """

    path: str | None = None
    python: str | None = None
    packages: Mapping[str, str | None] = field(default_factory=dict)
    reason: str | None = None
    implementation: str | None = None
    installed: Mapping[str, str] = field(default_factory=dict)
    architecture: str | None = None
    environment: Mapping[str, str] = field(default_factory=dict)

    def as_json(self) -> dict[str, Any]:
        return asdict(self)


def is_python(word: str) -> bool:
    """Say whether the first word of a command names a Python."""
    return bool(_PYTHON.fullmatch(Path(word).name))


def ask(
    program: str,
    packages: Iterable[str],
    *,
    cwd: Path,
    environment: Mapping[str, str],
    before: Sequence[str] = (),
    variables: Iterable[str] = (),
    reason: str | None = None,
) -> Versions:
    """Ask one Python.

    Args:
        program: which; as `before` finds it.
        packages: whose versions are asked for by name.
        cwd: where it starts, as the job would: what lies there can be imported.
        environment: of the process.
        before: words that stand before the command, such as a shell that logs in.
        variables: of its environment, that are asked for by name.
        reason: why this Python is asked and not the job's own; None: it is the job's own.
    """
    # -P and -I are not used: what stands on the user's PYTHONPATH is there for the job as well.
    command = [*before, program, "-c", _ASK, " ".join(packages), " ".join(variables)]
    try:
        done = run_with_deadline(command, seconds=_SECONDS, cwd=cwd, env=environment)
        answer = strictjson.loads(done.out.strip().splitlines()[-1]) if done.code == 0 else None
    except (LastroError, ValueError, IndexError) as error:
        return Versions(path=program, reason=str(error))
    if not isinstance(answer, dict):
        last = (done.err.strip().splitlines() or [_("it said nothing")])[-1]
        return Versions(
            path=program, reason=_("{program} did not answer: {why}").format(program=program, why=last)
        )
    return Versions(path=program, reason=reason, **answer)

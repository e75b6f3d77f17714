"""What a machine tells of itself before it is trusted: its stack, the job's Python, its cards, its limits.

Facts only; what they mean is judged at home, which knows the campaign. Standard library only.
"""

from __future__ import annotations

import os
import platform
import resource
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from lastro.locale import _
from lastro.stack import capture
from lastro.stack.driver import ask_driver
from lastro.stack.smi import ask_smi
from lastro.stack.versions import Versions, ask, is_python


def tell(
    command: Sequence[str],
    packages: Sequence[str],
    variables: Sequence[str],
    *,
    disk: Path,
    before: Sequence[str],
    environment: Mapping[str, str],
) -> dict[str, Any]:
    """Return the facts.

    Args:
        command: the job's.
        packages: whose versions are asked for by name.
        variables: of the job's environment, that are asked for by name.
        disk: where everything of value will be kept.
        before: words that give a command the environment of the job.
        environment: in which they are carried out.
    """
    home = Path.home()
    driver = ask_driver()
    if not driver.is_covered:  # mostly: nobody has installed NVIDIA's library for this Python
        driver = ask_smi(before, cwd=home, environment=environment) or driver
    room = os.statvfs(disk)
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    return {
        "stack": capture(packages, driver).as_json(),
        "driver": driver.as_json(),
        "versions": _versions(command, packages, variables, home, before, environment).as_json(),
        "architecture": platform.machine(),
        "free": room.f_bavail * room.f_frsize,
        "names_free": room.f_favail if room.f_files else None,
        "open_files": [soft, hard],
    }


def _versions(
    command: Sequence[str],
    packages: Sequence[str],
    variables: Sequence[str],
    home: Path,
    before: Sequence[str],
    environment: Mapping[str, str],
) -> Versions:
    """Ask the Python that the command starts; one that comes with the code is not there yet."""
    given: dict[str, Any] = {"cwd": home, "environment": environment, "variables": variables}
    word = command[0]
    if not is_python(word):
        reason = _("{program} is no Python; `python` was asked").format(program=Path(word).name)
        return ask("python", packages, before=before, reason=reason, **given)
    if "/" in word and not Path(word).is_absolute():
        return Versions(path=word, reason=_("{program} is not there yet").format(program=word))
    return ask(word, packages, before=before, **given)

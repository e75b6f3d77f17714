"""What a terminal on a machine starts, and in which environment. Pure, but for looking a program up."""

from __future__ import annotations

import os
import pwd
import shlex
import shutil
from collections.abc import Mapping
from pathlib import Path

from lastro.disk.caches.point import point
from lastro.paths import Disk, ShellFolder
from lastro.rules.shell import ShellOrder

#: Inherited by everything that a shell starts.
SHELL = "LASTRO_SHELL"


def environment_of(order: ShellOrder, base: Mapping[str, str], disk: Disk) -> dict[str, str]:
    """Return the environment of a shell.

    `base`, in which the machine's own names stand, with the caches on the disk as `lastro disk env` points
    them (what is set already is left so), and the job's Python first in PATH.
    """
    given = {**base, **order.environment, SHELL: order.token}
    folder = python_folder(order, given)
    path = given.get("PATH", os.defpath)
    if folder is not None:
        rest = [part for part in path.split(os.pathsep) if part and part != folder]
        path = os.pathsep.join([folder, *rest])
    return {**given, **point(disk, given).variables, "PATH": path}


def python_folder(order: ShellOrder, environment: Mapping[str, str]) -> str | None:
    """Return the folder of the Python that the job is started with; None where it is not there yet."""
    word = order.python or "python"
    if "/" in word:
        path = Path(order.workdir, word)
        return str(path.parent) if path.exists() else None
    found = shutil.which(word, path=environment.get("PATH"))
    return None if found is None else str(Path(found).parent)


def words_of(order: ShellOrder, environment: Mapping[str, str], folder: ShellFolder) -> list[str]:
    """Return what is started: the command that was given, else the user's own shell."""
    if order.command is not None:
        return list(order.command)
    named = environment.get("SHELL") or pwd.getpwuid(os.getuid()).pw_shell
    shell = shutil.which(named, path=environment.get("PATH")) or "/bin/sh"
    if Path(shell).name == "bash":
        return [shell, "--rcfile", str(folder.start_file), "-i"]
    return [shell, "-i"]


def start_file(order: ShellOrder, environment: Mapping[str, str]) -> str:
    """Return what an interactive bash reads: the user's own file, which may put another Python in front."""
    folder = python_folder(order, environment)
    lines = ["[ -f ~/.bashrc ] && . ~/.bashrc"]
    if folder is not None:
        lines.append(f'PATH={shlex.quote(folder)}:"$PATH"')
    lines.append(f'PS1={shlex.quote(f"({order.machine}) ")}"$PS1"')
    return "\n".join(lines) + "\n"

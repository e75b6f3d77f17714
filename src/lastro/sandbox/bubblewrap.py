"""bubblewrap (bwrap): whether a jail of some kind can be had, and the words that jails are made of."""

from __future__ import annotations

import shutil
import subprocess
from functools import cache
from pathlib import Path

from lastro.locale import _

TOOL = "bwrap"
_PROBE_SECONDS = 20.0


def why_not(*arguments: str) -> str | None:
    """Return why a jail with these arguments cannot be had here; None when it can.

    It is tried, once for each bwrap: whether the kernel and a container allow it nobody can tell beforehand.
    """
    tool = shutil.which(TOOL)
    if tool is None:
        return _("bubblewrap (bwrap) is not installed")
    return _tried(tool, arguments)


@cache
def _tried(tool: str, arguments: tuple[str, ...]) -> str | None:
    try:
        done = subprocess.run(
            [tool, *arguments, "true"],
            capture_output=True,
            text=True,
            timeout=_PROBE_SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return str(error)
    return None if done.returncode == 0 else done.stderr.strip() or _("bwrap failed")


def read_only(*paths: Path | str) -> list[str]:
    """Return the words that show each path inside at its own place, read-only."""
    return [word for path in paths for word in ("--ro-bind", str(path), str(path))]


def writable(*paths: Path | str) -> list[str]:
    """Return the words that show each path inside at its own place."""
    return [word for path in paths for word in ("--bind", str(path), str(path))]

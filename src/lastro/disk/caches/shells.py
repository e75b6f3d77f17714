"""Variables as a shell reads them. Pure."""

from __future__ import annotations

import shlex
from collections.abc import Mapping

SHELLS = ("sh", "fish")


def lines_for(shell: str, variables: Mapping[str, str]) -> list[str]:
    """Return one line for each variable that sets and exports it in that shell (`sh` is bash and zsh too)."""
    if shell == "fish":
        return [f"set -gx {name} {_fish(value)}" for name, value in variables.items()]
    return [f"export {name}={shlex.quote(value)}" for name, value in variables.items()]


def _fish(value: str) -> str:
    r"""Return a value in single quotes, in which fish takes `\\` and `\'` for what they quote only."""
    escaped = value.replace("\\", "\\\\").replace("'", "\\'")
    return f"'{escaped}'"

"""How paths and patterns are spelled for a shell. Pure."""

from __future__ import annotations

import re
from pathlib import PurePosixPath

#: What a pattern needs, and what stands for itself.
_BARE = re.compile(r"[A-Za-z0-9_./*?\[\]!,+@%=:-]")


def quoted(text: str) -> str:
    """Return a text inside double quotes, without them."""
    return re.sub(r'([\\"$`])', r"\\\1", text)


def pattern(text: str) -> str:
    """Return a pattern that a shell expands: all but its wildcards stands for itself."""
    return "".join(character if _BARE.match(character) else f"\\{character}" for character in text)


def below(path: str, variable: str) -> str:
    """Return a path of the campaign file inside double quotes; a relative one begins at `variable`."""
    if path.startswith("/"):
        return quoted(path)
    if path == "~" or path.startswith("~/"):
        return "$HOME" + quoted(path[1:])
    return f"${variable}/{quoted(PurePosixPath(path).as_posix())}"

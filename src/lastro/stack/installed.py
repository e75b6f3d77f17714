"""Versions of installed packages, read from the folders that installers leave.

`importlib.metadata` says the same, and to import it (with mail, CSV and archives) takes as long as all that a
supervisor or an agent is made of: a machine would begin later by that.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterable
from functools import cache

_SEPARATORS = re.compile(r"[-_.]+")
#: What an installer calls its folder, and the file in it that tells the version.
_KINDS = {"dist-info": "METADATA", "egg-info": "PKG-INFO"}


def version_of(package: str, places: Iterable[str] | None = None) -> str | None:
    """Return the version of a package that this Python would import first; None where none is installed.

    Args:
        package: its name, in any of the spellings that stand for the same one (PEP 503).
        places: folders to look in, in order; None: those that Python imports from.
    """
    wanted = _normal(package)
    for place in sys.path if places is None else places:
        folder = _installed(place or ".").get(wanted)
        if folder is not None and (version := _told(folder)) is not None:
            return version
    return None


@cache
def _installed(place: str) -> dict[str, str]:
    """Return the folders (or files) of what is installed in a place, by normal name."""
    found: dict[str, str] = {}
    try:
        names = sorted(os.listdir(place))  # noqa: PTH208 - names are enough
    except OSError:
        return {}
    for name in names:
        stem, _dot, kind = name.rpartition(".")
        if kind in _KINDS:
            found.setdefault(_normal(stem.partition("-")[0]), f"{place}/{name}")
    return found


def _told(folder: str) -> str | None:
    """Return the version in a package's own description; an egg's may be the file itself."""
    kind = _KINDS[folder.rpartition(".")[2]]
    for path in (f"{folder}/{kind}", folder):
        try:
            with open(path, encoding="utf-8", errors="replace") as file:  # noqa: PTH123 - a listing's string
                for line in file:
                    if line.startswith("Version:"):
                        return line.partition(":")[2].strip()
                    if not line.strip():
                        break
        except OSError:
            continue
    return None


def _normal(name: str) -> str:
    return _SEPARATORS.sub("-", name).lower()

"""Word from the machine that it will be taken away.

The local provider's machine writes it to the file that `LASTRO_NOTICE` names, as a cloud's metadata
service would say it.
"""

from __future__ import annotations

import os
from pathlib import Path

from lastro import strictjson
from lastro.errors import StorageError


def read_notice() -> float | None:
    """Return the seconds that a notice leaves, counted from when it was given; None without a notice."""
    named = os.environ.get("LASTRO_NOTICE")
    if not named:
        return None
    try:
        return float(strictjson.read(Path(named))["in_seconds"])
    except (FileNotFoundError, StorageError, KeyError, TypeError, ValueError):
        return None

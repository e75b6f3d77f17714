"""Which disk was at a path when it was used last, kept by home: an empty place is no new one."""

from __future__ import annotations

import hashlib
import os
from dataclasses import asdict
from pathlib import Path

from lastro import atomic, strictjson
from lastro.disk.verdict import Expected
from lastro.errors import StorageError
from lastro.paths import Home


def _record(home: Home, path: Path) -> Path:
    place = os.fsencode(os.path.realpath(path))
    return home.disk_seen_at(hashlib.sha256(place).hexdigest()[:16])


def expected_at(home: Home, path: Path) -> Expected | None:
    """Return what is expected at a path; None where nothing was seen, or the record cannot be read."""
    try:
        value = strictjson.read(_record(home, path))
        return Expected(**{key: str(value[key]) for key in ("uuid", "point", "source", "fs_type")})
    except (OSError, StorageError, KeyError, TypeError):
        return None


def expect(home: Home, path: Path, seen: Expected) -> None:
    """Keep what was seen at a path. Raises OSError when home cannot be written."""
    record = _record(home, path)
    atomic.make_folder(record.parent)
    atomic.write_text(record, strictjson.pretty({"path": os.path.realpath(path), **asdict(seen)}))

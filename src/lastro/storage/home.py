"""The id of a home, and reading the records that home keeps."""

from __future__ import annotations

import secrets
from pathlib import Path
from typing import Any

from lastro import atomic, strictjson
from lastro.errors import StorageError
from lastro.locale import _
from lastro.paths import Home


def home_id(home: Home) -> str:
    """Return the id of this home, made once."""
    atomic.make_folder(home.root)
    if not home.identity.exists():
        atomic.claim(home.identity, strictjson.pretty({"id": secrets.token_hex(4)}).encode())
    return str(read_record(home.identity)["id"])


def read_record(path: Path, *keys: str) -> dict[str, Any]:
    """Return a record of home.

    Raises:
        StorageError: it lacks one of these keys (by default `id`), or is no JSON.
    """
    value = strictjson.read(path)
    if not isinstance(value, dict) or not value.keys() >= set(keys or ("id",)):
        raise StorageError(
            _("{path} is not the record that lastro writes").format(path=path),
            hint=_("it was changed by something else; restore it from a copy"),
        )
    return value

"""A cache of what home's journals were folded into. Never the truth: without it the answers are the same.

SQLite with a rollback journal and one connection. A row is believed only when it was made from the streams as
they are now, and carries the sum of all that it holds: a page that belongs to another file is noticed too.
Whatever is wrong with the file, its reader goes on without, and the next one that may write begins it anew.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import sqlite3
from collections.abc import Iterator, Mapping
from pathlib import Path

#: Of the table below and of the documents in it. Another one is begun anew.
VERSION = 1
_TABLE = "CREATE TABLE IF NOT EXISTS folded (key TEXT PRIMARY KEY, made_from TEXT, document TEXT, sum TEXT)"
#: Another process writes for milliseconds; who cannot wait that long folds the journals himself.
_PATIENCE_SECONDS = 0.2


def read_index(path: Path) -> dict[str, tuple[str, str]]:
    """Return (made from, document) by key; nothing where the index cannot be read or believed."""
    if not path.exists():
        return {}
    with contextlib.suppress(sqlite3.Error, UnicodeError, TypeError), _connected(path, "ro") as connection:
        if connection.execute("PRAGMA user_version").fetchone() == (VERSION,):
            rows = connection.execute("SELECT key, made_from, document, sum FROM folded").fetchall()
            return {row[0]: (row[1], row[2]) for row in rows if row[3] == _sum(*row[:3])}
    return {}


def write_index(path: Path, rows: Mapping[str, tuple[str, str]]) -> bool:
    """Make the index hold exactly these rows; say whether it does. One that cannot be written stays away."""
    try:
        _write(path, rows)
    except sqlite3.OperationalError:  # locked by another process, or on a disk that is full or read-only
        return False
    except sqlite3.DatabaseError:  # no database, or a damaged one
        with contextlib.suppress(OSError, sqlite3.Error):
            for file in (path, path.with_name(path.name + "-journal")):
                file.unlink(missing_ok=True)
            _write(path, rows)
            return True
        return False
    return True


def _write(path: Path, rows: Mapping[str, tuple[str, str]]) -> None:
    with _connected(path, "rwc") as connection:
        connection.execute("PRAGMA journal_mode = DELETE")
        connection.execute("BEGIN IMMEDIATE")
        if connection.execute("PRAGMA user_version").fetchone() != (VERSION,):
            connection.execute("DROP TABLE IF EXISTS folded")
            connection.execute(f"PRAGMA user_version = {VERSION}")
        connection.execute(_TABLE)
        connection.execute("DELETE FROM folded")
        connection.executemany(
            "INSERT INTO folded VALUES (?, ?, ?, ?)",
            [(key, *row, _sum(key, *row)) for key, row in sorted(rows.items())],
        )
        connection.execute("COMMIT")


@contextlib.contextmanager
def _connected(path: Path, mode: str) -> Iterator[sqlite3.Connection]:
    # As a URI, so that reading creates no file.
    address = f"{path.absolute().as_uri()}?mode={mode}"
    connection = sqlite3.connect(address, timeout=_PATIENCE_SECONDS, isolation_level=None, uri=True)
    try:
        yield connection
    finally:
        connection.close()


def _sum(*parts: str) -> str:
    """Return a digest of texts in which no part can take letters from its neighbour."""
    joined = "".join(f"{len(part)}:{part}" for part in parts)
    return hashlib.sha256(joined.encode("utf-8", "surrogatepass")).hexdigest()


def made_from(folders: tuple[Path, ...], *beside: str) -> str:
    """Return what a row stands for: the ends of all streams in these folders, and what else it depends on.

    The last line of a stream holds the digest of the one before it, so the end stands for all of it. A stream
    that was changed in place, at the same length, is for `lastro journal verify`.
    """
    found = hashlib.sha256("\0".join((str(VERSION), *beside)).encode())
    for folder in folders:
        for path in sorted(folder.glob("*.jsonl")):
            found.update(f"\0{path.name}\0{_end(path)}".encode())
        found.update(b"\0\0")
    return found.hexdigest()


def _end(path: Path) -> str:
    with path.open("rb") as stream:
        size = stream.seek(0, os.SEEK_END)
        stream.seek(max(0, size - 4096))
        return f"{size}-{hashlib.sha256(stream.read()).hexdigest()}"

"""The one durable order of a write.

Write aside in the same folder, check the length, fsync, rename, fsync the folder. After a return the
bytes are on the disk under their name; after a crash at any point either the old file or the new one
is there, whole. A half-written neighbour has a name that starts with `.tmp-` and means nothing.
"""

from __future__ import annotations

import contextlib
import errno
import os
import secrets
from collections.abc import Iterator
from pathlib import Path

from lastro.errors import StorageError
from lastro.locale import _

TEMPORARY = ".tmp-"

_FULL = frozenset({errno.ENOSPC, errno.EDQUOT})


def is_full(error: BaseException | None) -> bool:
    """Tell whether an error says that there is no room left, or that a quota is used up."""
    return isinstance(error, OSError) and error.errno in _FULL


def _aside(path: Path) -> Path:
    return path.with_name(f"{TEMPORARY}{path.name}-{secrets.token_hex(6)}")


def sync_folder(folder: Path) -> None:
    """Make the names inside `folder` durable."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def sync_file(path: Path) -> None:
    """Make the bytes of a file durable that somebody else wrote."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def make_folder(folder: Path) -> Path:
    """Create `folder` and its parents, durably; one that is there is left alone. Returns it."""
    missing = []
    here = folder
    while not here.is_dir():
        missing.append(here)
        here = here.parent
    for path in reversed(missing):
        with contextlib.suppress(FileExistsError):
            path.mkdir()
        sync_folder(path.parent)
    return folder


def _write_aside(path: Path, data: bytes) -> Path:
    """Write a durable file beside `path`; nothing is left behind when that fails."""
    aside = _aside(path)
    try:
        with aside.open("xb") as file:
            file.write(data)
            file.flush()
            if os.fstat(file.fileno()).st_size != len(data):
                raise StorageError(
                    _("only a part of {count} bytes reached {path}").format(count=len(data), path=path),
                    hint=_("check the disk; nothing was published"),
                )
            os.fsync(file.fileno())
    except BaseException:
        aside.unlink(missing_ok=True)
        raise
    return aside


def write_bytes(path: Path, data: bytes) -> None:
    """Publish `data` under `path`, replacing what was there, durably and whole or not at all."""
    aside = _write_aside(path, data)
    try:
        aside.replace(path)
    except BaseException:
        aside.unlink(missing_ok=True)
        raise
    sync_folder(path.parent)


def write_text(path: Path, text: str) -> None:
    """Publish text in UTF-8; see `write_bytes`."""
    write_bytes(path, text.encode())


def claim(path: Path, data: bytes) -> bool:
    """Publish `data` under `path` only if nobody has: True for exactly one of any number of callers.

    An atomic link, since `O_EXCL` would show an empty file to a reader that comes too early.
    """
    aside = _write_aside(path, data)
    try:
        os.link(aside, path)
    except FileExistsError:
        return False
    finally:
        aside.unlink(missing_ok=True)
    sync_folder(path.parent)
    return True


@contextlib.contextmanager
def publish_folder(final: Path) -> Iterator[Path]:
    """Give a temporary folder beside `final`; on success make every file durable and rename it.

    Raises:
        FileExistsError: `final` is already published. What is published is never rewritten.
    """
    if final.exists():
        raise FileExistsError(final)
    aside = _aside(final)
    aside.mkdir(parents=True)
    try:
        yield aside
        for folder, _folders, files in os.walk(aside):
            for name in files:
                sync_file(Path(folder, name))
            sync_folder(Path(folder))
        aside.rename(final)
    except BaseException:
        remove_tree(aside)
        raise
    sync_folder(final.parent)


@contextlib.contextmanager
def publish_file(final: Path) -> Iterator[Path]:
    """Give a path beside `final` to write to, with its suffix; on success put it in `final`'s place, durably.

    For files that something else writes. What was under `final` is replaced whole or not at all.

    Raises:
        StorageError: nothing was written to the path that was given.
    """
    aside = final.with_name(f"{TEMPORARY}{secrets.token_hex(6)}-{final.name}")
    try:
        yield aside
        if not aside.is_file():
            raise StorageError(
                _("nothing was written to {path}, so {name} is not published").format(
                    path=aside, name=final.name
                ),
                hint=_("write one file to the path that the block is given"),
            )
        sync_file(aside)
        aside.replace(final)
    except BaseException:
        if aside.is_dir():
            remove_tree(aside)
        aside.unlink(missing_ok=True)
        raise
    sync_folder(final.parent)


def remove_tree(folder: Path) -> None:
    """Remove a folder and all in it. One that is not there is not an error; links are not followed."""
    import shutil

    with contextlib.suppress(FileNotFoundError):
        shutil.rmtree(folder)


def withdraw_folder(folder: Path) -> None:
    """Remove a published folder so that a crash in the middle never leaves a half one under its name."""
    aside = _aside(folder)
    with contextlib.suppress(FileNotFoundError):
        folder.rename(aside)
        sync_folder(folder.parent)
    remove_tree(aside)

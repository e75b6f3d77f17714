"""The one durable order of a write.

Write aside in the same folder, check the length, fsync, rename, fsync the folder. After a return the
bytes are on the disk under their name; after a crash at any point either the old file or the new one
is there, whole. A half-written neighbour has a name that starts with `.tmp-` and means nothing.
"""

from __future__ import annotations

import contextlib
import errno
import os
import re
import secrets
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from lastro.errors import StorageError
from lastro.locale import _

TEMPORARY = ".tmp-"
_ASIDE = re.compile(r"\.tmp-(.+-[0-9a-f]{12}|[0-9a-f]{12}-.+)", re.DOTALL)
#: From so many files on, one `syncfs` is taken instead of an fsync for each.
MANY = 8
#: File systems of the kernel for which `syncfs` does what fsync of each file would.
_HEED_SYNCFS = frozenset({"btrfs", "ext2", "ext3", "ext4", "f2fs", "overlay", "tmpfs", "xfs"})

_FULL = frozenset({errno.ENOSPC, errno.EDQUOT})


def is_full(error: BaseException | None) -> bool:
    """Tell whether an error says that there is no room left, or that a quota is used up."""
    return isinstance(error, OSError) and error.errno in _FULL


def is_aside(name: str) -> bool:
    """Tell whether a file's name is one that something is written under here, which a kill may have left."""
    return _ASIDE.fullmatch(name) is not None


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
def publish_folder(final: Path, last_check: Callable[[], None] | None = None) -> Iterator[Path]:
    """Give a temporary folder beside `final`; on success make every file durable and rename it.

    `last_check` is called when nothing is left to do but the rename: what it raises prevents it.

    Raises:
        FileExistsError: `final` is already published. What is published is never rewritten.
    """
    if final.exists():
        raise FileExistsError(final)
    aside = _aside(final)
    aside.mkdir(parents=True)
    try:
        yield aside
        _sync_all(aside)
        if last_check is not None:
            last_check()
        aside.rename(final)
    except BaseException:
        remove_tree(aside)
        raise
    sync_folder(final.parent)


@contextlib.contextmanager
def publish_file(final: Path, last_check: Callable[[], None] | None = None) -> Iterator[Path]:
    """Give a path beside `final` to write to, with its suffix; on success put it in `final`'s place, durably.

    For files that something else writes. What was under `final` is replaced whole or not at all.
    `last_check` is called when nothing is left to do but the rename: what it raises prevents it.

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
        if last_check is not None:
            last_check()
        aside.replace(final)
    except BaseException:
        if aside.is_dir():
            remove_tree(aside)
        aside.unlink(missing_ok=True)
        raise
    sync_folder(final.parent)


def publish_many(pairs: Sequence[tuple[Path, Path]]) -> None:
    """Put files and folders that somebody else wrote under their final names, durable at the price of one.

    All bytes are durable before the first of them gets its name. What was under a final name is replaced.

    Args:
        pairs: (where it was written, final name), both in the same folder.
    """
    if not pairs:
        return
    if len(pairs) < MANY or not _sync_file_system(pairs[0][0].parent):
        for aside, _final in pairs:
            _sync_all(aside)
    for aside, final in pairs:
        if final.is_dir() and not final.is_symlink():
            withdraw_folder(final)
        elif aside.is_dir():
            final.unlink(missing_ok=True)
        aside.replace(final)
    for folder in dict.fromkeys(final.parent for _aside, final in pairs):
        sync_folder(folder)


def _sync_all(path: Path) -> None:
    """Make a file, or a folder with everything in it, durable."""
    if not path.is_dir():
        sync_file(path)
        return
    for folder, _folders, files in os.walk(path):
        for name in files:
            sync_file(Path(folder, name))
        sync_folder(Path(folder))


def _sync_file_system(folder: Path) -> bool:
    """Make everything on a folder's file system durable by one call; False where that is not known to work.

    Waits for what others wrote there too. A FUSE file system need not hear of the call at all, so only those
    that are known to heed it are asked.
    """
    if _file_system(folder.stat().st_dev) not in _HEED_SYNCFS:
        return False
    import ctypes

    syncfs = getattr(ctypes.CDLL(None, use_errno=True), "syncfs", None)
    if syncfs is None:
        return False
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        if syncfs(descriptor) != 0:
            number = ctypes.get_errno()
            raise OSError(number, os.strerror(number), str(folder))
    finally:
        os.close(descriptor)
    return True


def _file_system(device: int) -> str:
    """Return the type of the file system with this device number; "" when that is not told."""
    number = f"{os.major(device)}:{os.minor(device)}"
    with contextlib.suppress(OSError):
        for line in Path("/proc/self/mountinfo").read_text().splitlines():
            fields = line.split()
            if fields[2] == number:
                return fields[fields.index("-") + 1]
    return ""


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

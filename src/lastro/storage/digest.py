"""SHA-256 of files and of folders, read in pieces."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from lastro.errors import StorageError
from lastro.locale import _

_PIECE = 1 << 20


def sha256_file(path: Path) -> str:
    """Return the SHA-256 of a file's bytes in hex; links are followed.

    Raises:
        FileNotFoundError: it is not there.
        StorageError: it cannot be read.
    """
    digest = hashlib.sha256()
    buffer = bytearray(_PIECE)
    view = memoryview(buffer)
    try:
        with path.open("rb", buffering=0) as file:
            while count := file.readinto(buffer):
                digest.update(view[:count])
    except FileNotFoundError:
        raise
    except OSError as error:
        raise StorageError(
            _("{path} cannot be read: {error}").format(path=path, error=error.strerror),
            hint=_("check its permissions and the disk"),
        ) from error
    return digest.hexdigest()


def sha256_each(paths: Sequence[Path]) -> list[str]:
    """Return the SHA-256 of each file in hex, in their order; as many at once as there are processors.

    One file keeps one processor busy, and a fast disk gives more than that can take.

    Raises: as `sha256_file`, for the first of them that cannot be read.
    """
    threads = min(len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else 1, len(paths))
    if threads < 2:
        return [sha256_file(path) for path in paths]
    from concurrent.futures import ThreadPoolExecutor  # only what reads many files loads it

    with ThreadPoolExecutor(threads) as pool:
        return list(pool.map(sha256_file, paths))


def sum_line(path: str, sha256: str) -> bytes:
    """Return one line as `sha256sum` prints it: a path with a backslash or a line break is escaped."""
    name = os.fsencode(path)
    escaped = name.replace(b"\\", b"\\\\").replace(b"\n", b"\\n").replace(b"\r", b"\\r")
    mark = b"\\" if escaped != name else b""
    return mark + sha256.encode() + b"  " + escaped + b"\n"


def digest_of_sums(sums: Iterable[tuple[str, str]]) -> str:
    """Return the SHA-256 over the sorted lines of (relative POSIX path, SHA-256)."""
    digest = hashlib.sha256()
    for path, sha256 in sorted(sums, key=lambda item: os.fsencode(item[0])):
        digest.update(sum_line(path, sha256))
    return digest.hexdigest()


def files_below(folder: Path) -> Iterator[str]:
    """Yield every file below a folder as a relative POSIX path, in no order; links are followed once.

    Raises:
        StorageError: a folder cannot be listed, a link leads nowhere, or into a folder around it.
    """
    yield from _files(folder, "", (folder.resolve(),))


def _files(folder: Path, prefix: str, around: tuple[Path, ...]) -> Iterator[str]:
    try:
        entries = list(os.scandir(folder))
    except OSError as error:
        raise StorageError(
            _("{folder} cannot be listed: {error}").format(folder=folder, error=error.strerror),
            hint=_("check its permissions and the disk"),
        ) from error
    for entry in entries:
        name = f"{prefix}{entry.name}"
        if entry.is_dir():
            inner = Path(entry.path)
            real = inner.resolve()
            if real in around:
                raise StorageError(
                    _("{path} is a link to a folder around it").format(path=entry.path),
                    hint=_("remove the link"),
                )
            yield from _files(inner, f"{name}/", (*around, real))
        elif entry.is_file():
            yield name
        elif entry.is_symlink():
            raise StorageError(
                _("{path} is a link that leads nowhere").format(path=entry.path),
                hint=_("remove the link, or put its target back"),
            )


def digest_of(path: Path) -> str:
    """Return the SHA-256 of a file, or of a folder: the digest over the sums of all its files.

    Raises:
        StorageError: neither is there, or something in it cannot be read.
    """
    try:
        if path.is_dir():
            names = list(files_below(path))
            return digest_of_sums(zip(names, sha256_each([path / name for name in names]), strict=True))
        return sha256_file(path)
    except FileNotFoundError as error:
        raise StorageError(
            _("{path} is not there").format(path=error.filename or path),
            hint=_("check the path, and that the disk is attached"),
        ) from error

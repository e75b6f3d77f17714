"""The code of a campaign: which files it is, its digest, and an archive that any `tar` unpacks.

The exact rule and how to get the digest with `sha256sum` are published in docs/run-id.md.
"""

from __future__ import annotations

import contextlib
import hashlib
import io
import os
import stat
import subprocess
import tarfile
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path, PurePosixPath

from lastro import atomic
from lastro.errors import StorageError
from lastro.locale import _
from lastro.records import dataclass
from lastro.storage.digest import digest_of_sums, sha256_file
from lastro.storage.ignore import NAME, NOTHING, Ignored, read_ignored
from lastro.units import show_bytes

#: Folders that tools make for themselves. They are never code, tracked or not.
CACHES = frozenset(
    {
        *(".git", ".hg", ".svn", ".venv", ".tox", ".nox", ".cache", ".direnv", ".eggs", ".idea", ".vscode"),
        *(".ipynb_checkpoints", ".mypy_cache", ".pytest_cache", ".ruff_cache", ".hypothesis"),
        *("__pycache__", "node_modules", "lastro-disk", "lastro-run"),
    }
)
#: More code than this is probably data that lies beside it.
LARGE_BYTES = 100 * 10**6
#: A folder without git that holds more than one of these is not read as a whole without being asked.
HUGE_FILES, HUGE_BYTES = 20_000, 10**9
_GIT_SECONDS = 60


@dataclass(frozen=True)
class GitIdentity:
    """Where the code stands in its repository: recorded for people, not part of any digest.

    `diff_digest`: SHA-256 of `git diff --binary HEAD` of the folder; None without changes or a commit.
    """

    commit: str | None
    diff_digest: str | None
    dirty: bool

    def as_json(self) -> dict[str, object]:
        return {"commit": self.commit, "diff_digest": self.diff_digest, "dirty": self.dirty}


def code_files(folder: Path, excludes: Iterable[str] = (), only: Iterable[str] | None = None) -> list[str]:
    """Return what belongs to the code, as sorted POSIX paths relative to `folder`.

    Args:
        folder: the folder of the campaign file.
        excludes: relative POSIX paths of files and folders that are not code.
        only: the files that are the code, as far as they are there; None: all that neither git nor
            `.lastroignore` leaves out.

    Raises:
        StorageError: git refuses to list the folder, or a symbolic link leaves it.
    """
    left_out = [PurePosixPath(name) for name in excludes]
    names = set(_names(folder) if only is None else only)
    kept = sorted((name for name in names if _is_code(name, left_out)), key=os.fsencode)
    return [name for name in kept if _usable(folder, name)]


def folder_names(folder: Path) -> list[str]:
    """Return the names of all files that could be code, links and all. Raises StorageError."""
    return [name for name in _names(folder) if _is_code(name, ())]


def _names(folder: Path) -> list[str]:
    """Return the names of what neither git nor the folder's own file leaves out."""
    found, ignored = _git_files(folder), read_ignored(folder)
    if found is None:
        return list(_walk(folder, "", ignored))
    return [name for name in found if not ignored.file(name)]


def is_huge(folder: Path) -> bool:
    """Say whether a folder without git holds so much that most of it cannot be code; stops at the limit."""
    if _git_files(folder) is not None:
        return False
    total = 0
    for count, name in enumerate(_walk(folder, "", read_ignored(folder)), start=1):
        with contextlib.suppress(OSError):
            total += (folder / name).lstat().st_size
        if count > HUGE_FILES or total > HUGE_BYTES:
            return True
    return False


def _is_code(name: str, left_out: Sequence[PurePosixPath]) -> bool:
    path = PurePosixPath(name)
    if name == NAME or name.endswith(".pyc") or any(part in CACHES for part in path.parts):
        return False
    if atomic.is_aside(path.name):
        return False  # lastro itself was killed while it wrote it
    return all(path != other and other not in path.parents for other in left_out)


def _usable(folder: Path, name: str) -> bool:
    """Say whether a name is a file or an inner link; what is gone, a pipe, a socket is neither."""
    path = folder / name
    try:
        mode = path.lstat().st_mode
    except FileNotFoundError:
        return False
    if not stat.S_ISLNK(mode):
        return stat.S_ISREG(mode)
    target = str(path.readlink())
    if not _stays_inside(name, target):
        raise StorageError(
            _("the link {name} leaves the code folder (to {target})").format(name=name, target=target),
            hint=_(
                "put the file itself there, leave the link out in .lastroignore, or name it as the corpus"
            ),
        )
    return True


def _stays_inside(name: str, target: str) -> bool:
    """Say whether a link's target, read from where the link is, lies in the same folder as a whole."""
    joined = os.path.normpath(PurePosixPath(name).parent / target)
    return not (PurePosixPath(target).is_absolute() or joined == ".." or joined.startswith("../"))


def _walk(folder: Path, prefix: str, ignored: Ignored = NOTHING) -> Iterator[str]:
    try:
        entries = list(os.scandir(folder))
    except OSError as error:
        raise StorageError(
            _("{folder} cannot be listed: {error}").format(folder=folder, error=error.strerror),
            hint=_("check its permissions, or ignore it in .gitignore or .lastroignore"),
        ) from error
    for entry in entries:
        name = f"{prefix}{entry.name}"
        if entry.is_dir(follow_symlinks=False):
            if entry.name not in CACHES and not ignored.folder(name):
                yield from _walk(Path(entry.path), f"{name}/", ignored)
        elif not ignored.file(name):
            yield name


# --- git ----------------------------------------------------------------------------------------------


def _git(folder: Path, *arguments: str) -> subprocess.CompletedProcess[bytes] | None:
    """Run git in a folder; None when there is no git. A caller's own repository is not in the way."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    environment["GIT_OPTIONAL_LOCKS"] = "0"
    command = ["git", "-C", str(folder), *arguments]
    try:
        return subprocess.run(
            command,
            capture_output=True,
            env=environment,
            stdin=subprocess.DEVNULL,
            timeout=_GIT_SECONDS,
            check=False,
        )
    except FileNotFoundError:
        return None
    except subprocess.TimeoutExpired as error:
        raise StorageError(
            _("git did not answer within {seconds} s in {folder}").format(
                seconds=_GIT_SECONDS, folder=folder
            ),
            hint=_("try `git status` there"),
        ) from error


def _has_repository(folder: Path) -> bool:
    return any((parent / ".git").exists() for parent in (folder, *folder.parents))


def _git_files(folder: Path) -> list[str] | None:
    """Return the tracked and the untracked files that git does not ignore; None where git says nothing."""
    folder = folder.resolve()
    if not _has_repository(folder):
        return None
    ignored = _git(folder, "check-ignore", "-q", ".")
    if ignored is None or ignored.returncode == 0:
        return None
    listed = _git(folder, "ls-files", "-z", "--cached", "--others", "--exclude-standard")
    if listed is None:
        return None
    if listed.returncode:
        raise StorageError(
            _("git cannot list {folder}: {error}").format(
                folder=folder, error=listed.stderr.decode(errors="replace").strip().splitlines()[:1]
            ),
            hint=_("without git's answer the code of a run has no certain identity; try `git status` there"),
        )
    names = []
    for name in map(os.fsdecode, filter(None, listed.stdout.split(b"\0"))):
        inner = folder / name
        if inner.is_dir() and not inner.is_symlink():  # a submodule, or another repository inside
            names += [f"{name.rstrip('/')}/{below}" for below in _inner_files(inner)]
        else:
            names.append(name)
    return names


def _inner_files(folder: Path) -> Iterable[str]:
    found = _git_files(folder) if (folder / ".git").exists() else None
    return _walk(folder, "") if found is None else found


def git_identity(folder: Path) -> GitIdentity | None:
    """Return where the code stands in its repository; None without git or a repository."""
    if not _has_repository(folder.resolve()):
        return None
    head = _git(folder, "rev-parse", "--verify", "-q", "HEAD")
    status = _git(folder, "status", "--porcelain", "--", ".")
    if head is None or status is None or status.returncode:
        return None
    commit = head.stdout.decode().strip() or None
    diff = _git(folder, "diff", "--binary", "HEAD", "--", ".") if commit else None
    changed = diff is not None and diff.returncode == 0 and diff.stdout
    return GitIdentity(
        commit=commit,
        diff_digest=hashlib.sha256(diff.stdout).hexdigest() if diff is not None and changed else None,
        dirty=bool(status.stdout.strip()),
    )


# --- digest and archive -------------------------------------------------------------------------------


def _sum_of(folder: Path, name: str) -> str:
    path = folder / name
    try:
        if path.is_symlink():
            return hashlib.sha256(os.fsencode(str(path.readlink()))).hexdigest()
        return sha256_file(path)
    except FileNotFoundError as error:
        raise _vanished(path) from error


def _vanished(path: Path) -> StorageError:
    return StorageError(
        _("{path} vanished while the code was being read").format(path=path),
        hint=_("let whatever changes the folder finish, and try again"),
    )


def code_digest(folder: Path, files: Iterable[str]) -> str:
    """Return the SHA-256 over the sorted lines of (path, SHA-256); a link counts as its target's text.

    Raises:
        StorageError: a file vanished or cannot be read.
    """
    return digest_of_sums((name, _sum_of(folder, name)) for name in files)


def code_sums(folder: Path, files: Iterable[str]) -> dict[str, str]:
    """Return the SHA-256 of each file of the code. Raises StorageError."""
    return {name: _sum_of(folder, name) for name in files}


def archive_sums(archive: Path) -> dict[str, str]:
    """Return the SHA-256 of each file in an archive of code.

    Raises:
        StorageError: the archive is damaged.
        FileNotFoundError: it is not there.
    """
    with tempfile.TemporaryDirectory() as folder:
        return code_sums(Path(folder), unpack(archive, Path(folder)))


def code_bytes(folder: Path, files: Iterable[str]) -> int:
    """Return the size of the code in bytes."""
    return sum((folder / name).lstat().st_size for name in files)


def size_warning(folder: Path, files: Sequence[str]) -> str | None:
    """Return a sentence when the code is so large that data probably lies in it; None when it is not."""
    total = code_bytes(folder, files)
    if total <= LARGE_BYTES:
        return None
    largest = max(files, key=lambda name: (folder / name).lstat().st_size)
    return _(
        "the code folder holds {size} in {count} files, the largest is {largest}; every run keeps a copy: "
        "ignore data in .gitignore or .lastroignore, or name it as the corpus"
    ).format(size=show_bytes(total), count=len(files), largest=largest)


def write_archive(folder: Path, files: Iterable[str], target: Path) -> str:
    """Publish the code as a POSIX tar that is the same for the same code; return its code digest.

    The digest is that of the bytes in the archive, so that an archive never lies about its name.

    Raises:
        StorageError: a file vanished, cannot be read, or changed its length while it was read.
    """
    atomic.make_folder(target.parent)
    with (
        atomic.publish_file(target) as aside,
        tarfile.open(
            aside, "w", format=tarfile.PAX_FORMAT, encoding="utf-8", errors="surrogateescape"
        ) as tar,
    ):
        sums = [(name, _add(tar, folder, name)) for name in sorted(files, key=os.fsencode)]
    return digest_of_sums(sums)


class _Hashing(io.RawIOBase):
    """A file whose bytes are hashed as they are read."""

    def __init__(self, file: io.BufferedReader) -> None:
        self._file = file
        self.sha256 = hashlib.sha256()

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        data = self._file.read(size)
        self.sha256.update(data)
        return data


def _add(tar: tarfile.TarFile, folder: Path, name: str) -> str:
    path = folder / name
    info = tarfile.TarInfo(name)
    try:
        if path.is_symlink():
            info.type, info.linkname, info.mode = tarfile.SYMTYPE, str(path.readlink()), 0o777
            tar.addfile(info)
            return hashlib.sha256(os.fsencode(info.linkname)).hexdigest()
        with path.open("rb") as file:
            found = os.fstat(file.fileno())
            info.size, info.mode = found.st_size, 0o755 if found.st_mode & 0o100 else 0o644
            hashing = _Hashing(file)
            tar.addfile(info, hashing)
            return hashing.sha256.hexdigest()
    except FileNotFoundError as error:
        raise _vanished(path) from error
    except OSError as error:
        raise StorageError(
            _("{path} cannot be packed: {error}").format(path=path, error=error.strerror or error),
            hint=_("let whatever changes it finish, check the disk, and try again"),
        ) from error


def unpack(archive: Path, target: Path) -> list[str]:
    """Unpack an archive of code into a folder; return the names. Nothing is written outside of it.

    Raises:
        StorageError: the archive is damaged, or a member is absolute, climbs out, passes through a link, or
            is neither a file, a folder nor a link inside.
    """
    atomic.make_folder(target)
    names = []
    try:
        with tarfile.open(archive, "r:", encoding="utf-8", errors="surrogateescape") as tar:
            for member in tar:
                _check_member(archive, target, member)
                _unpack_member(tar, target, member)
                if not member.isdir():
                    names.append(member.name)
    except (tarfile.TarError, EOFError) as error:
        raise StorageError(
            _("{archive} is no whole archive: {error}").format(archive=archive, error=error),
            hint=_("it was cut or changed; restore it from a copy of the disk"),
        ) from error
    return names


def _check_member(archive: Path, target: Path, member: tarfile.TarInfo) -> None:
    path = PurePosixPath(member.name)
    inside = not path.is_absolute() and ".." not in path.parts and path.parts
    kind = (
        member.isreg() or member.isdir() or (member.issym() and _stays_inside(member.name, member.linkname))
    )
    through = any((target / parent).is_symlink() for parent in path.parents)
    if not inside or not kind or through or (target / path).is_symlink():
        raise StorageError(
            _("{archive} holds {name!r}, which does not belong into an archive of code").format(
                archive=archive, name=member.name
            ),
            hint=_("lastro did not write this archive; do not use it"),
        )


def _unpack_member(tar: tarfile.TarFile, target: Path, member: tarfile.TarInfo) -> None:
    path = target / member.name
    if member.isdir():
        path.mkdir(parents=True, exist_ok=True)
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    if member.issym():
        path.symlink_to(member.linkname)
        return
    source = tar.extractfile(member)
    assert source is not None, "a regular member has content"
    with path.open("wb") as file:
        while piece := source.read(1 << 20):
            file.write(piece)
    path.chmod(0o755 if member.mode & 0o100 else 0o644)

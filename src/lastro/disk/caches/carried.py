"""Compiled kernels: kept on the machine, where thousands of small files are fast, and carried as one archive.

They fit one card, framework and driver only, so these are the archive's name.
"""

from __future__ import annotations

import hashlib
import os
import tarfile
from pathlib import Path

from lastro import atomic
from lastro.disk.guard.scan import Candidate, scan
from lastro.errors import StorageError
from lastro.locale import _
from lastro.paths import Disk
from lastro.records import dataclass
from lastro.stack import Stack, capture
from lastro.storage.digest import sha256_file
from lastro.units import show_bytes

#: Frameworks whose compiled kernels another version cannot use.
_FRAMEWORKS = ("torch", "triton", "jax", "jaxlib", "vllm", "numba")
#: More than this is no cache of kernels any more, and not worth to be written at each end.
LARGEST_BYTES = 8 * 10**9


@dataclass(frozen=True, kw_only=True)
class Carried:
    """What was carried. `files` 0: nothing was there. `why`: why it was not."""

    key: str
    files: int = 0
    bytes: int = 0
    why: str | None = None


def kernel_key(stack: Stack | None = None) -> str:
    """Return what compiled kernels depend on, as a name: cards, driver, frameworks, Python, processor."""
    seen = capture(_FRAMEWORKS) if stack is None else stack
    cards = sorted({gpu.name for gpu in seen.gpus or ()})
    parts = [
        "+".join(cards) or "no card",
        seen.gpu_driver or "no driver",
        *(f"{name} {seen.packages.get(name)}" for name in _FRAMEWORKS),
        seen.python.rpartition(".")[0],
        seen.cpu_model or "",
        os.uname().machine,
    ]
    card = "".join(each if each.isalnum() else "-" for each in parts[0].lower())[:40]
    return f"{card}-{hashlib.sha256('|'.join(parts).encode()).hexdigest()[:12]}"


def carry_in(disk: Disk, key: str, folder: Path) -> Carried:
    """Unpack the archive of these kernels into a folder of the machine, unless that is there already.

    A damaged archive is left where it is and not used: kernels are compiled again.
    """
    archive, told = disk.compiled(key), disk.compiled_digest(key)
    if folder.exists():
        return Carried(key=key, why=_("they are on the machine already"))
    try:
        if sha256_file(archive) != told.read_text().strip():
            return Carried(key=key, why=_("{archive} is damaged").format(archive=archive))
        with atomic.publish_folder(folder) as aside, tarfile.open(archive) as tar:
            tar.extractall(aside, filter="data")
    except FileNotFoundError:
        return Carried(key=key, why=_("none were kept for this card, driver and framework"))
    except (OSError, StorageError, tarfile.TarError, TypeError) as error:
        return Carried(key=key, why=str(error))
    files = _files(folder)
    return Carried(key=key, files=len(files), bytes=sum(file.size for file in files))


def carry_out(disk: Disk, key: str, folder: Path) -> Carried:
    """Write the kernels of a machine as one archive to the disk, when they are others than it holds.

    The bytes depend on names and contents only, so the same kernels make the same archive.
    """
    files = _files(folder) if folder.is_dir() else []
    total = sum(file.size for file in files)
    if not files:
        return Carried(key=key, why=_("nothing was compiled"))
    if total > LARGEST_BYTES:
        return Carried(key=key, why=_("{size} are too much for kernels").format(size=show_bytes(total)))
    archive = disk.compiled(key)
    atomic.make_folder(archive.parent)
    aside = archive.with_name(f"{atomic.TEMPORARY}{os.getpid()}.tar")
    try:
        with tarfile.open(aside, "w", format=tarfile.PAX_FORMAT) as tar:
            for file in files:
                _add(tar, file, folder)
        digest = sha256_file(aside)
        told = disk.compiled_digest(key)
        if archive.exists() and told.exists() and told.read_text().strip() == digest:
            return Carried(key=key, why=_("the disk has them already"))
        atomic.sync_file(aside)
        aside.replace(archive)
        atomic.write_text(told, digest + "\n")
    finally:
        aside.unlink(missing_ok=True)
    return Carried(key=key, files=len(files), bytes=total)


def _files(folder: Path) -> list[Candidate]:
    return sorted(scan(os.path.realpath(folder), 0).candidates, key=lambda file: file.path)


def _add(tar: tarfile.TarFile, file: Candidate, folder: Path) -> None:
    member = tarfile.TarInfo(os.path.relpath(file.path, os.path.realpath(folder)))
    member.size, member.mode = file.size, 0o755 if os.access(file.path, os.X_OK) else 0o644
    with open(file.path, "rb") as source:  # noqa: PTH123 - a scan's string
        tar.addfile(member, source)

"""Saves that a program makes in its own format: found by a pattern, copied, put back where they were.

A save is a file, or a folder with all that lies in it. Its copy is a checkpoint like any other, with the
save under `saved/<its name>` and, in the manifest's position, where it came from.
"""

from __future__ import annotations

import glob
import hashlib
import os
import re
import shutil
import stat
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path, PurePosixPath
from typing import Any

from lastro import atomic
from lastro.checkpoint import store
from lastro.errors import CheckpointDamaged
from lastro.locale import _
from lastro.records import dataclass

#: The position of a checkpoint that was copied from a program's own save says so.
KIND = "foreign"
#: The folder inside a checkpoint under which a save keeps its own name.
SAVED = "saved"
_CHUNK = 1 << 22
_NUMBER = re.compile(r"[0-9]+")


@dataclass(frozen=True)
class Save:
    """A save as it lies in the working folder now.

    `origin`: relative POSIX path. `signature`: changes with the name, size or time of anything in it.
    `newest`: wall time in seconds of the last change. `files`: names below it; ("",) for a file.
    """

    origin: str
    signature: str
    newest: float
    files: tuple[str, ...]

    @property
    def name(self) -> str:
        return PurePosixPath(self.origin).name


def find_saves(workdir: Path, pattern: str) -> list[Save]:
    """Return what a pattern matches below the working folder, the one changed last at the end.

    Links are not saves: `last -> checkpoint-500` is not a second one. What vanishes meanwhile, and a
    folder without any file, is none either.
    """
    found = []
    for name in glob.glob(pattern, root_dir=workdir, recursive=True):  # noqa: PTH207 - gives relative names
        save = look_at(workdir, str(PurePosixPath(name)))
        if save is not None:
            found.append(save)
    return sorted(found, key=lambda save: (save.newest, number_in(save.origin, pattern) or 0, save.origin))


def look_at(workdir: Path, origin: str) -> Save | None:
    """Return one save as it is now; None when there is none."""
    top = f"{workdir}/{origin}"
    seen = hashlib.sha256()
    newest, files = 0.0, []
    try:
        kind = os.lstat(top).st_mode
        names = sorted(_below(top, "")) if stat.S_ISDIR(kind) else [""] if stat.S_ISREG(kind) else []
        for name in names:
            found = os.stat(f"{top}/{name}" if name else top)  # noqa: PTH116 - this is asked twice a second
            seen.update(f"{name}\0{found.st_size}\0{found.st_mtime_ns}\n".encode(errors="surrogateescape"))
            newest = max(newest, found.st_mtime)
            files.append(name)
    except OSError:
        return None
    return Save(origin, seen.hexdigest()[:32], newest, tuple(files)) if files else None


def _below(folder: Path | str, prefix: str) -> Iterator[str]:
    """Yield the regular files below a folder; a link to a file is a file, other links are passed over."""
    for entry in os.scandir(folder):
        if entry.is_dir(follow_symlinks=False):
            yield from _below(entry.path, f"{prefix}{entry.name}/")
        elif entry.is_file():
            yield f"{prefix}{entry.name}"


def number_in(origin: str, pattern: str) -> int | None:
    """Return the last number in a save's name: 500 for `out/checkpoint-500`; None when it has none.

    Suffixes are no part of it (`model.h5`), and folders that the pattern names outright neither. Without
    a number in the name itself, the folders above it are asked, from the inside out.
    """
    fixed = 0
    for part in PurePosixPath(pattern).parts:
        if glob.has_magic(part):
            break
        fixed += 1
    parts = PurePosixPath(origin).parts[fixed:]
    for place, part in enumerate(reversed(parts)):
        numbers = _NUMBER.findall(PurePosixPath(part).stem if place == 0 else part)
        if numbers:
            return int(numbers[-1][:15])
    return None


# --- copying ------------------------------------------------------------------------------------------


class Moved(Exception):
    """The save changed, or vanished, while it was being copied: nothing was published."""


def publish_copy(
    checkpoints: Path,
    workdir: Path,
    save: Save,
    facts: store.Facts,
    still_mine: Callable[[], bool],
) -> store.Manifest:
    """Copy a save into a checkpoint folder, whole or not at all, and read the copy again.

    Args:
        checkpoints: the run's folder of checkpoints.
        workdir: below which the save lies.
        save: as it was seen last; it has to be the same when the copy is done.
        facts: of the manifest; their position is `position_of(save)`.
        still_mine: asked right before the checkpoint gets its name.

    Raises:
        Moved: the save is not what was seen any more.
        Fenced: `still_mine` said no.
        CheckpointDamaged: the copy does not read back as it was written; it is withdrawn.
        FileExistsError: this attempt has published this step already.
    """
    with store.publish(checkpoints, facts, still_mine) as draft:
        for name in save.files:
            inside = PurePosixPath(SAVED, save.name, name)
            (draft.folder / inside).parent.mkdir(parents=True, exist_ok=True)
            try:
                draft.write(str(inside), _chunks(workdir / save.origin / name))
            except FileNotFoundError as error:
                raise Moved from error
        if look_at(workdir, save.origin) != save:
            raise Moved
    folder = checkpoints / facts.name
    problems = store.verify(folder)
    manifest = store.committed(folder)
    if problems or isinstance(manifest, str):
        atomic.withdraw_folder(folder)
        raise CheckpointDamaged(
            _("the copy of {origin} does not read back as it was written: {problems}").format(
                origin=save.origin, problems="; ".join(problems)
            ),
            hint=_("check the disk; the program's own save is untouched"),
        )
    return manifest


def _chunks(path: Path) -> Iterator[bytes]:
    with path.open("rb") as file:
        while chunk := file.read(_CHUNK):
            yield chunk


def position_of(save: Save) -> dict[str, Any]:
    """Return the position of a save's copy: what it is, and where it came from."""
    return {"kind": KIND, "origin": save.origin, "signature": save.signature}


def origin_of(manifest: store.Manifest) -> Mapping[str, Any] | None:
    """Return the position of a checkpoint that is a copy of a program's own save; None for any other."""
    position = manifest.facts.position
    return position if position.get("kind") == KIND else None


# --- putting back -------------------------------------------------------------------------------------


def is_unchanged(folder: Path, manifest: store.Manifest, original: Path) -> bool:
    """Say whether a save still lies where it was with exactly the bytes of its copy."""
    prefix = f"{SAVED}/{original.name}"
    try:
        there = {""} if original.is_file() else set(_below(original, ""))
        for name, entry in manifest.files.items():
            inner = name[len(prefix) :].lstrip("/")
            path = original / inner if inner else original
            if inner not in there or path.stat().st_size != entry.bytes:
                return False
            if store.file_digest(path, manifest.algorithm) != entry.digest:
                return False
    except OSError:
        return False
    return len(there) == len(manifest.files)


def put_back(folder: Path, manifest: store.Manifest, target: Path) -> None:
    """Copy the save out of a verified checkpoint to where nothing is, whole or not at all.

    Raises:
        CheckpointDamaged: what was written is not what the manifest says.
        FileExistsError: something is at `target`.
    """
    source = folder / SAVED / target.name
    atomic.make_folder(target.parent)
    if source.is_dir():
        with atomic.publish_folder(target) as aside:
            shutil.copytree(source, aside, dirs_exist_ok=True)
    elif target.exists():
        raise FileExistsError(target)
    else:
        with atomic.publish_file(target) as aside:
            shutil.copyfile(source, aside)
    if not is_unchanged(folder, manifest, target):
        raise CheckpointDamaged(
            _("{target} was put back from {name}, and does not read as it was saved").format(
                target=target, name=folder.name
            ),
            hint=_("check the disk and the memory of this machine"),
        )

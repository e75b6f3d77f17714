"""Brings the newest checkpoint of each run home, a bit at every look, from disks that go with their computer.

What was copied here is durable, and every byte of it was read again, before an older copy goes.
"""

from __future__ import annotations

import contextlib
import math
import shutil
from collections.abc import Iterable, Mapping
from pathlib import Path, PurePosixPath
from typing import Protocol

from lastro import atomic, strictjson
from lastro.checkpoint.store import BASE, MANIFEST, Manifest, committed, names, verify
from lastro.clock import Clock
from lastro.errors import LastroError
from lastro.paths import RunFolder
from lastro.providers.base import Copy

#: Seconds between two questions for new checkpoints of a run.
ASK_SECONDS = 2.0


class Source(Protocol):
    """The disk that is copied from; paths are those of the copy."""

    def listed(self, folder: Path) -> Mapping[str, int]:
        """Return the files below a folder, by their path in it, with their sizes in bytes."""
        ...

    def piece(self, path: Path, offset: int) -> bytes:
        """Return the next bytes of a file; empty at its end, or where there is none any more."""
        ...


class Keeper:
    """Copies from one computer. `source`: its disk."""

    def __init__(self, source: Source, clock: Clock) -> None:
        self._source, self._clock = source, clock
        self._asked: dict[str, float] = {}
        self._manifests: dict[tuple[str, str], tuple[Manifest, bytes]] = {}
        self._began: dict[tuple[str, str], float] = {}
        self._arrived: list[Copy] = []

    def arrived(self) -> list[Copy]:
        """Return what has arrived whole since this was asked last."""
        arrived, self._arrived = self._arrived, []
        return arrived

    def work(self, runs: Iterable[RunFolder], seconds: float) -> None:
        """Copy for so long at most; what is missing then comes the next time.

        Raises:
            ProviderError: the computer cannot be reached.
            StorageError: its disk, or this one, refuses.
        """
        until = self._clock.monotonic() + seconds
        for run in runs:
            unfinished = any(key[0] == run.root.name for key in self._began)
            now = self._clock.monotonic()
            since = now - self._asked.get(run.root.name, -math.inf)
            if now >= until or (since < ASK_SECONDS and not unfinished):
                continue
            self._asked[run.root.name] = now
            self._copy(run, until)

    def _copy(self, run: RunFolder, until: float) -> None:
        there = self._source.listed(run.checkpoints)
        name = self._newest(run, there)
        for key in [key for key in self._began if key[0] == run.root.name and key[1] != name]:
            del self._began[key]  # it was removed there, or a newer one is worth more
        if name is None:
            return
        manifest, told = self._manifests[run.root.name, name]
        folder = run.checkpoints / name
        if not isinstance(committed(folder), str):
            return
        key = (run.root.name, name)
        began = self._began.setdefault(key, self._clock.monotonic())
        for path, size in _files(manifest, folder):
            if path.exists() and path.stat().st_size == size:
                continue
            if not self._fetch(path, size, until):
                return
        atomic.write_bytes(folder / MANIFEST, told)
        del self._began[key]
        if verify(folder, from_disk=True):  # it is fetched anew
            shutil.rmtree(folder)
            for path, _size in _files(manifest, folder):
                path.unlink(missing_ok=True)
            return
        seconds = self._clock.monotonic() - began
        size = sum(size for _path, size in _files(manifest, folder))
        self._arrived.append(Copy(run=run.root.name, name=name, bytes=size, seconds=seconds))
        _forget_older(run, folder, manifest)

    def _newest(self, run: RunFolder, there: Mapping[str, int]) -> str | None:
        """Return the name of the latest healthy checkpoint there, by step and then attempt."""
        folders = {PurePosixPath(path).parts[0] for path in there if PurePosixPath(path).name == MANIFEST}
        numbered = [(order, name) for name in folders if (order := _order(name)) is not None]
        for _order_of_it, name in sorted(numbered, reverse=True):
            key = (run.root.name, name)
            if key not in self._manifests:
                with contextlib.suppress(LastroError, KeyError, TypeError, ValueError, ArithmeticError):
                    told = self._whole(run.checkpoints / name / MANIFEST)
                    self._manifests[key] = (Manifest.from_json(strictjson.loads(told)), told)
            known = self._manifests.get(key)
            if known is not None and (known[0].health is None or known[0].health.healthy):
                return name
        return None

    def _whole(self, path: Path) -> bytes:
        found = b""
        while piece := self._source.piece(path, len(found)):
            found += piece
        return found

    def _fetch(self, path: Path, size: int, until: float) -> bool:
        """Fetch a file; False when the time is over, or it is not there any more."""
        atomic.make_folder(path.parent)
        aside = path.with_name(f"{atomic.TEMPORARY}arriving-{path.name}")
        with aside.open("ab") as file:
            while file.tell() < size:
                if self._clock.monotonic() >= until:
                    return False
                piece = self._source.piece(path, file.tell())
                if not piece:
                    return False
                file.write(piece)
        atomic.sync_file(aside)
        aside.replace(path)
        atomic.sync_folder(path.parent)
        return True


def _order(name: str) -> tuple[int, int] | None:
    step, _mark, attempt = name.partition("-a")
    return (int(step), int(attempt)) if step.isdigit() and attempt.isdigit() else None


def _files(manifest: Manifest, folder: Path) -> list[tuple[Path, int]]:
    """Return the files of a checkpoint, its manifest left out: where each lies, and its size in bytes."""
    return [(path, entry.bytes) for _name, path, entry in manifest.places(folder)]


def _forget_older(run: RunFolder, newest: Path, manifest: Manifest) -> None:
    for folder in names(run.checkpoints):
        if folder != newest:
            shutil.rmtree(folder, ignore_errors=True)
    base = run.checkpoints / BASE
    for path in base.glob("*") if base.is_dir() else ():
        if path.name not in manifest.base:
            path.unlink(missing_ok=True)

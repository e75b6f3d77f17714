"""Checkpoints on the disk: published once, manifest last; the latest is the latest that verifies.

`<checkpoints>/<step>-a<attempt>/` holds the files of one checkpoint and `manifest.json`, which alone makes
it exist. `base/<digest>.safetensors` beside them holds what does not change and is referred to by manifests.
*Committed* means that the manifest can be read and every size is right; *verified* that every
byte was read again and has the digest of the manifest.
"""

from __future__ import annotations

import contextlib
import os
import re
import stat
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import field
from pathlib import Path, PurePosixPath
from typing import Any

from lastro import atomic, strictjson
from lastro.checkpoint import bulk, digest
from lastro.checkpoint.divided import rank_of
from lastro.checkpoint.health import Health
from lastro.checkpoint.late import late_checkpoints
from lastro.errors import CheckpointDamaged, Fenced, LastroError
from lastro.locale import _
from lastro.paths import RunFolder
from lastro.records import dataclass

VERSION = 1
#: Of a checkpoint that refers to a file in `BASE`: who does not know that must not read it.
VERSION_WITH_BASE = 2
#: Of a checkpoint that several processes have written together, with or without such a file.
VERSION_DIVIDED = 3
#: The folder, beside the checkpoints, of what is written once.
BASE = "base"
#: The folder, beside the checkpoints, of what somebody has asked to keep, and for what.
KEPT = "kept"
MANIFEST = "manifest.json"
_NAME = re.compile(r"(0|[1-9][0-9]*)-a(0|[1-9][0-9]*)")
_CHUNK = 1 << 22


@dataclass(frozen=True)
class FileEntry:
    """One file of a checkpoint: its size in bytes and its digest in hex."""

    bytes: int
    digest: str


@dataclass(frozen=True, kw_only=True)
class Facts:
    """What the manifest says of a checkpoint beside its files.

    `step` counts completed updates; `why` is due, asked or end; `created` is UTC ISO 8601; `position` is
    for people and programs that read manifests, the exact one lies in the state. `measured`: values of
    metrics that were logged for this state, by name.
    """

    run: str
    attempt: int
    step: int
    why: str
    created: str
    position: Mapping[str, Any]
    measured: Mapping[str, float] = field(default_factory=dict)

    @property
    def name(self) -> str:
        return f"{self.step}-a{self.attempt}"


@dataclass(frozen=True, kw_only=True)
class Manifest:
    """A checkpoint that was committed. `files`: in its own folder; `base`: of those in `BASE`, by name."""

    facts: Facts
    algorithm: str
    files: Mapping[str, FileEntry]
    health: Health | None = None
    base: Mapping[str, FileEntry] = field(default_factory=dict)

    @property
    def step(self) -> int:
        return self.facts.step

    @property
    def size(self) -> int:
        """Bytes of all files in its folder, the manifest itself left out."""
        return sum(entry.bytes for entry in self.files.values())

    def places(self, folder: Path) -> Iterator[tuple[str, Path, FileEntry]]:
        """Yield what is shown of each file that it consists of, where that lies, and what is known of it."""
        for name, entry in self.files.items():
            yield name, folder / name, entry
        for name, entry in self.base.items():
            yield f"{BASE}/{name}", folder.parent / BASE / name, entry

    def _entries(self, entries: Mapping[str, FileEntry]) -> dict[str, dict[str, Any]]:
        return {name: {"bytes": entry.bytes, self.algorithm: entry.digest} for name, entry in entries.items()}

    def as_json(self) -> dict[str, Any]:
        facts = self.facts
        several = any(rank_of(name) is not None for name in self.files)
        return {
            "version": VERSION_DIVIDED if several else VERSION_WITH_BASE if self.base else VERSION,
            "run": facts.run,
            "attempt": facts.attempt,
            "step": facts.step,
            "why": facts.why,
            "created": facts.created,
            "position": dict(facts.position),
            **({"measured": dict(facts.measured)} if facts.measured else {}),
            **(self.health.as_json() if self.health else {}),
            "files": self._entries(self.files),
            **({"base": self._entries(self.base)} if self.base else {}),
        }

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> Manifest:
        """Read what `as_json` wrote. Raises KeyError, TypeError or ValueError for anything else."""
        if value["version"] not in (VERSION, VERSION_WITH_BASE, VERSION_DIVIDED):
            raise ValueError(_("version {version} is not known here").format(version=value["version"]))
        told_base: Mapping[str, Any] = {}
        if value["version"] != VERSION:
            told_base = value["base"] if value["version"] == VERSION_WITH_BASE else value.get("base", {})
        entries = (*value["files"].values(), *told_base.values())
        algorithms = {name for entry in entries for name in entry if name != "bytes"}
        if len(algorithms) != 1 or not algorithms <= set(digest.KNOWN):
            raise ValueError(_("its digests are of no kind that is known here"))
        (algorithm,) = algorithms
        facts = Facts(
            run=value["run"],
            attempt=int(value["attempt"]),
            step=int(value["step"]),
            why=value["why"],
            created=value["created"],
            position=dict(value["position"]),
            measured={str(name): float(number) for name, number in dict(value.get("measured", {})).items()},
        )
        files, base = (
            {name: FileEntry(int(entry["bytes"]), str(entry[algorithm])) for name, entry in told.items()}
            for told in (value["files"], told_base)
        )
        if not all(_is_inside(name) for name in (*files, *base)) or any("/" in name for name in base):
            raise ValueError(_("it names a file outside its folder"))
        health = Health.from_json(value)
        return cls(facts=facts, algorithm=algorithm, files=files, health=health, base=base)


def _is_inside(name: str) -> bool:
    """Say whether a file's name stays in its checkpoint's folder, and is not the manifest's own."""
    path = PurePosixPath(name)
    return str(path) == name and name != MANIFEST and not path.is_absolute() and ".." not in path.parts


@dataclass(frozen=True)
class Found:
    """The latest checkpoint that is healthy and verifies, None when there is none.

    `passed_over`: later ones, with reasons. `unhealthy_step`: the highest of those whose values are lost.
    `content`: what was made of its bytes while they were verified.
    """

    folder: Path | None
    manifest: Manifest | None
    passed_over: tuple[tuple[Path, str], ...]
    unhealthy_step: int | None = None
    content: Any = None


class Unverified(Exception):
    """The bytes of a checkpoint are not those of its manifest. Its text says in what."""


class Draft:
    """A checkpoint that is being written; its files are hashed on their way to the disk."""

    def __init__(self, folder: Path, last_check: Callable[[], None] | None = None) -> None:
        self.folder = folder
        self.files: dict[str, FileEntry] = {}
        self.base: dict[str, FileEntry] = {}
        self.health: Health | None = None
        self._last_check = last_check

    def write(self, name: str, chunks: Iterable[bytes | memoryview]) -> None:
        """Write one file of the checkpoint. Its bytes become durable when the checkpoint is published."""
        hasher = digest.hasher(digest.ALGORITHM)
        assert hasher is not None  # the algorithm was chosen because it is here
        size = 0
        with (self.folder / name).open("xb") as file:
            for chunk in chunks:
                hasher.update(chunk)
                size += file.write(chunk)
        self.files[name] = FileEntry(size, hasher.hexdigest())

    def write_memory(self, name: str, memory: memoryview) -> None:
        """Write one file out of memory that begins at a page, hashed in the same slices; see `write`."""
        hasher = digest.hasher(digest.ALGORITHM)
        assert hasher is not None
        bulk.write(self.folder / name, memory, hasher.update)
        self.files[name] = FileEntry(len(memory), hasher.hexdigest())

    def adopt(self, path: Path, entry: FileEntry) -> None:
        """Take a durable file in that another process of this job has written, under its name.

        It stays where it is as well, so that what fails here can be tried again.
        """
        os.link(path, self.folder / path.name)
        self.files[path.name] = entry

    def write_base(self, memory: memoryview) -> tuple[str, FileEntry]:
        """Make memory a file beside the checkpoints, durable when this returns, unless it is one already.

        Returns its name and what the manifest is to say of it.
        """
        hasher = digest.hasher(digest.ALGORITHM)
        assert hasher is not None
        for start in range(0, len(memory), bulk.SLICE):
            hasher.update(memory[start : start + bulk.SLICE])
        entry = FileEntry(len(memory), hasher.hexdigest())
        path = self.folder.parent / BASE / f"{entry.digest}.safetensors"
        if not _is_whole(path, entry):
            atomic.make_folder(path.parent)
            with atomic.publish_file(path, self._last_check) as aside:
                bulk.write(aside, memory, len)
        return path.name, entry


@contextlib.contextmanager
def publish(checkpoints: Path, facts: Facts, still_mine: Callable[[], bool]) -> Iterator[Draft]:
    """Give a draft; when the block ends well, publish it as `<step>-a<attempt>`, whole or not at all.

    Args:
        checkpoints: the run's folder of checkpoints; made when it is missing.
        facts: what the manifest says beside the files.
        still_mine: asked when every byte is durable, right before the checkpoint gets its name.

    Raises:
        Fenced: `still_mine` said no; nothing was published.
        FileExistsError: this attempt has published this step already.
    """

    def last_check() -> None:
        if not still_mine():
            raise fenced(facts.attempt)

    atomic.make_folder(checkpoints)
    with atomic.publish_folder(checkpoints / facts.name, last_check) as folder:
        draft = Draft(folder, last_check)
        yield draft
        manifest = Manifest(
            facts=facts,
            algorithm=digest.ALGORITHM,
            files=draft.files,
            health=draft.health,
            base=draft.base,
        )
        (folder / MANIFEST).write_text(strictjson.pretty(manifest.as_json()), encoding="utf-8")


def _is_whole(path: Path, entry: FileEntry) -> bool:
    """Tell whether a file is there with every byte."""
    try:
        if path.stat().st_size != entry.bytes:
            return False
        return file_digest(path, digest.ALGORITHM, from_disk=True) == entry.digest
    except OSError:
        return False


def fenced(attempt: int) -> Fenced:
    """Return the error of an attempt that was replaced while it was thought dead."""
    return Fenced(
        _("attempt {attempt} was replaced by a later one, so it publishes nothing more").format(
            attempt=attempt
        ),
        hint=_("nothing to do: the later attempt goes on from the last checkpoint that was published"),
    )


def unlike_first(name: str, why: str) -> CheckpointDamaged:
    """Return the error of a process that cannot read what the first one of its job has read and verified."""
    return CheckpointDamaged(
        _("checkpoint {name} was read by the first process, and cannot be read by this one: {why}").format(
            name=name, why=why
        ),
        hint=_("all processes of a job need the same disk"),
    )


def committed(folder: Path) -> Manifest | str:
    """Return the manifest when it can be read, fits its folder's name and sizes are right; else why not."""
    try:
        manifest = Manifest.from_json(strictjson.read(folder / MANIFEST))
    except FileNotFoundError:
        return _("it has no manifest")
    except (OSError, LastroError, KeyError, TypeError, ValueError, ArithmeticError, AttributeError) as error:
        return _("its manifest cannot be read: {error}").format(error=error)
    if manifest.facts.name != folder.name:
        return _("its manifest belongs to {name}").format(name=manifest.facts.name)
    for name, path, entry in manifest.places(folder):
        try:
            found = path.stat()
        except OSError:
            return _("{file} is missing").format(file=name)
        if not stat.S_ISREG(found.st_mode):
            return _("{file} is no file").format(file=name)
        size = found.st_size
        if size != entry.bytes:
            return _("{file} has {size} bytes, the manifest says {expected}").format(
                file=name, size=size, expected=entry.bytes
            )
    return manifest


def verify(folder: Path, *, from_disk: bool = False, base: bool = True) -> tuple[str, ...]:
    """Read every byte of a checkpoint again. Returns its problems; empty means verified.

    Args:
        folder: of the checkpoint.
        from_disk: for one that was just written: not from the page cache, which would return what was
            written whatever has reached the disk.
        base: also what it refers to beside its folder.
    """
    manifest = committed(folder)
    if isinstance(manifest, str):
        return (manifest,)
    places = (
        (name, path, entry)
        for name, path, entry in manifest.places(folder)
        if base or path.parent == folder or path.parent.name != BASE
    )
    return _problems(places, manifest.algorithm, from_disk=from_disk)


def verify_files(folder: Path, own: Collection[str], beside: Collection[str]) -> tuple[str, ...]:
    """Read some files of a checkpoint again, from the disk itself. Returns their problems; see `verify`.

    Args:
        folder: of the checkpoint.
        own: names of files in it.
        beside: names of files that it refers to in `BASE`.
    """
    manifest = committed(folder)
    if isinstance(manifest, str):
        return (manifest,)
    chosen = {folder / name for name in own} | {folder.parent / BASE / name for name in beside}
    places = (place for place in manifest.places(folder) if place[1] in chosen)
    return _problems(places, manifest.algorithm, from_disk=True)


def _problems(
    places: Iterable[tuple[str, Path, FileEntry]], algorithm: str, *, from_disk: bool
) -> tuple[str, ...]:
    problems = []
    for name, path, entry in places:
        try:
            found = file_digest(path, algorithm, from_disk=from_disk)
        except OSError as error:
            problems.append(_cannot_read(name, error))
            continue
        if found is None:
            problems.append(_cannot_compute(algorithm))
        elif found != entry.digest:
            problems.append(_changed(name))
    return tuple(problems)


def file_digest(path: Path, algorithm: str, *, from_disk: bool = False) -> str | None:
    """Return the digest of a file's bytes; None when the algorithm is not available here. See `verify`."""
    hasher = digest.hasher(algorithm)
    if hasher is None:
        return None
    for piece in bulk.from_disk(path) if from_disk else _pieces(path):
        hasher.update(piece)
    return hasher.hexdigest()


def _pieces(path: Path) -> Iterator[memoryview]:
    buffer = memoryview(bytearray(_CHUNK))
    with path.open("rb", buffering=0) as file:
        while count := file.readinto(buffer):
            yield buffer[:count]


@contextlib.contextmanager
def read_file(folder: Path, manifest: Manifest, name: str) -> Iterator[bulk.Reader]:
    """Give one file of a checkpoint to read whole; what was read may be used when the block has ended well.

    Raises:
        Unverified: the bytes that were read are not those of the manifest.
    """
    hasher = digest.hasher(manifest.algorithm)
    if hasher is None:
        raise Unverified(_cannot_compute(manifest.algorithm))
    entry = manifest.files.get(name) or manifest.base[name]
    path = folder / name if name in manifest.files else folder.parent / BASE / name
    try:
        with bulk.Reader(path, hasher.update) as reader:
            yield reader
    except OSError as error:
        raise Unverified(_cannot_read(name, error)) from error
    except EOFError as error:
        raise Unverified(_changed(name)) from error
    if hasher.hexdigest() != entry.digest:
        raise Unverified(_changed(name))


def _cannot_compute(algorithm: str) -> str:
    return _("{algorithm} cannot be computed here: install xxhash").format(algorithm=algorithm)


def _cannot_read(name: str, error: OSError) -> str:
    return _("{file} cannot be read: {error}").format(file=name, error=error.strerror)


def _changed(name: str) -> str:
    return _("{file} does not have the digest of its manifest: its bytes have changed").format(file=name)


def names(checkpoints: Path) -> list[Path]:
    """Return the folders named like a checkpoint, the latest first: by step, then by attempt."""
    if not checkpoints.is_dir():
        return []
    numbered = [
        (int(match[1]), int(match[2]), path)
        for path in checkpoints.iterdir()
        if (match := _NAME.fullmatch(path.name)) and path.is_dir()
    ]
    return [path for _step, _attempt, path in sorted(numbered, reverse=True)]


def require_verified(folder: Path, manifest: Manifest) -> None:
    """Read every byte of a checkpoint and keep nothing. Raises Unverified."""
    problems = verify(folder)
    if problems:
        raise Unverified("; ".join(problems))


def _require_known_version(folder: Path) -> None:
    """See that it is not just this lastro that cannot read a manifest. Raises CheckpointDamaged."""
    try:
        version = strictjson.read(folder / MANIFEST)["version"]
    except (OSError, LastroError, KeyError, TypeError, ValueError):
        return
    if type(version) is int and version > VERSION_DIVIDED:
        raise CheckpointDamaged(
            _("checkpoint {name} has version {version}, and this lastro knows {known} at most").format(
                name=folder.name, version=version, known=VERSION_DIVIDED
            ),
            hint=_("go on with the lastro that saved it; if there is none, move that folder away"),
        )


def latest(
    checkpoints: Path,
    run: str | None = None,
    read: Callable[[Path, Manifest], Any] = require_verified,
) -> Found:
    """Return the checkpoint with the highest (step, attempt) that is healthy and verifies.

    `read` makes of a checkpoint's bytes what is needed, and verifies just these: it raises Unverified. With
    `run`, one that another run has made is passed over: it was copied here, and is no past of this one.
    Half-written ones count not, nor do those that a replaced attempt published too late. One whose health
    is not known counts as healthy.

    Raises:
        CheckpointDamaged: a later lastro has saved: to go on from what lies before it would lose that work.
    """
    passed_over = []
    found = names(checkpoints)
    late = late_checkpoints(RunFolder(checkpoints.parent), [folder.name for folder in found])
    unhealthy: int | None = None
    for folder in found:
        if folder.name in late:
            passed_over.append((folder, late[folder.name]))
            continue
        manifest = committed(folder)
        if isinstance(manifest, str):
            _require_known_version(folder)
            passed_over.append((folder, manifest))
            continue
        if run is not None and manifest.facts.run != run:
            passed_over.append((folder, _("it belongs to run {run}").format(run=manifest.facts.run)))
            continue
        if manifest.health is not None and not manifest.health.healthy:
            unhealthy = manifest.step if unhealthy is None else unhealthy
            passed_over.append((folder, manifest.health.why_not))
            continue
        try:
            content = read(folder, manifest)
        except Unverified as error:
            passed_over.append((folder, str(error)))
        else:
            return Found(folder, manifest, tuple(passed_over), unhealthy, content)
    return Found(None, None, tuple(passed_over), unhealthy)

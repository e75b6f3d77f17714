"""What can be verified of a campaign that nobody has closed: each file that the journal holds a digest of.

The plan is spelled in the journal. Published outputs and items, the manifests of checkpoints, and files that
have got their last bytes (the campaign file, a run's code, what was written of an attempt that has ended) are
held by their digests; a checkpoint's other files by its manifest. Of everything else nothing is said, and it
is named as that. Each byte is read once, when somebody asks.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path, PurePosixPath

from lastro import atomic, strictjson
from lastro.checkpoint import store
from lastro.closeout.last_manifest import Damage
from lastro.closeout.published import published_of
from lastro.errors import LastroError
from lastro.journal.events import EventType
from lastro.journal.settled import Settled, settled_files
from lastro.journal.signals import LineReader, Signal
from lastro.journal.streams import Event
from lastro.journal.views import CampaignView, RunView
from lastro.locale import _
from lastro.paths import CampaignFolder, RunFolder
from lastro.records import dataclass
from lastro.storage.digest import sha256_file

#: Runs that are to go on: the last of their checkpoints has to be there.
_GOES_ON = frozenset({"running", "interrupted", "paused"})


@dataclass(frozen=True, kw_only=True)
class Unclosed:
    """What lies in the folder. `held`: files whose bytes were compared; `checkpoints`: of these, how many.

    `unheld`: files, journal and seal aside, of which nothing holds a digest; and where the folder may be a
    part (see `look_at_unclosed`) those that are held, but are not here to their end.
    """

    held: frozenset[str]
    checkpoints: int
    damage: tuple[Damage, ...]
    unheld: tuple[str, ...]


@dataclass(frozen=True)
class _Found:
    """One file that was compared. `why` None: it is what it was. `lacks`: it, or its end, is not here."""

    path: str
    why: str | None = None
    lacks: bool = False


def look_at_unclosed(
    folder: CampaignFolder, view: CampaignView, streams: Mapping[str, Sequence[Event]], *, partial: bool
) -> Unclosed:
    """Read every file that the journal holds a digest of, and name the others.

    Args:
        folder: the campaign's.
        view: folded from `streams`.
        streams: of its journal.
        partial: it may be a copy of a part, as home has of a disk on another computer: then it is no damage
            that something is not there.
    """
    found = [*_plan(folder, view), *_settled(folder, streams)]
    for run in view.runs:
        found += _outputs(folder, run)
    kept, saves = _checkpoints(folder, view, streams)
    found += saves
    absent = {one.path for one in found if one.lacks} if partial else set()
    found = [one for one in found if one.path not in absent]
    held = frozenset(one.path for one in found)
    return Unclosed(
        held=held,
        checkpoints=kept,
        damage=tuple(Damage(one.path, one.why) for one in found if one.why is not None),
        unheld=tuple(sorted({*absent, *(name for name in _there(folder) if name not in held)})),
    )


def _below(folder: CampaignFolder, path: Path) -> str:
    return path.relative_to(folder.root).as_posix()


def _plan(folder: CampaignFolder, view: CampaignView) -> Iterator[_Found]:
    if view.plan is None or not folder.plan.is_file():
        return
    same = folder.plan.read_bytes() == strictjson.pretty(view.plan).encode()
    yield _Found(_below(folder, folder.plan), None if same else _("it is not the plan of the journal"))


def _settled(folder: CampaignFolder, streams: Mapping[str, Sequence[Event]]) -> Iterator[_Found]:
    for path, told in settled_files(streams).items():
        file = folder.root / path
        if not file.is_file():
            yield _Found(path, _("it was written to its end, and is not there"), lacks=True)
            continue
        lacks = file.stat().st_size < min(one.bytes for one in told)
        yield _Found(path, _unlike(file, told), lacks=lacks)


def _unlike(file: Path, told: Sequence[Settled]) -> str | None:
    """Say in what a file is none of what was told of it; an index of items may have grown since."""
    if file.name == RunFolder(Path()).items_index.name:
        longest = max(told, key=lambda one: one.bytes)
        same = _digest_of_first(file, longest.bytes) == longest.sha256
    else:
        same = sha256_file(file) in {one.sha256 for one in told}
    return None if same else _("it has other bytes than the journal says")


def _digest_of_first(file: Path, count: int) -> str:
    digest = hashlib.sha256()
    with file.open("rb") as opened:
        while count > 0 and (piece := opened.read(min(count, 1 << 20))):
            digest.update(piece)
            count -= len(piece)
    return digest.hexdigest()


def _outputs(folder: CampaignFolder, run: RunView) -> Iterator[_Found]:
    outputs = folder.run(run.id)
    for path, sha256 in published_of(run, outputs).items():
        file = outputs.outputs / path
        why, lacks = None, not file.is_file()
        if lacks:
            why = _("it was published and is not there")
        elif (found := sha256_file(file)) != sha256:
            if found in _announced(outputs, path):
                continue
            why = _("it has other bytes than the journal says")
        yield _Found(_below(folder, file), why, lacks=lacks)


def _announced(run: RunFolder, path: str) -> frozenset[str]:
    """Return the digests that jobs have told of an output themselves.

    One that was published again is replaced before the journal hears of it: a kill of everything in between
    leaves a file of which only the job has said anything. It is not held, and no damage.
    """
    told = set()
    for signals in run.attempts.glob("*/signals.jsonl"):
        for line in LineReader(signals).lines():
            with contextlib.suppress(ValueError, KeyError, TypeError):
                facts = strictjson.loads(line)
                if facts["kind"] == Signal.OUTPUT.value and facts["path"] == path:
                    told.add(str(facts["sha256"]))
    return frozenset(told)


def _checkpoints(
    folder: CampaignFolder, view: CampaignView, streams: Mapping[str, Sequence[Event]]
) -> tuple[int, list[_Found]]:
    """Read the checkpoints again that were committed and are there. Older ones make room for newer ones."""
    manifests = _manifests(streams)
    count, found = 0, []
    for run in view.runs:
        own = folder.run(run.id)
        saved = [one.folder for life in run.attempts for one in life.checkpoints if one.healthy is not False]
        told = [(name, manifests[run.id, name]) for name in saved if (run.id, name) in manifests]
        there = [(name, digest) for name, digest in told if (own.checkpoints / name).is_dir()]
        count += len(there)
        if told and not there and run.status in _GOES_ON:
            why = _("it was committed last and is not there, nor is an older one")
            found.append(_Found(_below(folder, own.checkpoints / told[-1][0]), why, lacks=True))
        for name, digest in there:
            found += _checkpoint(folder, own.checkpoints / name, digest)
    return count, found


def _manifests(streams: Mapping[str, Sequence[Event]]) -> Mapping[tuple[str, str], str]:
    """Return the digests of manifests, by run and folder; an older version has told none."""
    found = {}
    for events in streams.values():
        run = next((one.facts["run"] for one in events if one.type is EventType.ATTEMPT_STARTED), None)
        for event in events:
            if event.type is EventType.CHECKPOINT_COMMITTED and "manifest" in event.facts:
                found[str(run), str(event.facts["folder"])] = str(event.facts["manifest"])
    return found


def _checkpoint(folder: CampaignFolder, place: Path, digest: str) -> Iterator[_Found]:
    path = place / store.MANIFEST
    own = _below(folder, path)
    if not path.is_file():
        yield _Found(own, _("it was published and is not there"))
        return
    if sha256_file(path) != digest:
        yield _Found(own, _("it has other bytes than the journal says"))
        return
    yield _Found(own)
    try:
        manifest = store.Manifest.from_json(strictjson.read(path))
    except (LastroError, KeyError, TypeError, ValueError) as error:
        yield _Found(own, _("it cannot be read: {why}").format(why=error))
        return
    for _name, file, entry in manifest.places(place):
        name = _below(folder, file)
        try:
            found = store.file_digest(file, manifest.algorithm)
        except OSError as error:
            yield _Found(name, _("it cannot be read: {why}").format(why=error.strerror))
            continue
        if found is not None:  # without its library nothing is said of the file
            yield _Found(name, None if found == entry.digest else _("it is not what its manifest says"))


def _there(folder: CampaignFolder) -> Iterator[str]:
    """Yield every file but the journal's, the seal, and what was not published."""
    for root, _folders, names in os.walk(folder.root):
        for name in names:
            path = Path(root, name)
            below = PurePosixPath(_below(folder, path))
            hidden = any(part.startswith(atomic.TEMPORARY) for part in below.parts)
            if below.parts[0] != folder.journal.name and path != folder.close_seal and not hidden:
                yield below.as_posix()

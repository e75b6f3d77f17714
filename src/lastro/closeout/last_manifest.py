"""The closing manifest: every file that a campaign leaves on the disk, and where its journal stood.

The journal goes on after the manifest (the closing itself is an event), so of each stream the end of its
chain is kept instead of its bytes. The reports are written last and are made from what is listed here; the
seal says where all of these stood.
"""

from __future__ import annotations

from dataclasses import asdict
from pathlib import PurePosixPath
from typing import Any

from lastro import atomic, strictjson
from lastro.errors import StorageError
from lastro.journal.streams import parse_stream, read_journal
from lastro.locale import _
from lastro.paths import CampaignFolder
from lastro.records import dataclass
from lastro.storage.digest import digest_of_sums, files_below
from lastro.storage.manifest import Manifest


def write_close_manifest(folder: CampaignFolder) -> str:
    """Publish `close/manifest.json`, and return its root digest: it stands for all that was left.

    Raises:
        StorageError: a file cannot be read, or a stream of the journal is damaged.
    """
    names = [name for name in sorted(files_below(folder.root)) if _is_listed(folder, name)]
    manifest = Manifest.of_files(folder.root, names)
    streams = _streams(folder)
    root = _root_digest(manifest, streams)
    content = {
        "root_digest": root,
        "streams": streams,
        "files": [asdict(entry) for entry in manifest.entries],
    }
    atomic.make_folder(folder.close)
    atomic.write_text(folder.close_manifest, strictjson.pretty(content))
    return root


@dataclass(frozen=True)
class ClosedHead:
    """Where a stream stood when its campaign was closed."""

    name: str
    seq: int
    digest: str


@dataclass(frozen=True)
class ClosedStreams:
    """What a closing manifest says of the journal. `root_is_right`: the root digest is that of its lists."""

    root: str
    root_is_right: bool
    heads: tuple[ClosedHead, ...]


def read_closed_streams(folder: CampaignFolder) -> ClosedStreams:
    """Return what the closing manifest says of the journal; the files that it lists are not read.

    Raises:
        StorageError: it cannot be read.
        FileNotFoundError: there is none; the campaign was not closed.
    """
    content = strictjson.read(folder.close_manifest)
    manifest = Manifest.read(folder.close_manifest)
    try:
        streams = content["streams"]
        return ClosedStreams(
            root=str(content["root_digest"]),
            root_is_right=_root_digest(manifest, streams) == content["root_digest"],
            heads=tuple(
                ClosedHead(str(each["name"]), int(each["seq"]), str(each["head"])) for each in streams
            ),
        )
    except (KeyError, TypeError, ValueError) as error:
        raise StorageError(
            _("{path} is not the closing manifest that lastro writes: {error}").format(
                path=folder.close_manifest, error=error
            ),
            hint=_("it was changed by something else; restore it from a copy"),
        ) from error


@dataclass(frozen=True)
class Damage:
    """A file that is not what it was when the campaign was closed, and in what."""

    path: str
    why: str


def check_close_manifest(folder: CampaignFolder) -> list[str]:
    """Return what `close_damage` says, a sentence each."""
    return [found.why for found in close_damage(folder)]


def close_damage(folder: CampaignFolder) -> list[Damage]:
    """Read everything again; return each difference, an empty list when there is none.

    Raises:
        StorageError: the manifest itself cannot be read.
        FileNotFoundError: there is none; the campaign was not closed.
    """
    content = strictjson.read(folder.close_manifest)
    manifest = Manifest.read(folder.close_manifest)
    streams: list[dict[str, Any]] = content["streams"]
    found = [
        Damage(problem.path, problem.why)
        for problem in manifest.verify(folder.root)
        if _is_listed(folder, problem.path)
    ]
    own = folder.close_manifest.relative_to(folder.root).as_posix()
    if _root_digest(manifest, streams) != content["root_digest"]:
        why = _("the manifest was changed: its root digest is not that of what it lists")
        found.append(Damage(own, why))
    for stream in streams:
        path = folder.stream(stream["name"]).relative_to(folder.root).as_posix()
        found += [Damage(path, why) for why in _stream_problem(folder, stream)]
    return found


def is_canonical(folder: CampaignFolder) -> bool:
    """Say whether the manifest is spelled as lastro writes it, to the byte."""
    text = folder.close_manifest.read_bytes()
    return text == strictjson.pretty(strictjson.loads(text)).encode()


def _is_listed(folder: CampaignFolder, name: str) -> bool:
    path = PurePosixPath(name)
    last = (
        folder.close_manifest,
        folder.close_seal,
        folder.close_signature,
        folder.report_html,
        folder.report_json,
    )
    return (
        path.parts[0] != folder.journal.name
        and folder.root / name not in last
        and not any(part.startswith(atomic.TEMPORARY) for part in path.parts)
    )


def _streams(folder: CampaignFolder) -> list[dict[str, Any]]:
    found = []
    for name, reading in read_journal(folder.journal).items():
        if reading.damage is not None:
            raise StorageError(
                _("stream {name} is damaged at line {line}: {why}").format(
                    name=name, line=reading.damage.line, why=reading.damage.why
                ),
                hint=_("run `lastro journal verify`; nothing was closed"),
            )
        found.append({"name": name, "seq": reading.head.seq, "head": reading.head.digest})
    return found


def _root_digest(manifest: Manifest, streams: list[dict[str, Any]]) -> str:
    heads = [(f"journal/{stream['name']}.jsonl#{stream['seq']}", stream["head"]) for stream in streams]
    return digest_of_sums([*((entry.path, entry.sha256) for entry in manifest.entries), *heads])


def _stream_problem(folder: CampaignFolder, stream: dict[str, Any]) -> list[str]:
    name, seq = stream["name"], stream["seq"]
    path = folder.stream(name)
    lines = path.read_bytes().splitlines(keepends=True) if path.exists() else []
    reading = parse_stream(name, b"".join(lines[:seq]))
    if reading.damage is not None:
        return [_("stream {name} is damaged at line {line}").format(name=name, line=reading.damage.line)]
    if reading.head.seq < seq:
        return [
            _("stream {name} has {have} of {seq} events").format(name=name, have=reading.head.seq, seq=seq)
        ]
    if reading.head.digest != stream["head"]:
        return [_("event {seq} of stream {name} is not the one that was closed").format(seq=seq, name=name)]
    return []

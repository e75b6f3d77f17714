"""The seal: a digest of what the manifest cannot list, so that one changed byte of anything is found.

The journal goes on after the manifest, the reports are made from it, and the last line of a stream has no
following line that holds its digest. The seal is written after all of them, and again whenever something is
noted later. What it says can be made again from what lies there; it is compared byte by byte.

Before the closing it stands already, and holds the end of home's stream alone: what home holds of the others
stands in that stream. It costs the digest of one line, each time that the stream is copied to the disk.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any

from lastro import atomic, strictjson
from lastro.closeout.last_manifest import Damage
from lastro.errors import StorageError
from lastro.journal.streams import parse_stream
from lastro.locale import _
from lastro.paths import CampaignFolder
from lastro.storage.digest import sha256_file

#: Files of `close/` that are held by their digests; a signature only where there is one.
_FILES = ("manifest.json", "manifest.json.sig", "report.html", "report.json")


def write_seal(folder: CampaignFolder) -> None:
    """Publish the seal of what lies there now."""
    atomic.write_text(folder.close_seal, strictjson.pretty(_content(folder)))


def hold_end(folder: CampaignFolder, stream: str, data: bytes) -> None:
    """Publish a seal that holds the end of home's stream, of which `data` are the bytes on the disk."""
    last = data[: data.rfind(b"\n") + 1].splitlines()[-1:]
    held = [
        {"name": stream, "seq": strictjson.loads(line)["seq"], "head": sha256(line).hexdigest()}
        for line in last
    ]
    atomic.make_folder(folder.close)
    atomic.write_text(folder.close_seal, strictjson.pretty({"files": {}, "streams": held}))


def is_final(folder: CampaignFolder) -> bool:
    """Say whether a seal is there, and of the closing: it holds the reports too."""
    try:
        return bool(strictjson.read(folder.close_seal)["files"])
    except (FileNotFoundError, StorageError, KeyError, TypeError, ValueError):
        return False


def held_ends(folder: CampaignFolder) -> Mapping[str, tuple[int, str]]:
    """Return what the seal holds of streams, by name: the number of events, and the last one's digest."""
    try:
        streams = strictjson.read(folder.close_seal)["streams"]
        return {str(one["name"]): (int(one["seq"]), str(one["head"])) for one in streams}
    except (FileNotFoundError, StorageError, KeyError, TypeError, ValueError):
        return {}


def _content(folder: CampaignFolder) -> dict[str, Any]:
    files = {name: sha256_file(folder.close / name) for name in _FILES if (folder.close / name).is_file()}
    streams = []
    for path in sorted(folder.journal.glob("*.jsonl")):
        reading = parse_stream(path.stem, path.read_bytes())
        streams.append({"name": path.stem, "seq": reading.head.seq, "head": reading.head.digest})
    return {"files": files, "streams": streams}


def broken_seal(folder: CampaignFolder) -> tuple[Damage, ...]:
    """Return what is not as it was sealed; empty when everything is.

    Where a file and the seal disagree nobody can say by this alone which of them was changed: both are named.
    A stream that has grown since is what it was: a note that was cut off between the two.

    Raises:
        FileNotFoundError: there is no seal.
    """
    text = folder.close_seal.read_bytes()
    own = _name(folder, folder.close_seal)
    try:
        said = strictjson.loads(text)
        if text != strictjson.pretty(said).encode():
            return (Damage(own, _("it is not spelled as lastro writes it")),)
        return tuple(_differences(folder, said, own))
    except (KeyError, TypeError, ValueError, StorageError) as error:
        return (Damage(own, _("it cannot be read: {why}").format(why=error)),)


def _differences(folder: CampaignFolder, said: Mapping[str, Any], own: str) -> Iterator[Damage]:
    now = _content(folder)
    if not said["files"]:  # from before the closing: it says of other streams and of files nothing
        held = {one["name"] for one in said["streams"]}
        now = {"files": {}, "streams": [one for one in now["streams"] if one["name"] in held]}
    if set(said) != set(now):
        yield Damage(own, _("it has other keys than a seal"))
    for name in sorted({*said["files"], *now["files"]}):
        if said["files"].get(name) != now["files"].get(name):
            yield from _both(folder, folder.close / name, own)
    sealed = {each["name"]: each for each in said["streams"]}
    there = {each["name"]: each for each in now["streams"]}
    for name in sorted({*sealed, *there}):
        if sealed.get(name) != there.get(name) and not _has_grown(folder, sealed.get(name)):
            yield from _both(folder, folder.stream(name), own)


def _both(folder: CampaignFolder, path: Path, own: str) -> Iterator[Damage]:
    why = _("it is not what {seal} says, or the seal is not what it was").format(seal=own)
    yield Damage(_name(folder, path), why)
    yield Damage(own, _("it does not say what {path} is").format(path=_name(folder, path)))


def _has_grown(folder: CampaignFolder, sealed: Mapping[str, Any] | None) -> bool:
    if sealed is None:
        return False
    path = folder.stream(str(sealed["name"]))
    digests = parse_stream(path.stem, path.read_bytes()).digests if path.is_file() else ()
    seq = int(sealed["seq"])
    return 0 < seq < len(digests) and digests[seq - 1] == sealed["head"]


def _name(folder: CampaignFolder, path: Path) -> str:
    return path.relative_to(folder.root).as_posix()

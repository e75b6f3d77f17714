"""Which bytes of a run's outputs count: what the journal says, and for items what their index says."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from lastro import strictjson
from lastro.closeout.inventory import output_files
from lastro.errors import LastroError
from lastro.journal.views import RunView
from lastro.paths import RunFolder
from lastro.storage.digest import digest_of, sha256_file


def published_of(run: RunView, folder: RunFolder) -> Mapping[str, str]:
    """Return the SHA-256 of each file that a run has published, by its path below the outputs.

    The journal holds the digest of each output, and of items how many there are and how far their index goes:
    the digests of items are read from the index, up to there.
    """
    told = max((attempt.items_offset for attempt in run.attempts), default=0)
    found: dict[str, str] = {}
    if told:
        for line in _lines(folder.items_index, told):
            found.update(_files(folder.outputs, str(line.get("path")), str(line.get("sha256"))))
    return {**found, **run.outputs}


def _lines(index: Path, until: int) -> Iterator[Mapping[str, Any]]:
    try:
        with index.open("rb") as file:
            content = file.read(until)
    except OSError:
        return
    for line in content.splitlines():
        try:
            value = strictjson.loads(line)
        except ValueError:
            continue  # a line that was damaged is no proof of an item
        if isinstance(value, dict):
            yield value


def _files(outputs: Path, path: str, sha256: str) -> Mapping[str, str]:
    place = outputs / path
    if not place.is_dir():
        return {path: sha256}
    try:
        if digest_of(place) != sha256:
            return {}
        return {name: sha256_file(outputs / name) for name in output_files(outputs, path)}
    except (LastroError, OSError):
        return {}

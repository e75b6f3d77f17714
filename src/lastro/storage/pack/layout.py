"""What a packed folder holds: the names of its files, a row of its index, its manifest.

    shard-000000.tar ...   POSIX tar, readable by anything
    index.npy              one row a file, in the order of the shards: NumPy's own format, so it can be mapped
    names                  the files' names, each ended by a NUL byte, in the same order
    manifest.json          the sums of all these, and what was left out; written last

`.packing/` is there while a pack is being made.
"""

from __future__ import annotations

import struct
from dataclasses import asdict
from pathlib import Path
from typing import Any, NamedTuple

from lastro import atomic, strictjson
from lastro.errors import StorageError
from lastro.locale import _
from lastro.records import dataclass
from lastro.storage.digest import digest_of_sums

FORMAT = "lastro.pack/1"
INDEX, NAMES, MANIFEST, WORK = "index.npy", "names", "manifest.json", ".packing"

#: One row, little-endian. NumPy's description of it stands in the header of the file.
ROW = struct.Struct("<QQQQII")
DESCRIPTION = (
    ("offset", "<u8"), ("size", "<u8"), ("checksum", "<u8"), ("name_end", "<u8"),
    ("shard", "<u4"), ("sample", "<u4"),
)  # fmt: skip


class Row(NamedTuple):
    """One file of a pack.

    offset: where its content begins in its shard. size: of the content, in bytes. checksum: see the manifest.
    name_end: where its name ends in `names`, the NUL counted. shard, sample: their numbers, from 0.
    """

    offset: int
    size: int
    checksum: int
    name_end: int
    shard: int
    sample: int


def shard_name(number: int) -> str:
    """Return the file name of a shard."""
    return f"shard-{number:06d}.tar"


@dataclass(frozen=True)
class Sealed:
    """A file of a pack: its name, size in bytes and SHA-256 in hex."""

    name: str
    bytes: int
    sha256: str


@dataclass(frozen=True, kw_only=True)
class PackManifest:
    """What a pack holds. `bytes`: of the files' content; `checksum`: what the sums in the index are."""

    checksum: str
    files: int
    samples: int
    bytes: int
    links: int
    empty_folders: int
    shards: tuple[Sealed, ...]
    index: Sealed
    names: Sealed
    left_out: tuple[dict[str, str], ...] = ()

    def digest(self) -> str:
        """Return the SHA-256 over the sums of index, names and shards: what identifies the pack."""
        return digest_of_sums((one.name, one.sha256) for one in (*self.shards, self.index, self.names))

    @property
    def packed_bytes(self) -> int:
        """The size of all files of the pack but the manifest."""
        return sum(one.bytes for one in (*self.shards, self.index, self.names))

    def as_json(self) -> dict[str, Any]:
        return {"format": FORMAT, "digest": self.digest(), **asdict(self)}

    def write(self, folder: Path) -> None:
        """Publish the manifest, durably."""
        atomic.write_text(folder / MANIFEST, strictjson.pretty(self.as_json()))

    @classmethod
    def read(cls, folder: Path) -> PackManifest:
        """Read the manifest of a pack.

        Raises:
            StorageError: there is none, it is of another format, or it does not agree with its own digest.
        """
        path = folder / MANIFEST
        try:
            value = strictjson.read(path)
        except (FileNotFoundError, NotADirectoryError) as error:
            raise StorageError(
                _("{folder} is no packed folder: it has no {name}").format(folder=folder, name=MANIFEST),
                hint=_("pack it first, or let `lastro disk pack` finish: it goes on where it was"),
            ) from error
        try:
            if value["format"] != FORMAT:
                raise StorageError(
                    _("{path} is of the format {found}, and this version reads {known}").format(
                        path=path, found=value["format"], known=FORMAT
                    ),
                    hint=_("read it with the version of lastro that wrote it, or with tar"),
                )
            shards = tuple(Sealed(**one) for one in value["shards"])
            rest = ("checksum", "files", "samples", "bytes", "links", "empty_folders")
            found = cls(
                **{key: value[key] for key in rest},
                index=Sealed(**value["index"]),
                names=Sealed(**value["names"]),
                shards=shards,
                left_out=tuple(value["left_out"]),
            )
            agrees = value["digest"] == found.digest()
        except (KeyError, TypeError, AttributeError) as error:
            raise _no_manifest(path) from error
        if not agrees or any(one.name != shard_name(number) for number, one in enumerate(found.shards)):
            raise _no_manifest(path)
        return found


def _no_manifest(path: Path) -> StorageError:
    return StorageError(
        _("{path} is not the manifest that lastro writes").format(path=path),
        hint=_("it was changed by something else; restore it from a copy, or pack again"),
    )

"""What was sent to a place, beside it, so that whoever fetches it can check every byte.

`<key>/.lastro-files.json` of a folder, `<key>.lastro-files.json` of a single file.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from lastro import strictjson
from lastro.errors import StorageError
from lastro.locale import _
from lastro.records import dataclass
from lastro.storage.digest import digest_of_sums
from lastro.storage.transfer.compress import SUFFIX

FORMAT = "lastro.files/1"
NAME = ".lastro-files.json"


@dataclass(frozen=True, kw_only=True)
class SentFile:
    """A file as it was sent. `name`: "" of a single file.

    `md5s`: of each of its parts of `part_bytes`, in hex. `executable`: whether its owner may execute it.
    `packed_bytes`: of a file that was sent as gzip, under its name and `.gz`, what is stored of it; its parts
    are of that, while `bytes` and `sha256` are of the file itself. None: it was sent as it is.
    """

    name: str
    bytes: int
    sha256: str
    part_bytes: int
    md5s: tuple[str, ...]
    executable: bool = False
    packed_bytes: int | None = None

    @property
    def stored(self) -> str:
        """The name that it has there."""
        return self.name + (SUFFIX if self.packed_bytes is not None else "")

    @property
    def stored_bytes(self) -> int:
        """How many bytes it has there."""
        return self.bytes if self.packed_bytes is None else self.packed_bytes

    def as_json(self) -> dict[str, Any]:
        """Return it as it is listed: what nobody needs is left out, so an older lastro reads it too."""
        value = asdict(self)
        if self.packed_bytes is None:
            del value["packed_bytes"]
        return value


@dataclass(frozen=True, kw_only=True)
class Files:
    """All files that were sent to a place."""

    files: tuple[SentFile, ...]

    def digest(self) -> str:
        """Return the digest of what was sent: as `digest_of` gives it for a file, or for a folder."""
        if len(self.files) == 1 and not self.files[0].name:
            return self.files[0].sha256
        return digest_of_sums((one.name, one.sha256) for one in self.files)

    def as_bytes(self) -> bytes:
        """Return the file that is put beside them."""
        value: dict[str, Any] = {"format": FORMAT, "digest": self.digest()}
        return strictjson.pretty({**value, "files": [one.as_json() for one in self.files]}).encode()


def read_files(data: bytes, place: str) -> Files:
    """Read what `as_bytes` wrote.

    Raises:
        StorageError: it is something else, names a file outside, or does not agree with its own digest.
    """
    try:
        value = strictjson.loads(data)
        found = Files(files=tuple(SentFile(**{**one, "md5s": tuple(one["md5s"])}) for one in value["files"]))
        if value["format"] == FORMAT and value["digest"] == found.digest() and _all_inside(found.files):
            return found
    except (KeyError, TypeError, ValueError):
        pass
    raise StorageError(
        _("{place} is not the list that lastro puts beside what it sends").format(place=place),
        hint=_("it was changed or cut by something else; remove it there to fetch without it, by size alone"),
    )


def _all_inside(files: Sequence[SentFile]) -> bool:
    single = len(files) == 1 and not files[0].name
    return single or all(inside(one.name) for one in files)


def inside(name: str) -> bool:
    """Say whether a relative name stays in its folder."""
    parts = name.split("/")
    return bool(name) and not name.startswith("/") and not {"", ".", ".."} & set(parts) and "\0" not in name

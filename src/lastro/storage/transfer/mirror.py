"""A place elsewhere that holds what a disk holds: folders that are whole, and small files that change."""

from __future__ import annotations

import hashlib
import os
import secrets
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Protocol

from lastro import atomic
from lastro.storage.transfer.manifest import NAME
from lastro.storage.transfer.place import Bucket, Remote, parse_place
from lastro.storage.transfer.pull import pull
from lastro.storage.transfer.push import push
from lastro.storage.transfer.rsync import is_there, planned, rsync
from lastro.storage.transfer.s3 import S3
from lastro.storage.transfer.told import Tally

#: So much is sent to learn how fast the way out is: two parts, which go side by side.
REHEARSAL_BYTES = 32 * 2**20


class Mirror(Protocol):
    """Names are POSIX paths below the disk. Every method raises StorageError when the place refuses."""

    def holds(self, name: str) -> bool:
        """Tell whether a file of this name is there."""
        ...

    def send_folder(self, folder: Path, name: str) -> None:
        """Send what of a folder is not there; whoever fetches sees it whole or not at all."""
        ...

    def send_file(self, data: bytes, name: str) -> None:
        """Put a small file there, in place of the one that was."""
        ...

    def remove_folder(self, name: str) -> None:
        """Remove a folder that was sent."""
        ...

    def fetch(self, root: Path, last: str) -> None:
        """Bring back everything that is not here; the file `last` comes when all else is here."""
        ...


def mirror_at(place: str, records: Path, draw: Callable[[int], None]) -> Mirror:
    """Return the mirror at `s3://...` or `ssh://...`.

    Args:
        place: where it is.
        records: see `push`.
        draw: takes from a budget what is about to move; what it raises stops the transfer.

    Raises:
        UsageError: it is neither.
        StorageError: boto3 is not installed.
    """
    found = parse_place(place)
    if isinstance(found, Remote):
        return SshMirror(found, draw)
    return S3Mirror(found, S3(), records, draw)


def rehearse(mirror: Mirror, folder: Path) -> float:
    """Return how many bytes a second go out, measured with random bytes that are removed afterwards."""
    path = folder / f"{atomic.TEMPORARY}rehearsal-{secrets.token_hex(4)}"
    path.mkdir()
    try:
        (path / "bytes").write_bytes(os.urandom(REHEARSAL_BYTES))
        began = time.perf_counter()
        mirror.send_folder(path, path.name)
        seconds = time.perf_counter() - began
        mirror.remove_folder(path.name)
    finally:
        atomic.remove_tree(path)
    return REHEARSAL_BYTES / seconds


class S3Mirror:
    """A mirror in a bucket. A folder that was sent has its list beside it; that comes last."""

    def __init__(self, place: Bucket, store: S3, records: Path, draw: Callable[[int], None]) -> None:
        self._place, self._store, self._records, self._draw = place, store, records, draw
        self._sent: dict[str, str] = {}

    def _tally(self) -> Tally:
        return Tally(draw=self._draw)

    def holds(self, name: str) -> bool:
        return self._store.head(self._place.below(name)) is not None

    def send_folder(self, folder: Path, name: str) -> None:
        push(folder, self._place.below(name), self._store, self._records, self._tally())

    def send_file(self, data: bytes, name: str) -> None:
        digest = hashlib.sha256(data).hexdigest()
        if self._sent.get(name) != digest:
            self._store.put(self._place.below(name), data, self._draw)
            self._sent[name] = digest

    def remove_folder(self, name: str) -> None:
        place = self._place.below(name).below("")
        # The list goes first: without it what is left is no folder that anybody fetches.
        keys = [one.key for one in self._store.list(place)]
        for key in sorted(keys, key=lambda key: not key.endswith(NAME)):
            self._store.remove(Bucket(bucket=place.bucket, key=key))

    def fetch(self, root: Path, last: str) -> None:
        prefix = self._place.below("") if self._place.key else self._place
        names = [one.key[len(prefix.key) :] for one in self._store.list(prefix)]
        folders = [name.removesuffix(f"/{NAME}") for name in names if name.endswith(f"/{NAME}")]
        for folder in folders:
            self._fetch_folder(root, folder)
        alone = [name for name in names if not any(name.startswith(f"{folder}/") for folder in folders)]
        for name in sorted(alone, key=lambda name: name == last):
            if not _is_half(name) and not (root / name).exists():
                pull(self._place.below(name), root / name, self._store, self._tally())

    def _fetch_folder(self, root: Path, name: str) -> None:
        """Fetch a folder aside and give it its name when it is whole; files are added to one that is here."""
        final = root / name
        if final.exists():
            pull(self._place.below(name), final, self._store, self._tally())
            return
        atomic.make_folder(final.parent)
        aside = final.with_name(f"{atomic.TEMPORARY}{final.name}")
        pull(self._place.below(name), aside, self._store, self._tally())
        if aside.exists():
            aside.rename(final)
            atomic.sync_folder(final.parent)


def _is_half(name: str) -> bool:
    """Say whether a file belongs to a checkpoint whose sending was interrupted: it has no list."""
    return "/checkpoints/" in name and "/checkpoints/kept/" not in name


class SshMirror:
    """A mirror on another machine. What is half there has no right manifest, and is passed over by a job.

    Of each copy all is drawn before it begins: rsync cannot be stopped at a byte.
    """

    def __init__(self, place: Remote, draw: Callable[[int], None], ssh: Sequence[str] = ("ssh",)) -> None:
        self._place, self._draw, self._ssh = place, draw, ssh

    def _copy(self, local: Path, remote: Remote, *, away: bool, leave_out: str | None = None) -> None:
        self._draw(planned(local, remote, away=away, ssh=self._ssh, leave_out=leave_out))
        rsync(local, remote, away=away, ssh=self._ssh, leave_out=leave_out)

    def _below(self, name: str) -> Remote:
        path = f"{self._place.path.rstrip('/')}/{name}"
        return Remote(host=self._place.host, port=self._place.port, user=self._place.user, path=path)

    def holds(self, name: str) -> bool:
        return is_there(self._below(name), self._ssh)

    def send_folder(self, folder: Path, name: str) -> None:
        self._copy(folder, self._below(name), away=True)

    def send_file(self, data: bytes, name: str) -> None:
        import tempfile

        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, name.rsplit("/", 1)[-1])
            path.write_bytes(data)
            self._copy(path, self._below(name), away=True)

    def remove_folder(self, name: str) -> None:
        """Leave it: rsync removes only what it synchronises."""

    def fetch(self, root: Path, last: str) -> None:
        atomic.make_folder(root)
        self._copy(root, self._below(""), away=False, leave_out=last)
        atomic.make_folder((root / last).parent)
        self._copy(root / last, self._below(last), away=False)

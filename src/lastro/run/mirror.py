"""Takes checkpoints, outputs and records off a machine whose disk goes with it, as they are published.

A thread of its own sends; what it did becomes events when the supervisor looks. Progress counts from what has
arrived there: what is on the disk alone would be lost with the machine.
"""

from __future__ import annotations

import contextlib
import queue
import threading
import time
from collections.abc import Iterator
from pathlib import Path

from lastro import atomic, strictjson
from lastro.checkpoint.store import committed, names
from lastro.clock import SystemClock
from lastro.errors import LastroError, StoppedByRule, StorageError
from lastro.journal.events import EventType
from lastro.journal.streams import StreamWriter
from lastro.paths import AttemptFolder, CampaignFolder, Disk
from lastro.records import dataclass
from lastro.rules import Order
from lastro.run.seen import Seen
from lastro.storage.transfer.ledger import Ledger, drawing
from lastro.storage.transfer.mirror import Mirror, mirror_at, rehearse

#: Seconds between two looks at what is new, and between two sendings of records that grow.
_LOOK_SECONDS, _RECORDS_SECONDS = 1.0, 10.0
#: A record is small; what is larger has its own way.
_LARGEST_RECORD = 64 * 2**20
#: Rewritten all the time, and of no worth elsewhere.
_SIGNS = frozenset({"heartbeat", "supervisor.beat", "home.beat"})


@dataclass(frozen=True, kw_only=True)
class _Named:
    """Which place mirrors a disk, and which record its transfers draw from."""

    place: str
    budget: Path


def _mirror_of(disk: Disk) -> _Named | None:
    """Return what is named on a disk; None for one that has no mirror."""
    try:
        value = strictjson.read(disk.mirror)
    except (FileNotFoundError, NotADirectoryError):
        return None
    return _Named(place=str(value["place"]), budget=Path(value["budget"]))


@dataclass(frozen=True, kw_only=True)
class _Arrived:
    """A checkpoint that is off the machine."""

    step: int
    folder: str
    bytes: int
    seconds: float


@dataclass(frozen=True, kw_only=True)
class _Failed:
    """Something that could not be sent."""

    what: str
    why: str


class MirrorWatch:
    """Sends what one attempt publishes. Without a mirror it does nothing."""

    def __init__(self, folder: AttemptFolder, order: Order, stream: StreamWriter) -> None:
        self._run, self._order, self._stream = folder.run, order, stream
        self._disk = CampaignFolder(Path(order.campaign_folder)).disk
        self._campaign = Path(order.campaign_folder)
        self._named = _mirror_of(self._disk)
        self._place = self._named.place if self._named is not None else None
        self._mirror: Mirror | None = None
        self._rate: float | None = None
        self._news: queue.SimpleQueue[_Arrived | _Failed] = queue.SimpleQueue()
        self._thread: threading.Thread | None = None
        self._next, self._next_records = 0.0, 0.0
        self._mirrored: set[str] = set()
        self._seen: dict[Path, object] = {}
        self._told: set[str] = set()
        self._last_bytes: int | None = None

    def open(self) -> None:
        """Reach the mirror and learn how fast the way out is, before the job begins.

        An attempt whose mirror cannot be reached begins all the same: `mirror.opened` says why.
        """
        if self._place is None:
            return
        why_not = None
        try:
            self._rate = rehearse(self._reach(), self._campaign)
        except (LastroError, OSError) as error:
            why_not = str(error)
        self._stream.append(
            EventType.MIRROR_OPENED,
            place=self._place,
            bytes_per_second=round(self._rate) if self._rate else None,
            why_not=why_not,
        )

    def way_out_seconds(self) -> float:
        """Return how long the next checkpoint will take to get off the machine; 0 without a mirror."""
        if self._place is None or not self._rate:
            return 0.0
        expected = self._order.expected_save.bytes if self._order.expected_save is not None else 0
        return (self._last_bytes or expected) / self._rate

    def look(self, seen: Seen) -> None:
        """Record what was sent, and let the thread send what is new."""
        if self._place is None:
            return
        self._tell()
        if seen.now < self._next or (self._thread is not None and self._thread.is_alive()):
            return
        self._next = seen.now + _LOOK_SECONDS
        records = seen.now >= self._next_records
        if records:
            self._next_records = seen.now + _RECORDS_SECONDS
        self._thread = threading.Thread(target=self._send, args=(records,), daemon=True)
        self._thread.start()

    def finish(self) -> None:
        """Send everything that is left, and wait for it: the job has ended."""
        if self._place is None:
            return
        if self._thread is not None:
            self._thread.join()
        self._send(records=True)
        self._tell()

    def send_records(self) -> None:
        """Send what was written after `finish`: the attempt's end itself."""
        if self._place is not None:
            self._send(records=True)

    def _tell(self) -> None:
        while True:
            try:
                news = self._news.get_nowait()
            except queue.Empty:
                return
            if isinstance(news, _Failed):
                self._stream.append(EventType.MIRROR_FAILED, what=news.what, why=news.why)
                continue
            self._stream.append(
                EventType.CHECKPOINT_MIRRORED,
                step=news.step,
                folder=news.folder,
                bytes=news.bytes,
                seconds=news.seconds,
            )

    # --- in the thread --------------------------------------------------------------------------------

    def _reach(self) -> Mirror:
        assert self._named is not None
        if self._mirror is None:
            draw = drawing(Ledger(self._named.budget, SystemClock()))
            self._mirror = mirror_at(self._named.place, self._disk.mirror_uploads, draw)
        return self._mirror

    def _send(self, records: bool) -> None:
        """Send checkpoints first, outputs, then records: so a stream tells of nothing that is not there."""
        with self._failing("checkpoints"):
            self._send_checkpoints()
        with self._failing("outputs"):
            self._send_folder(self._run.outputs)
        if records:
            with self._failing("records"):
                self._send_records()

    @contextlib.contextmanager
    def _failing(self, what: str) -> Iterator[None]:
        """Tell a failure once for each reason; what failed is tried again at the next look."""
        try:
            yield
        except (LastroError, OSError) as error:
            # At the cap each try says another size, and means the same.
            reason = what if isinstance(error, StoppedByRule) else str(error)
            if reason not in self._told:
                self._told.add(reason)
                self._news.put(_Failed(what=what, why=str(error)))

    def _name(self, path: Path) -> str:
        return path.relative_to(self._disk.root).as_posix()

    def _send_checkpoints(self) -> None:
        self._send_folder(self._run.checkpoints / "base")
        there = names(self._run.checkpoints)
        for folder in reversed(there):
            manifest = None if folder.name in self._mirrored else committed(folder)
            if manifest is None or isinstance(manifest, str):
                continue
            began = time.monotonic()
            try:
                size = sum(path.stat().st_size for path in folder.iterdir())
                self._reach().send_folder(folder, self._name(folder))
            except (StorageError, FileNotFoundError):
                if folder.exists():
                    raise
                continue  # the job has let it go meanwhile; a later one is there
            self._took(folder.name, manifest.step, size, time.monotonic() - began)
        for name in self._mirrored - {path.name for path in there}:
            self._reach().remove_folder(self._name(self._run.checkpoints / name))
            self._mirrored.discard(name)

    def _took(self, name: str, step: int, size: int, seconds: float) -> None:
        self._mirrored.add(name)
        self._last_bytes = size
        if size > _LARGEST_RECORD and seconds > 0:
            self._rate = size / seconds
        self._news.put(_Arrived(step=step, folder=name, bytes=size, seconds=round(seconds, 3)))

    def _send_folder(self, folder: Path) -> None:
        """Send a folder that grows, when something in it is new."""
        if not folder.is_dir():
            return
        files = [path for path in folder.rglob("*") if path.is_file() and not _is_aside(path)]
        now = sorted((path.as_posix(), path.stat().st_size, path.stat().st_mtime_ns) for path in files)
        if now and self._seen.get(folder) != now:
            self._reach().send_folder(folder, self._name(folder))
            self._seen[folder] = now

    def _send_records(self) -> None:
        """Send the small files of the campaign that have changed, and last what says which disk this is."""
        apart = {
            self._run.root.parent / run.name / part
            for run in self._runs()
            for part in ("checkpoints", "outputs")
        }
        for path in sorted(self._campaign.rglob("*")):
            inside = any(parent in apart for parent in path.parents)
            kept = self._run.checkpoints / "kept" in path.parents
            if (not inside or kept) and path.is_file() and path.name not in _SIGNS and not _is_aside(path):
                self._send_record(path)
        for path in (self._disk.mirror, self._disk.facts):
            self._send_record(path)

    def _runs(self) -> list[Path]:
        return [path for path in self._run.root.parent.iterdir() if path.is_dir()]

    def _send_record(self, path: Path) -> None:
        try:
            facts = path.stat()
            seen = (facts.st_size, facts.st_mtime_ns)
            if facts.st_size > _LARGEST_RECORD or self._seen.get(path) == seen:
                return
            data = path.read_bytes()
        except FileNotFoundError:  # it was replaced, or let go, meanwhile
            return
        self._reach().send_file(data, self._name(path))
        self._seen[path] = seen


def _is_aside(path: Path) -> bool:
    return any(part.startswith(atomic.TEMPORARY) for part in path.parts) or path.is_symlink()

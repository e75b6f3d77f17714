"""The part of a machine's disk that home needs, kept at home; and what home writes, brought there.

Of each file one side is the writer. Home writes plan, orders, code, inputs, its own stream and the closing;
the machine everything else. Only numbered claims are made by both, and there the first one counts.
"""

from __future__ import annotations

import math
import os
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from lastro import atomic, strictjson
from lastro.clock import Clock
from lastro.errors import Fenced, ProviderError, StorageError
from lastro.locale import _
from lastro.paths import CampaignFolder, Disk, RunFolder
from lastro.procs.identity import ProcessId
from lastro.providers.base import Copy
from lastro.providers.ssh.channel import ANSWER_SECONDS, Channel, is_away
from lastro.providers.ssh.share import Share, Whole
from lastro.storage.digest import sha256_file

#: Seconds between two exchanges while nothing presses.
EXCHANGE_SECONDS = 1.0
#: Seconds between two tries to reach a machine that does not answer: the first, and the longest.
_RETRIES = (2.0, 30.0)
#: Bytes of one answer, and of one piece of a file.
_MOST = 1 << 22
#: Bytes a second at which even a disk on a network is read.
_SLOWEST = 10e6
#: Seconds for a look at everything beside the disk, and for copying what is found.
_RESCUE_SECONDS = 1800.0
#: In the copy's own folder: which path on the machine it is the copy of.
WHERE = "where.json"
_OURS_IF_THERE = ("plan.json", "campaign.yaml", "lastro.lock")
_GROWING = ("runs/*/supervisor.log", "runs/*/attempts/*/*", "runs/*/outputs/items.jsonl")
_OURS_BELOW_RUN = ("config.json", "order.json")


class Replica:
    """Home's copy of one disk, and the way to it.

    Args:
        channel: the way to the machine.
        path: of the disk there.
        local: the copy.
        clock: for waits.
        share: what of the copy is this machine's; None: all of it.

    Attributes:
        local: the copy.
        there: the disk's place on the machine.
        trouble: why nobody answers now; None when somebody does.
    """

    def __init__(
        self, channel: Channel, path: str, local: Disk, clock: Clock, share: Share | None = None
    ) -> None:
        self.local = local
        self.there = Path()
        self._share: Share = share or Whole(local.facts)
        self._proof: Mapping[str, Any] = {}
        self._declared: str | None = None
        self._channel, self._path, self._clock = channel, path, clock
        self._connection = 0
        self._told_what_is_here = False
        self._pushed: dict[str, tuple[int, int]] = {}
        self._stops_asked: set[str] = set()
        self._stops_there: set[str] = set()
        self._living: dict[ProcessId, bool] = {}
        self._boot = ""
        self._next, self._tries = -math.inf, 0
        self.trouble: str | None = None

    # --- opening --------------------------------------------------------------------------------------

    def open(self, declared: str | None) -> None:
        """Open the disk on the machine, and make its marker known here.

        Raises:
            ProviderError: the machine cannot be reached, or will not have us.
            StorageError: the disk cannot be used, or it is another one than before.
        """
        atomic.make_folder(self.local.root)
        atomic.claim(self.local.root / WHERE, strictjson.pretty({"path": self._path}).encode())
        self._declared = declared or self._declared
        proof, marker = self._channel.ask("disk", path=self._path, declared=self._declared)
        self._connection = self._channel.connections
        self._proof, self.there = proof, Path(proof["path"])
        atomic.make_folder(self._share.marker.parent)
        if self._share.marker.exists():
            self._require_same(str(strictjson.loads(marker)["uuid"]))
        atomic.write_bytes(self._share.marker, marker)

    @property
    def marker(self) -> Path:
        """Where home keeps which disk the machine has."""
        return self._share.marker

    def proof(self, machine: str) -> Mapping[str, Any]:
        """Return what the machine says of its disk: state, why, fs_type, source, on_root, troubles."""
        return self._proof

    def uuid(self, machine: str) -> str:
        """Return the id of its disk."""
        return str(strictjson.read(self._share.marker)["uuid"])

    def _require_same(self, uuid: str | None) -> None:
        expected = str(strictjson.read(self._share.marker)["uuid"])
        if uuid != expected:
            raise StorageError(
                _(
                    "the disk of this campaign is not at {path} on {where} (found: {found}, expected: {key})"
                ).format(
                    path=self._path,
                    where=self._channel.target.spec,
                    found=uuid[:8] if uuid else _("none"),
                    key=expected[:8],
                ),
                hint=_("mount it there; nothing was changed"),
            )

    def _reconnected(self) -> bool:
        """Connect if need be; True when the agent is a new one, which knows nothing yet."""
        self._channel.connect()
        if self._connection == self._channel.connections:
            return False
        self.open(None)
        self._told_what_is_here = False
        return True

    def close(self) -> None:
        """Hang up. What was started on the machine goes on."""
        self._channel.close()

    # --- exchanging -----------------------------------------------------------------------------------

    def exchange(
        self,
        campaign: CampaignFolder,
        mine: str,
        processes: Collection[ProcessId],
        *,
        now: bool = False,
        reading: bool = False,
    ) -> None:
        """Bring what home wrote there, and what the machine wrote here.

        A machine that is away is told by `trouble`, and asked again later.

        Args:
            campaign: its folder in the replica.
            mine: the name of the stream that this home writes.
            processes: supervisors on the machine, to be asked whether they live.
            now: do not wait for the next time that it is due.
            reading: bring here only, for who looks on.

        Raises:
            Fenced: another home has taken a number that this one wanted.
            StorageError: the disk there is away, or is another one.
            ProviderError: the machine will not have us any more.
        """
        if self._clock.monotonic() < self._next and (not now or self.trouble is not None):
            return
        try:
            if self._reconnected() or not self._told_what_is_here:
                self._pull(campaign, mine, processes)
            if not reading:
                self._push(campaign, mine)
            self._pull(campaign, mine, processes)
        except ProviderError as error:
            if not is_away(error):
                raise
            self.stand_back(error.message)
            return
        self.trouble, self._tries = None, 0
        self._next = self._clock.monotonic() + EXCHANGE_SECONDS

    def stand_back(self, why: str) -> None:
        """Take note that nothing is to be had there now; it is asked again later, less and less often."""
        self.trouble = why
        self._tries += 1
        first, longest = _RETRIES
        self._next = self._clock.monotonic() + min(longest, first * 2.0 ** (self._tries - 1))

    def alive(self, process: ProcessId) -> bool | None:
        """Return whether a process of the machine lives, as far as it was asked; None: not yet."""
        if self._boot and process.boot_id not in ("", self._boot):
            return False  # the machine was started anew since
        return self._living.get(process)

    # --- what home writes -----------------------------------------------------------------------------

    def _push(self, campaign: CampaignFolder, mine: str) -> None:
        self._push_stream(campaign, mine)
        for path in _written_by_home(campaign):
            self._put_if_new(path, "replace")
        for folder in (campaign.owners, *(one / "seats" for one in _runs(campaign))):
            for path in sorted(folder.glob("*.json")) if folder.is_dir() else ():
                if not self._put_if_new(path, "claim"):
                    self._yield_to_other(campaign, path)
        self._push_stops(campaign)
        if campaign.home_beat.exists() and self._is_new(campaign.home_beat):
            self._channel.ask("touch", path=self._name(campaign.home_beat))
            self._note(campaign.home_beat)

    def _push_stream(self, campaign: CampaignFolder, mine: str) -> None:
        path = campaign.stream(mine)
        if not path.exists() or not self._is_new(path):
            return
        data, before = path.read_bytes(), self._pushed.get(self._name(path), (0, 0))[0]
        done = False
        if 0 < before < len(data):
            told, _none = self._channel.ask(
                "put", data[before:], path=self._name(path), how="append", offset=before
            )
            done = told["done"]
        if not done:
            self._channel.ask("put", data, path=self._name(path), how="replace")
        self._note(path, size=len(data))

    def _push_stops(self, campaign: CampaignFolder) -> None:
        """Ask runs to stop; take a request back that home has taken back, and forget one that was heeded."""
        for run in _runs(campaign):
            path = run / "stop.json"
            name = self._name(path)
            if not self._is_its(campaign, path):
                continue
            if not path.exists():
                if name in self._stops_there:
                    self._channel.ask("drop", path=name)
                self._stops_there.discard(name)
                self._stops_asked.discard(name)
            elif name not in self._stops_there | self._stops_asked:
                self._channel.ask("put", path.read_bytes(), path=name, how="replace")
                self._stops_asked.add(name)
            elif name in self._stops_asked and name not in self._stops_there:
                self._forget(name)  # the look that followed the request did not find it any more

    def _yield_to_other(self, campaign: CampaignFolder, path: Path) -> None:
        """A number that both have claimed is that of the one that came first, which is the other side."""
        path.unlink(missing_ok=True)
        self._pushed.pop(self._name(path), None)
        if path.parent == campaign.owners:
            raise Fenced(
                _("another home has taken this campaign over"),
                hint=_(
                    "`lastro status` reads it from here; `lastro run --take-over` makes this home drive it"
                ),
            )

    def _put_if_new(self, path: Path, how: str) -> bool:
        """Put a file there unless it was; False when somebody else's stands under a claimed name."""
        if not self._is_new(path):
            return True
        told, _none = self._channel.ask("put", path.read_bytes(), path=self._name(path), how=how, offset=0)
        if told["done"]:
            self._note(path)
        return bool(told["done"])

    def _is_new(self, path: Path) -> bool:
        stat = path.stat()
        return self._pushed.get(self._name(path)) != (stat.st_size, stat.st_mtime_ns)

    def _note(self, path: Path, *, size: int | None = None) -> None:
        stat = path.stat()
        self._pushed[self._name(path)] = (stat.st_size if size is None else size, stat.st_mtime_ns)

    def _place(self, folder: Path, name: str) -> Path:
        """Return where a file that the machine names lies here. What is rented is not trusted with more.

        Raises:
            ProviderError: it would lie elsewhere.
        """
        if Path(name).is_absolute() or ".." in Path(name).parts:
            raise ProviderError(
                _("{where} names a file that lies outside of the campaign: {name!r}").format(
                    where=self._channel.target.spec, name=name
                ),
                hint=_("nothing was written; do not trust this machine"),
            )
        return folder / name

    def _name(self, path: Path) -> str:
        return path.relative_to(self.local.root).as_posix()

    # --- what the machine writes ----------------------------------------------------------------------

    def _pull(self, campaign: CampaignFolder, mine: str, processes: Collection[ProcessId]) -> None:
        name = campaign.root.name
        if not self._told_what_is_here:
            have = {name: size for name, size in _sizes(campaign) if self._share.is_its(campaign, name)}
            self._channel.ask("know", strictjson.dumps(have).encode(), campaign=name, mine=[mine])
            self._told_what_is_here = True
            self._stops_there.clear()
        asked = list(processes)
        more = True
        while more:
            told, body = self._channel.ask(
                "look", campaign=name, most=_MOST, processes=[one.as_json() for one in asked]
            )
            self._require_same(told["disk"])
            self._take(campaign, told["files"], body)
            for one in told["gone"]:
                self._forget(f"campaigns/{name}/{one}")
            self._boot = told["boot"]
            self._living.update(zip(asked, told["living"], strict=True))
            more = bool(told["more"])

    def _take(self, campaign: CampaignFolder, files: Sequence[Mapping[str, Any]], body: bytes) -> None:
        place = 0
        for one in files:
            data = body[place : place + one["length"]]
            place += one["length"]
            path = self._place(campaign.root, one["path"])
            name = self._name(path)
            if one["path"] in _OURS_IF_THERE and path.exists():
                continue
            if not self._share.takes(campaign, one):
                continue
            atomic.make_folder(path.parent)
            if one["offset"] == 0:
                _write(path, data)
            elif path.exists() and path.stat().st_size >= one["offset"]:
                with path.open("r+b") as file:
                    file.truncate(one["offset"])
                    file.seek(one["offset"])
                    file.write(data)
            else:
                self._told_what_is_here = False  # somebody has cleared up here: all is told again
            if path.name == "stop.json":
                self._stops_there.add(name)
            elif one["path"] in _OURS_IF_THERE or path.parent.name in ("owners", "seats"):
                self._note(path)

    def _is_its(self, campaign: CampaignFolder, path: Path) -> bool:
        return self._share.is_its(campaign, path.relative_to(campaign.root).as_posix())

    def _forget(self, name: str) -> None:
        if name.endswith("/stop.json") or "/shells/" in name:
            self._place(self.local.root, name).unlink(missing_ok=True)
        if name.endswith("/stop.json"):
            self._stops_asked.discard(name)
            self._stops_there.discard(name)

    # --- large files ----------------------------------------------------------------------------------

    def carry(self, paths: Sequence[Path], machine: str) -> None:
        """Bring files, or folders with all in them, there; what is there already is not sent again.

        Raises:
            ProviderError: the machine cannot be reached: what has arrived stays, and is gone on with.
            StorageError: it arrives with other bytes.
        """
        self._reconnected()
        for path in paths:
            files = [path] if path.is_file() else sorted(one for one in path.rglob("*") if one.is_file())
            for file in files:
                if self._is_new(file) and not file.name.startswith(atomic.TEMPORARY):
                    self._send(file)
                    self._note(file)

    def rescue(self, machine: str, seconds: float) -> Mapping[str, Any]:
        """Have what of value was made there lately, beside the disk, copied to the disk; see `Link`."""
        self._reconnected()
        told, _none = self._channel.ask("rescue", machine=machine, age=seconds, seconds=_RESCUE_SECONDS)
        return told

    def bring(self, run: RunFolder, machine: str) -> None:
        """Bring nothing: a run's work lies on the one machine already."""

    def arrived(self) -> Sequence[Copy]:
        """Return nothing: checkpoints stay on the machine."""
        return ()

    def _send(self, file: Path) -> None:
        name, size = self._name(file), file.stat().st_size
        digest = sha256_file(file)
        state, _none = self._channel.ask("receive", path=name, offset=None)
        if state["there"] and self._digest_there(name, size) == digest:
            return
        offset = min(int(state["size"]), size)
        with file.open("rb") as source:
            source.seek(offset)
            done = False
            while not done:
                piece = source.read(_MOST)
                last = offset + len(piece) >= size
                told, _none = self._channel.ask(
                    "receive",
                    piece,
                    path=name,
                    offset=offset,
                    sha256=digest if last else None,
                    seconds=_seconds_to_read(size),
                )
                offset += len(piece)
                done = last
        if not told["done"]:
            raise StorageError(
                _("{name} arrived on {where} with other bytes").format(
                    name=name, where=self._channel.target.spec
                ),
                hint=_("type the command again: it is sent anew"),
            )

    def fetch(self, campaign: CampaignFolder) -> None:
        """Bring everything that runs have delivered here, whole: what is here already is not asked for again.

        Raises: as `carry`.
        """
        self._reconnected()
        for run in _runs(campaign):
            for folder in (run / "outputs", run / "tensorboard"):
                if not self._is_its(campaign, folder):
                    continue
                for name, size in self.listed(folder).items():
                    self._fetch_file(self._place(folder, name), size)

    def listed(self, folder: Path) -> Mapping[str, int]:
        """Return the files below a folder there, by their path in it, with their sizes in bytes."""
        _head, listed = self._channel.ask("list", path=self._name(folder))
        return {str(name): int(size) for name, size in strictjson.loads(listed)}

    def piece(self, path: Path, offset: int) -> bytes:
        """Return the next bytes of a file there; empty at its end, or where there is none any more."""
        self._place(self.local.root, self._name(path))
        try:
            _head, piece = self._channel.ask("get", path=self._name(path), offset=offset, most=_MOST)
        except StorageError:
            return b""
        return piece

    def place(self, path: Path) -> str:
        """Return where a path of the copy lies on the machine."""
        return f"{self._channel.target.spec}:{self.there / self._name(path)}"

    def unlike(self, files: Sequence[tuple[Path, int, str]]) -> str | None:
        """Have files read on the machine, one after the other; return what is wrong with the first that is.

        Args:
            files: of each the path here, its size in bytes, and its SHA-256.

        Raises: as `carry`.
        """
        self._reconnected()
        for path, size, sha256 in files:
            if self._digest_there(self._name(path), size) != sha256:
                return _("{path} has other bytes").format(path=self.place(path))
        return None

    def _fetch_file(self, path: Path, size: int) -> None:
        name = self._name(path)
        if self._pushed.get(f"fetched {name}") == (size, 0) and path.exists():
            return
        digest = self._digest_there(name, size)
        if not (path.exists() and path.stat().st_size == size and sha256_file(path) == digest):
            atomic.make_folder(path.parent)
            aside = path.with_name(f"{atomic.TEMPORARY}arriving-{path.name}")
            self._fill(aside, name, size)
            if sha256_file(aside) != digest:
                aside.unlink()
                raise StorageError(
                    _("{name} of {where} arrived with other bytes").format(
                        name=name, where=self._channel.target.spec
                    ),
                    hint=_("type the command again: it is fetched anew"),
                )
            atomic.sync_file(aside)
            aside.replace(path)
            atomic.sync_folder(path.parent)
        self._pushed[f"fetched {name}"] = (size, 0)

    def _digest_there(self, name: str, size: int) -> str:
        told, _none = self._channel.ask("digest", path=name, seconds=_seconds_to_read(size))
        return str(told["sha256"])

    def _fill(self, aside: Path, name: str, size: int) -> None:
        """Fetch what is missing of a file; an earlier try may have brought its beginning."""
        with aside.open("ab") as file:
            while file.tell() < size:
                _head, piece = self._channel.ask("get", path=name, offset=file.tell(), most=_MOST)
                if not piece:
                    return  # it became shorter: its digest tells
                file.write(piece)


def _seconds_to_read(size: int) -> float:
    """Return how long an answer may take for which so many bytes are read from a slow disk."""
    return ANSWER_SECONDS + size / _SLOWEST


def _write(path: Path, data: bytes) -> None:
    """Put a small file in its place; the machine has the durable one."""
    aside = path.with_name(f"{atomic.TEMPORARY}{os.getpid()}-{path.name}")
    aside.write_bytes(data)
    aside.replace(path)


def _runs(campaign: CampaignFolder) -> list[Path]:
    return sorted(path for path in campaign.runs.iterdir() if path.is_dir()) if campaign.runs.is_dir() else []


def _written_by_home(campaign: CampaignFolder) -> Iterator[Path]:
    for name in _OURS_IF_THERE:
        if (campaign.root / name).exists():
            yield campaign.root / name
    for run in _runs(campaign):
        yield from (run / name for name in _OURS_BELOW_RUN if (run / name).exists())
    if campaign.close.is_dir():
        yield from sorted(path for path in campaign.close.rglob("*") if path.is_file())


def _sizes(campaign: CampaignFolder) -> Iterator[tuple[str, int]]:
    """Give what is here already with its size, below the campaign's folder: growing files, and open shells.

    Of the latter the machine then tells which are gone. Not the streams: they are told whole after each
    connection, because sums are made over them.
    """
    root = campaign.root
    for pattern in (*_GROWING, "shells/*/*"):
        for path in sorted(root.glob(pattern)):
            if path.is_file():
                yield path.relative_to(root).as_posix(), path.stat().st_size

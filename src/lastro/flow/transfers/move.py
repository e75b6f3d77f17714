"""A push or a pull from its wish to its record: priced, held to the cap, done, and its copy written down."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from lastro.clock import Clock, iso
from lastro.errors import UsageError
from lastro.flow.transfers.copies import Copy, nearest, read_copies, record_copy
from lastro.flow.transfers.price import Ends, Estimate, estimate
from lastro.locale import _
from lastro.paths import Home
from lastro.records import dataclass
from lastro.spec.load import load_offers_file
from lastro.spec.offers import Offers
from lastro.storage.transfer.ledger import Cap, Ledger, may_move, over
from lastro.storage.transfer.place import Bucket, Remote, parse_place
from lastro.storage.transfer.pull import find, pull
from lastro.storage.transfer.push import ahead, push
from lastro.storage.transfer.rsync import planned, rsync
from lastro.storage.transfer.s3 import S3
from lastro.storage.transfer.told import Tally

#: What `pull` takes in place of a place: the digest that a push has told.
_DIGEST = "sha256:"


@dataclass(frozen=True, kw_only=True)
class Wish:
    """What is to be moved. `offers`: prices; `cap`: replaces the one that was kept; None: as it is.

    `compress`: make files smaller on their way to a bucket, where a sample says that it pays.
    """

    ends: Ends
    offers: Path | None = None
    cap: Cap | None = None
    workers: int = 8
    compress: bool = False


@dataclass(frozen=True, kw_only=True)
class MoveResult:
    """What was moved, and what it was expected to be.

    `why`: of the copy that was chosen. `compression`: what was decided of each file, and why.
    """

    place: str
    path: str
    digest: str | None
    verified: str
    estimate: Estimate
    tally: dict[str, Any]
    left_out: tuple[dict[str, str], ...] = ()
    why: str | None = None
    compression: tuple[dict[str, Any], ...] = ()

    def as_json(self) -> dict[str, Any]:
        return {
            "place": self.place,
            "path": self.path,
            "digest": self.digest,
            "verified": self.verified,
            "estimate": self.estimate.as_json(),
            **self.tally,
            "left_out": list(self.left_out),
            "why": self.why,
            "compression": list(self.compression),
        }


class Mover:
    """Moves things between this machine and places elsewhere, for one home."""

    def __init__(
        self,
        home: Home,
        clock: Clock,
        wish: Wish,
        *,
        told: Callable[[int, int], None] = lambda _done, _total: None,
        ahead: Callable[[Estimate], None] = lambda _estimate: None,
    ) -> None:
        """Read prices and cap. `ahead` is told what it will cost, before anything moves."""
        self._home, self._clock, self._wish = home, clock, wish
        self._told, self._ahead = told, ahead
        self._market: Offers | None = load_offers_file(wish.offers) if wish.offers is not None else None
        self._ledger = Ledger(home.moved, clock)
        if wish.cap is not None:
            self._ledger.set_cap(wish.cap)

    @property
    def _copies(self) -> Path:
        return self._home.transfers / "copies.jsonl"

    def push(self, source: Path, target: str) -> MoveResult:
        """Send a file or a folder.

        Raises:
            UsageError, StorageError: see `storage.transfer.push`.
            StoppedByRule: the cap would be passed; what has arrived stays.
        """
        place = parse_place(target)
        if isinstance(place, Remote):
            if self._wish.compress:
                raise UsageError(
                    _("what goes by ssh is not compressed by lastro"),
                    hint=_("leave out --compress; `Compression yes` in your ssh configuration does it"),
                )
            return self._by_ssh(source, place, away=True)
        store, records = S3(connections=self._wish.workers), self._home.transfers / "uploads"
        missing = ahead(source, place, store, records, compress=self._wish.compress)
        told = self._tell(missing.bytes, missing.requests, self._wish.ends)
        tally = self._tally(told)
        wish = self._wish
        sent = push(source, place, store, records, tally, workers=wish.workers, compress=wish.compress)
        digest = sent.files.digest()
        self._record(digest, source.name, tally.bytes, place, self._wish.ends.to)
        return MoveResult(
            place=str(place),
            path=str(source),
            digest=digest,
            verified="md5",
            estimate=told,
            tally=tally.as_json(),
            left_out=tuple(one.as_json() for one in sent.left_out),
            compression=tuple(one.as_json() for one in sent.chosen),
        )

    def pull(self, origin: str, target: Path) -> MoveResult:
        """Fetch what lies at a place, or the nearest copy of `sha256:DIGEST`. Raises as `push`."""
        why, ends = None, self._wish.ends
        if origin.startswith(_DIGEST):
            chosen = nearest(read_copies(self._copies), origin.removeprefix(_DIGEST), ends.to, self._market)
            origin, why = chosen.copy.place, chosen.why
            ends = Ends(origin=ends.origin or chosen.copy.region, to=ends.to)
        place = parse_place(origin)
        if isinstance(place, Remote):
            return self._by_ssh(target, place, away=False)
        store = S3(connections=self._wish.workers)
        size, count = self._lies_at(place, store)
        told = self._tell(size, count, ends)
        tally = self._tally(told)
        fetched = pull(place, target, store, tally, workers=self._wish.workers)
        if fetched.digest is not None and ends.origin is not None:
            self._record(fetched.digest, fetched.path.name, size, place, ends.origin)
        return MoveResult(
            place=str(place),
            path=str(fetched.path),
            digest=fetched.digest,
            verified=fetched.level.value,
            estimate=told,
            tally=tally.as_json(),
            why=why,
        )

    def _lies_at(self, place: Bucket, store: S3) -> tuple[int, int]:
        """Return bytes and number of the files at a place. The list of them is small, but counts too."""
        wanted, _listed = find(place, store, Tally())
        return sum(one.object.bytes for one in wanted), len(wanted)

    def _by_ssh(self, local: Path, remote: Remote, *, away: bool) -> MoveResult:
        """Copy by rsync. It cannot be stopped at a byte, so all of it is drawn before it begins."""
        told = self._tell(planned(local, remote, away=away), 0, self._wish.ends)
        self._draw(told, told.bytes)
        done = rsync(local, remote, away=away)
        tally = {"files": done.files, "moved_bytes": done.moved_bytes, "repaired": list(done.repaired)}
        return MoveResult(
            place=str(remote), path=str(local), digest=None, verified="rsync", estimate=told, tally=tally
        )

    def _tell(self, size: int, requests: int, ends: Ends) -> Estimate:
        """Price what is ahead; raise before anything moves when the cap does not hold it."""
        moved, cap = self._ledger.read()
        told = estimate(self._market, ends, size, requests, used=moved.bytes)
        self._ahead(told)
        verdict = may_move(moved, cap, size, told.price_of_gb)
        if not verdict.allowed:
            raise over(verdict)
        return told

    def _tally(self, told: Estimate) -> Tally:
        return Tally(draw=lambda size: self._draw(told, size), told=self._told)

    def _draw(self, told: Estimate, size: int) -> None:
        self._ledger.draw(size, told.price_of_gb)

    def _record(self, digest: str, name: str, size: int, place: Bucket, region: str | None) -> None:
        at = iso(self._clock.now())
        copy = Copy(digest=digest, name=name, bytes=size, place=str(place), region=region, at=at)
        record_copy(self._copies, copy)

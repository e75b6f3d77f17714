"""Which copies there are of what was moved, by digest and region; and which of them to fetch from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from lastro import atomic, strictjson
from lastro.errors import StorageError
from lastro.flow.transfers.price import Ends, estimate, jurisdiction_of
from lastro.locale import _
from lastro.records import dataclass
from lastro.spec.offers import Offers


@dataclass(frozen=True, kw_only=True)
class Copy:
    """Something that lies at a place, whole, when it was recorded. `region`: None where nobody told."""

    digest: str
    name: str
    bytes: int
    place: str
    region: str | None
    at: str


def read_copies(path: Path) -> list[Copy]:
    """Return all copies that were recorded, the newest record of each place only."""
    found: dict[tuple[str, str], Copy] = {}
    lines = path.read_text().splitlines() if path.exists() else []
    for line in lines:
        try:
            one = Copy(**strictjson.loads(line))
        except (ValueError, TypeError):  # the last line was cut by a kill
            continue
        found = {key: kept for key, kept in found.items() if kept.place != one.place}
        found[one.digest, one.place] = one
    return list(found.values())


def record_copy(path: Path, copy: Copy) -> None:
    """Keep that a copy lies somewhere."""
    atomic.make_folder(path.parent)
    with path.open("a") as file:
        file.write(strictjson.dumps(asdict(copy)) + "\n")


@dataclass(frozen=True, kw_only=True)
class Nearest:
    """The copy to fetch from, and why that one."""

    copy: Copy
    why: str


def nearest(copies: Sequence[Copy], digest: str, to: str | None, market: Offers | None) -> Nearest:
    """Choose among the copies of a digest: in the same region, then by price, then in the same jurisdiction.

    Of several that are alike, the one that was recorded last. A price that is unknown comes after all known.

    Args:
        copies: all that are known.
        digest: of what is wanted; its first characters will do.
        to: the region that it is wanted in; None: nobody told.
        market: prices; None: there are none.

    Raises:
        StorageError: there is no copy, or the characters fit several digests.
    """
    found = [one for one in copies if one.digest.startswith(digest)]
    if not found or len({one.digest for one in found}) > 1:
        told = _("no copy of {digest} is known") if not found else _("{digest} fits several digests")
        raise StorageError(
            told.format(digest=digest), hint=_("name the place itself; `lastro disk push` tells digests")
        )

    def rank(one: Copy) -> tuple[bool, bool, float, bool]:
        same = to is not None and one.region == to
        price = estimate(market, Ends(origin=one.region, to=to), one.bytes, 0).cost.amount
        law = to is not None and one.region is not None
        near = law and jurisdiction_of(market, str(one.region)) == jurisdiction_of(market, str(to))
        return (not same, price is None, float(price.amount) if price is not None else 0.0, not near)

    best = min(sorted(found, key=lambda one: one.at, reverse=True), key=rank)
    return Nearest(copy=best, why=_why(best, to, market, len(found)))


def _why(best: Copy, to: str | None, market: Offers | None, count: int) -> str:
    if count == 1:
        return _("it is the only copy that is known")
    if to is not None and best.region == to:
        return _("it lies in {region} too").format(region=to)
    price = estimate(market, Ends(origin=best.region, to=to), best.bytes, 0).cost.amount
    if price is not None:
        return _("no copy costs less to fetch: {price}").format(price=price)
    return _("no price is known; it was recorded last")

"""A disk that goes with its machine has a mirror: it is named on the disk, and brought back from there."""

from __future__ import annotations

from lastro import atomic, strictjson
from lastro.clock import Clock
from lastro.paths import CampaignFolder, Disk, Home, HomeCampaign
from lastro.storage.transfer.ledger import Ledger, drawing
from lastro.storage.transfer.mirror import mirror_at


def budget(home: Home, clock: Clock) -> Ledger:
    """Return the record that all transfers of a home draw from."""
    return Ledger(home.moved, clock)


def bring_back(disk: Disk, place: str, budget: Ledger) -> bool:
    """Fetch a disk that is gone from its mirror; False where it is here, or the mirror holds nothing of it.

    What tells which disk it is comes last, so an interrupted fetch goes on.

    Raises:
        UsageError, StorageError: the place is none, cannot be reached, or gives something damaged.
        StoppedByRule: the cap on transfers does not hold it; what has arrived stays.
    """
    if disk.facts.exists():
        return False
    mirror = mirror_at(place, disk.mirror_uploads, drawing(budget))
    last = disk.facts.relative_to(disk.root).as_posix()
    if not mirror.holds(last):
        return False
    atomic.make_folder(disk.root)
    mirror.fetch(disk.root, last)
    return True


def continue_streams(copies: HomeCampaign, campaign: CampaignFolder) -> None:
    """Give a disk that was brought back the ends of its streams, which home has and the mirror has not.

    Only where the disk's stream is the beginning of home's: what else differs the journal judges.
    """
    for copy in sorted(copies.journal.glob("*.jsonl")):
        there = campaign.journal / copy.name
        known, found = copy.read_bytes(), there.read_bytes() if there.exists() else b""
        if len(found) < len(known) and known.startswith(found):
            atomic.make_folder(there.parent)
            atomic.write_bytes(there, known)


def name_mirror(disk: Disk, place: str | None, home: Home) -> None:
    """Keep on the disk where its mirror is, for the supervisors of its machines; None: it has none.

    A disk with a mirror lies on the computer of its home, so they draw from home's own budget.
    """
    if place is None:
        disk.mirror.unlink(missing_ok=True)
        return
    text = strictjson.pretty({"place": place, "budget": str(home.moved)})
    if not disk.mirror.exists() or disk.mirror.read_text() != text:
        atomic.write_text(disk.mirror, text)

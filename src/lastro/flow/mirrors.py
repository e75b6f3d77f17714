"""A disk that goes with its machine has a mirror: it is named on the disk, and brought back from there."""

from __future__ import annotations

from lastro import atomic, strictjson
from lastro.paths import CampaignFolder, Disk, HomeCampaign
from lastro.storage.transfer.mirror import mirror_at


def bring_back(disk: Disk, place: str) -> bool:
    """Fetch a disk that is gone from its mirror; False where it is here, or the mirror holds nothing of it.

    What tells which disk it is comes last, so an interrupted fetch goes on.

    Raises:
        UsageError, StorageError: the place is none, cannot be reached, or gives something damaged.
    """
    if disk.facts.exists():
        return False
    mirror = mirror_at(place, disk.mirror_uploads)
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


def name_mirror(disk: Disk, place: str | None) -> None:
    """Keep on the disk where its mirror is, for the supervisors of its machines; None: it has none."""
    if place is None:
        disk.mirror.unlink(missing_ok=True)
        return
    text = strictjson.pretty({"place": place})
    if not disk.mirror.exists() or disk.mirror.read_text() != text:
        atomic.write_text(disk.mirror, text)

"""Whether a closed campaign gets its second copy by itself, and if not, why. Pure."""

from __future__ import annotations

from lastro.locale import _
from lastro.records import dataclass
from lastro.units import show_bytes

#: More is not copied unasked: some minutes of a good disk, which nobody expects of a closing.
MOST_BYTES = 10 * 10**9
#: So many times the copy has to find room: what home keeps beside it must not be the one that fills the disk.
ROOM = 2


@dataclass(frozen=True, kw_only=True)
class Between:
    """What lies between a campaign's disk and home.

    `apart`: on two file systems. `bytes`: of the closed folder; `free`: at home. `bucket`: the type of the
    file system in front of what bills for what is read from it, as most buckets do; None: nothing such.
    """

    apart: bool
    bytes: int
    free: int
    bucket: str | None = None


def why_not_copied(between: Between) -> str | None:
    """Return why no second copy is made at home without being asked for; None: it is made."""
    if not between.apart:
        return _("home lies on the file system of the disk")
    if between.bucket is not None:
        return _("the disk is a {type} file system, and what is read from it may be billed").format(
            type=between.bucket
        )
    if between.bytes > MOST_BYTES:
        return _("it has {size}, and no more than {most} are copied unasked").format(
            size=show_bytes(between.bytes), most=show_bytes(MOST_BYTES)
        )
    if between.bytes * ROOM > between.free:
        return _("it has {size}, and home has {free} free").format(
            size=show_bytes(between.bytes), free=show_bytes(between.free)
        )
    return None

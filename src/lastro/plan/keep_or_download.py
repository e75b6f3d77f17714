"""Whether it is cheaper to keep a disk between two sessions, or to download again what lay on it."""

from __future__ import annotations

import math
from decimal import Decimal

from lastro.records import dataclass
from lastro.units import Money


@dataclass(frozen=True, kw_only=True)
class KeepOrDownload:
    """`longest_gap_hours`: up to here between two sessions the disk costs less than another download.

    `sessions`: in `kept_hours`, from so many sessions on one disk for all that time costs less than a
    download in each; None where a download costs nothing. Both None for a disk that costs nothing, which is
    always kept.
    """

    again: Money
    kept: Money
    longest_gap_hours: float | None
    sessions: int | None


def keep_or_download(*, again: Money, an_hour: Money, kept_hours: Decimal) -> KeepOrDownload:
    """Compare the price of keeping with that of downloading.

    Args:
        again: what one more download costs: the machine that waits for it, and what leaves the other place.
        an_hour: what one hour of the disk costs while no machine holds it.
        kept_hours: for how long the disk would be kept.

    Raises:
        ValueError: two currencies; they are not compared without a rate.

    Of S sessions only the first downloads when the disk is kept, all of them when it is not:
    kept_hours * an_hour < (S - 1) * again, so S > 1 + kept_hours * an_hour / again.
    """
    if again.currency != an_hour.currency:
        raise ValueError(f"{again.currency} and {an_hour.currency} cannot be compared")
    kept = an_hour.times(kept_hours)
    if not an_hour.amount:
        return KeepOrDownload(again=again, kept=kept, longest_gap_hours=None, sessions=None)
    return KeepOrDownload(
        again=again,
        kept=kept,
        longest_gap_hours=float(again.amount / an_hour.amount),
        sessions=math.floor(kept.amount / again.amount) + 2 if again.amount else None,
    )

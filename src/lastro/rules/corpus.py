"""The fixed input of a campaign."""

from __future__ import annotations

from lastro.records import dataclass


@dataclass(frozen=True, kw_only=True)
class Corpus:
    """The fixed input of a campaign: path relative to the code folder, rows when declared, digest."""

    path: str
    digest: str
    rows: int | None = None

"""What a loader is: it opens an output as its format says, in the closing's own process."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Protocol


@dataclass(frozen=True, kw_only=True)
class Opened:
    """What came of opening a file. `problem`: why it cannot be used. `unchecked`: what nobody looked at."""

    loader: str
    problem: str | None = None
    unchecked: tuple[str, ...] = ()


class Loader(Protocol):
    """One format. It never runs code that the file holds."""

    name: str

    def reads(self, path: Path) -> bool:
        """Say whether this loader is for this file, by its name."""
        ...

    def open(self, path: Path) -> Opened:
        """Open a file of this format. A damaged one is a problem in the answer, not an exception."""
        ...

"""What a loader is: it opens an output as its format says, and tells what came of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from pathlib import Path
from typing import Protocol

from lastro.closeout.reload.level import AT_HOME
from lastro.records import dataclass


@dataclass(frozen=True, kw_only=True)
class Opened:
    """What came of opening an output.

    problem: why it cannot be used. unchecked: what nobody looked at. weaker: why it was only looked at, and
    not loaded as a user would. proof: what has shown that it does what it should; None: it only opens.
    level, level_why, versions, seconds: where it was opened, by what, and how long that took.
    """

    loader: str
    problem: str | None = None
    unchecked: tuple[str, ...] = ()
    weaker: str | None = None
    proof: str | None = None
    level: str = AT_HOME
    level_why: str | None = None
    versions: Mapping[str, str] = field(default_factory=dict)
    seconds: float | None = None


class Loader(Protocol):
    """One format, read by a few lines of the standard library, in the process that closes.

    It never runs code that the file holds.
    """

    name: str

    def reads(self, path: Path) -> bool:
        """Say whether this loader is for this output, by its name or by what lies in the folder."""
        ...

    def open(self, path: Path) -> Opened:
        """Open an output of this format. A damaged one is a problem in the answer, not an exception."""
        ...

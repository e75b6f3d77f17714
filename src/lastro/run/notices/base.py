"""What a source of notices is, and what it says."""

from __future__ import annotations

from typing import Protocol

from lastro.errors import LastroError
from lastro.records import dataclass


@dataclass(frozen=True, kw_only=True)
class Announcement:
    """The machine will be taken away. `key`: the same for the same announcement, however often it is read.

    `gone_at`: monotonic seconds of this machine from which on it may be gone.
    """

    source: str
    key: str
    what: str
    gone_at: float


class ServiceError(LastroError):
    """A metadata service gave no answer, or one that is none of its own."""


class Source(Protocol):
    """One service that can be asked. `pause`: seconds between two questions."""

    pause: float

    def ask(self) -> Announcement | None:
        """Ask once, and wait for the answer; None: nothing is announced.

        Raises:
            ServiceError: no answer, or nonsense.
        """
        ...

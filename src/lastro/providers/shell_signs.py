"""Which machines are held by a terminal that somebody has open there, as anybody sees who sees the disk."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from lastro import strictjson
from lastro.errors import StorageError
from lastro.journal.signals import read_beat
from lastro.paths import CampaignFolder, ShellFolder


class ShellSigns:
    """Listens for the open shells of a campaign. They are believed while their sign changes.

    Who looks measures by its own clock: one whose sign was never seen to change counts for as long as it may
    be silent, and no longer.
    """

    def __init__(self, campaign: CampaignFolder) -> None:
        self._campaign = campaign
        self._seen: dict[str, tuple[bytes, float]] = {}
        self._orders: dict[str, tuple[str, float] | None] = {}

    def held(self, now: float) -> frozenset[str]:
        """Return the ids of the machines on which a shell is open. `now`: monotonic seconds of who looks."""
        try:
            tokens = [path.name for path in self._campaign.shells.iterdir()]
        except OSError:  # mostly: there was never one
            tokens = []
        for token in self._seen.keys() - set(tokens):
            del self._seen[token]
        return frozenset(
            machine
            for token in tokens
            if (machine := self._holds(self._campaign.shell(token), now)) is not None
        )

    def _holds(self, folder: ShellFolder, now: float) -> str | None:
        """Return the machine that one shell holds; None when it has ended, or nobody believes it."""
        token = folder.root.name
        if self._orders.get(token) is None:
            self._orders[token] = _told(folder.order)
        known = self._orders[token]
        if known is None or ((beat := read_beat(folder.sign)) is not None and beat.step == 0):
            return None
        sign = _bytes_of(folder.sign)
        if token not in self._seen or self._seen[token][0] != sign:
            self._seen[token] = (sign, now)
        machine, silence = known
        return machine if now - self._seen[token][1] < silence else None


def _told(order: Path) -> tuple[str, float] | None:
    """Return the machine of a shell, and the seconds that it may be silent."""
    try:
        value: Mapping[str, object] = strictjson.read(order)
        return str(value["machine"]), float(str(value["silence_seconds"]))
    except (OSError, StorageError, KeyError, TypeError, ValueError):
        return None


def _bytes_of(sign: Path) -> bytes:
    try:
        return sign.read_bytes()
    except OSError:
        return b""

"""Supervisors that give no sign of life: frozen, swapped out, or cut off from the disk. Told, then replaced.

A sign is any change of the file that a supervisor rewrites every second. Home measures how long ago it
saw the last change by its own clock, so no clocks of two machines are compared.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import field

from lastro.journal.signals import SIGN_SECONDS
from lastro.journal.views import AttemptView, CampaignView, RunView
from lastro.locale import _
from lastro.paths import CampaignFolder
from lastro.records import dataclass
from lastro.rules import End

#: A silence is told after so many seconds, or a quarter of what it may last, whichever is less; but not
#: before so many signs in a row have not come.
TOLD_AFTER_SECONDS = 30.0
SIGNS_MISSED = 3
_TAKEN = (End.LOST.value, End.FENCED.value)


@dataclass
class Pulse:
    """When home saw each run's supervisor give its last sign of life."""

    folder: CampaignFolder
    _seen: dict[str, tuple[bytes, float]] = field(default_factory=dict)

    def silences(self, runs: Iterable[str], now: float) -> Mapping[str, float]:
        """Return the seconds without a sign of each of these runs. `now`: monotonic seconds of home."""
        told = {}
        for run in runs:
            try:
                sign = self.folder.run(run).supervisor_beat.read_bytes()
            except OSError:
                sign = b""
            known = self._seen.get(run)
            if known is None or known[0] != sign:
                known = self._seen[run] = (sign, now)
            told[run] = now - known[1]
        for run in self._seen.keys() - told.keys():
            del self._seen[run]
        return told


def told_after(limit: float) -> float:
    """Return the seconds of silence after which it is told; `limit`: seconds that it may last."""
    return max(min(TOLD_AFTER_SECONDS, limit / 4), SIGNS_MISSED * SIGN_SECONDS)


def may_be_silent(run: RunView) -> bool:
    """Tell whether a living supervisor of this run has to give signs of life now.

    Between two attempts it waits, and says nothing. An attempt that was given up counts until its supervisor
    has lost its seat too: home may have died in between.
    """
    return bool(run.attempts) and (run.attempts[-1].alive or run.attempts[-1].end == End.LOST.value)


@dataclass(frozen=True, kw_only=True)
class Lost:
    """An attempt whose supervisor has been silent for too long."""

    run: str
    life: AttemptView
    why: str


def too_silent(
    view: CampaignView, supervised: Iterable[str], silences: Mapping[str, float], limit: float
) -> Lost | None:
    """Return an attempt to give up for lost; None while every supervisor was heard within `limit` seconds.

    A supervisor that is known to be dead is another matter: a new one is sent to the same machine.
    """
    there = frozenset(supervised)
    for run in view.runs:
        silent = silences.get(run.id, 0.0)
        if run.id in there and silent >= limit and run.attempts:
            why = _("silent for {seconds:.0f} s").format(seconds=silent)
            return Lost(run=run.id, life=run.attempts[-1], why=why)
    return None


def left_behind(view: CampaignView) -> frozenset[str]:
    """Return the machines that were given up for lost and are not known to be gone: they may bill on."""
    gone = {machine.id for machine in view.machines if machine.state == "gone"}
    lost = {life.machine for run in view.runs for life in run.attempts if life.end in _TAKEN}
    return frozenset(lost - gone)

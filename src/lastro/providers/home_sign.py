"""Home's signs of life as a machine sees them: by its own clock, from the last change that was seen."""

from __future__ import annotations

from lastro.paths import CampaignFolder


class HomeSign:
    """Listens for the home that drives a campaign. `now` is monotonic seconds of who listens."""

    def __init__(self, campaign: CampaignFolder, now: float) -> None:
        self._campaign = campaign
        self._sign, self._since = self._last_sign(), now

    def silent_seconds(self, now: float) -> float:
        """Return for how long nothing was heard. On a disk that is away nobody is heard."""
        seen = self._last_sign()
        if seen != self._sign:
            self._sign, self._since = seen, now
        return now - self._since

    def _last_sign(self) -> int | None:
        """Return the time of home's last sign, by whatever clock; None when there is none to be seen."""
        try:
            return self._campaign.home_beat.stat().st_mtime_ns
        except OSError:
            return None

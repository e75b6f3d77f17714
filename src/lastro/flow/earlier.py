"""What this home has done before, as its journals say: read once, however many ask."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator
from functools import cached_property

from lastro.clock import Clock
from lastro.errors import LastroError
from lastro.flow.session import Session, known_sessions
from lastro.journal.views import CampaignView
from lastro.paths import Home

#: Reading journals ends after so long: whoever waits for a plan waits no longer. The newest come first.
_SECONDS = 2.0


class Earlier:
    """The campaigns of a home, those used last first; nothing is read before somebody asks.

    A journal that cannot be believed says nothing here; other commands tell what is wrong with it.
    """

    def __init__(self, home: Home, clock: Clock) -> None:
        self._home, self._clock = home, clock

    @cached_property
    def campaigns(self) -> tuple[tuple[Session, CampaignView], ...]:
        return tuple(self._read())

    def _read(self) -> Iterator[tuple[Session, CampaignView]]:
        until = time.monotonic() + _SECONDS
        sessions: list[Session] = []
        with contextlib.suppress(LastroError, OSError):
            sessions = known_sessions(self._home, self._clock)
        for session in reversed(sessions):
            if time.monotonic() >= until:
                return
            with contextlib.suppress(LastroError, OSError):
                yield session, session.view()

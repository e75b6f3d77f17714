"""Asks the sources of notices, each in a thread of its own, so that a look at them never waits."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from dataclasses import replace

from lastro.locale import _
from lastro.run.notices.base import Announcement, ServiceError, Source

#: Where nothing has ever answered after so many tries, nothing is there. Pauses: 0.2, 0.4, ... 25.6 s.
TRIES = 9
FIRST_PAUSE = 0.2
#: Longest pause after a failure of a service that has answered before. It is never given up.
LONGEST_PAUSE = 5.0


class Listener:
    """What the sources say. `heard` and `silent` never wait, and may be asked by any thread."""

    def __init__(
        self,
        file: Source | None,
        services: Mapping[str, Source],
        unknown: Sequence[str] = (),
        *,
        first_pause: float = FIRST_PAUSE,
    ) -> None:
        self._file, self._first_pause = file, first_pause
        self._said: dict[str, Announcement] = {}
        self._silent = {name: _("no such source is known here") for name in unknown}
        self._over = threading.Event()
        for name, source in services.items():
            threading.Thread(target=self._ask, args=(name, source), name=name, daemon=True).start()

    def heard(self) -> Announcement | None:
        """Return the announcement that leaves the least time; None while there is none."""
        said = list(self._said.values())
        if self._file is not None and (told := self._file.ask()) is not None:
            said.append(told)
        return min(said, key=lambda one: one.gone_at, default=None)

    def silent(self) -> Mapping[str, str]:
        """Return the sources that are not asked any more, and why: of them no notice will come."""
        return dict(self._silent)

    def close(self) -> None:
        """Ask no more."""
        self._over.set()

    def _ask(self, name: str, source: Source) -> None:
        answered, failures = False, 0
        while not self._over.is_set():
            try:
                self._note(name, source.ask())
                answered, failures, pause = True, 0, source.pause
            except ServiceError as error:
                failures += 1
                pause = self._first_pause * 2.0 ** (failures - 1)
                if answered:
                    pause = min(pause, LONGEST_PAUSE)
                elif failures >= TRIES:
                    self._silent[name] = error.message
                    return
            self._over.wait(pause)

    def _note(self, name: str, said: Announcement | None) -> None:
        before = self._said.get(name)
        if said is None:
            self._said.pop(name, None)
        elif before is not None and before.key == said.key:
            # Read again, the same announcement does not give more time than it did at first.
            self._said[name] = replace(said, gone_at=min(before.gone_at, said.gone_at))
        else:
            self._said[name] = said

"""Heeding a notice: what it leaves time for is decided once and recorded, and taken back with the notice."""

from __future__ import annotations

from dataclasses import field
from typing import Protocol

from lastro.journal.events import EventType
from lastro.journal.streams import StreamWriter
from lastro.locale import _
from lastro.paths import AttemptFolder
from lastro.records import dataclass
from lastro.rules import End, Leave, NoticePlan, Stay, decide_notice
from lastro.run.notices.base import Announcement
from lastro.run.notices.listener import Listener
from lastro.run.saves import saves_of


class Moment(Protocol):
    """What is needed of a look: monotonic seconds now, and of the attempt's start."""

    @property
    def now(self) -> float: ...

    @property
    def started(self) -> float: ...


@dataclass
class Noticed:
    """The machine has announced that it will be taken away, or has changed its mind."""

    folder: AttemptFolder
    stream: StreamWriter
    listener: Listener
    _heeded: Announcement | None = None
    _plan: NoticePlan | None = None
    _ask_at: float = 0.0
    _asked: bool = False
    _silent: set[str] = field(default_factory=set)

    def look(self, seen: Moment) -> Leave | Stay | None:
        self._tell_of_silence()
        said = self.listener.heard()
        if said is None:
            return self._withdrawn()
        if self._heeded is None or self._heeded.key != said.key:
            self._heed(said, seen)
        if self._plan is None or self._asked or seen.now < self._ask_at:
            return None
        self._asked = True
        left = said.gone_at - seen.now
        why = _("the machine announced that it would be taken away ({source}: {what}); {plan}").format(
            source=said.source, what=said.what, plan=self._plan.why
        )
        return Leave(end=End.NOTICE, why=why, seconds=max(0.0, min(self._plan.until, left)))

    def _heed(self, said: Announcement, seen: Moment) -> None:
        saves = saves_of(self.folder, seen.started)
        left = max(0.0, said.gone_at - seen.now)
        plan = decide_notice(
            left,
            save_seconds=saves.seconds,
            save_in_flight=saves.in_flight,
            since_save=max(0.0, seen.now - saves.safe_at),
        )
        self._heeded, self._plan, self._ask_at = said, plan, seen.now + plan.ask_in
        self.stream.append(
            EventType.NOTICE_RECEIVED,
            seconds=round(left, 3),
            source=said.source,
            save=plan.save,
            ask_in=round(plan.ask_in, 3),
            loss_bound_seconds=round(plan.loss_bound_seconds, 3),
            why=plan.why,
        )

    def _withdrawn(self) -> Stay | None:
        if self._heeded is None:
            return None
        why = _("the announcement was taken back ({source}: {what})").format(
            source=self._heeded.source, what=self._heeded.what
        )
        self.stream.append(EventType.NOTICE_WITHDRAWN, source=self._heeded.source, why=why)
        self._heeded, self._plan = None, None
        asked, self._asked = self._asked, False
        return Stay(why=why) if asked else None

    def _tell_of_silence(self) -> None:
        for source, why in self.listener.silent().items():
            if source not in self._silent:
                self._silent.add(source)
                self.stream.append(EventType.NOTICE_SILENT, source=source, why=why)

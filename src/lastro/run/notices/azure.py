"""Azure: scheduled events of the metadata service. An event may vanish again: then it was cancelled."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

from lastro import strictjson
from lastro.locale import _
from lastro.records import dataclass
from lastro.run.notices.base import Announcement, ServiceError
from lastro.run.notices.web import Reply, ask, nonsense, seconds_until

_EVENTS = "/metadata/scheduledevents?api-version=2020-07-01"
_NAME = "/metadata/instance/compute/name?api-version=2021-02-01&format=text"
_HEADERS = {"Metadata": "true"}
#: The first question switches the service on, which takes up to two minutes.
_FIRST_TIMEOUT = 130.0
#: What ends every process of the machine. A Freeze lasts seconds and ends none.
_ENDING = ("Preempt", "Terminate", "Reboot", "Redeploy")


@dataclass
class Azure:
    """Lists events of this machine and of its neighbours in the same set; only its own ones count."""

    url: str
    pause: float = 1.0
    _name: str | None = None
    _incarnation: int | None = None
    _found: Announcement | None = None
    _asked: bool = False

    def ask(self) -> Announcement | None:
        reply = ask(self.url, _EVENTS, _HEADERS, timeout=2.0 if self._asked else _FIRST_TIMEOUT)
        self._asked = True
        try:
            if reply.status != 200:
                raise ValueError(_("status {status}").format(status=reply.status))
            document = strictjson.loads(reply.text)
            incarnation, events = int(document["DocumentIncarnation"]), list(document["Events"])
            if incarnation != self._incarnation:
                self._found = self._soonest(events, reply)
                self._incarnation = incarnation
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise nonsense(self.url + _EVENTS, error) from error
        return self._found

    def _soonest(self, events: list[Mapping[str, Any]], reply: Reply) -> Announcement | None:
        mine = [
            self._announcement(event, reply)
            for event in events
            if event["EventType"] in _ENDING and self._is_mine(event)
        ]
        return min(mine, key=lambda one: one.gone_at, default=None)

    def _announcement(self, event: Mapping[str, Any], reply: Reply) -> Announcement:
        # Without a time it has begun already.
        left = seconds_until(str(event["NotBefore"]), reply) if event.get("NotBefore") else 0.0
        what = str(event["EventType"]).lower()
        return Announcement(
            source="azure", key=str(event["EventId"]), what=what, gone_at=time.monotonic() + left
        )

    def _is_mine(self, event: Mapping[str, Any]) -> bool:
        """Tell whether an event is of this machine; where its name cannot be had, every event counts."""
        resources = event.get("Resources") or ()
        if self._name is None and resources:
            try:
                reply = ask(self.url, _NAME, _HEADERS)
            except ServiceError:
                return True
            self._name = reply.text.strip() if reply.status == 200 else ""
        return not resources or not self._name or self._name in resources

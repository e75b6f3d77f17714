"""Google Cloud: the value `preempted` of the metadata server, which answers when it changes."""

from __future__ import annotations

import time

from lastro.locale import _
from lastro.records import dataclass
from lastro.run.notices.base import Announcement
from lastro.run.notices.web import ask, nonsense

_PATH = "/computeMetadata/v1/instance/preempted"
_FLAVOR = {"Metadata-Flavor": "Google"}
#: A spot machine is shut down 30 s after its preemption begins. Declared by the provider, not measured.
_SECONDS = 30.0


@dataclass
class Gcp:
    """The first question is answered at once, each later one when the value changes or `wait` is over."""

    url: str
    wait: int = 20
    pause: float = 0.1
    _etag: str | None = None

    def ask(self) -> Announcement | None:
        path, timeout = _PATH, 2.0
        if self._etag is not None:
            path += f"?wait_for_change=true&timeout_sec={self.wait}&last_etag={self._etag}"
            timeout += self.wait
        reply = ask(self.url, path, _FLAVOR, timeout=timeout)
        value = reply.text.strip()
        # Another service may live at the address; this one always signs its answers.
        if reply.status != 200 or reply.headers.get("metadata-flavor") != "Google":
            raise nonsense(self.url + _PATH, _("status {status}").format(status=reply.status))
        if value not in ("TRUE", "FALSE"):
            raise nonsense(self.url + _PATH, value[:40])
        self._etag = reply.headers.get("etag", "0")
        if value == "FALSE":
            return None
        return Announcement(
            source="gcp", key="preempted", what="preempted", gone_at=time.monotonic() + _SECONDS
        )

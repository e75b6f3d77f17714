"""AWS: the spot instance action of the instance metadata service, version 2 (with a session token)."""

from __future__ import annotations

import time
from dataclasses import field

from lastro import strictjson
from lastro.locale import _
from lastro.records import dataclass
from lastro.run.notices.base import Announcement
from lastro.run.notices.web import Reply, ask, nonsense, seconds_until

_TOKEN = "/latest/api/token"  # noqa: S105 - a path
_ACTION = "/latest/meta-data/spot/instance-action"
#: The longest that the service grants is six hours; a token is asked for anew well before its end.
_TOKEN_SECONDS = 3600
_RENEW_BEFORE = 60


@dataclass
class Aws:
    """Answers 404 until the notice, then what will happen and when: two minutes ahead, without a promise."""

    url: str
    #: AWS suggests 5 s. The service is on the machine itself, and each second of a notice counts.
    pause: float = 2.0
    _token: str | None = field(default=None, repr=False)
    _token_until: float = 0.0

    def ask(self) -> Announcement | None:
        reply = self._ask()
        if reply.status == 401:  # the token was taken back, or the machine was moved
            self._token = None
            reply = self._ask()
        if reply.status == 404:
            return None
        try:
            if reply.status != 200:
                raise ValueError(_("status {status}").format(status=reply.status))
            told = strictjson.loads(reply.text)
            action, moment = str(told["action"]), str(told["time"])
            # A machine that hibernates begins at once: there is no time to save.
            left = 0.0 if action == "hibernate" else seconds_until(moment, reply)
        except (ValueError, KeyError, TypeError) as error:
            raise nonsense(self.url + _ACTION, error) from error
        return Announcement(
            source="aws", key=f"{action} {moment}", what=action, gone_at=time.monotonic() + left
        )

    def _ask(self) -> Reply:
        now = time.monotonic()
        if self._token is None or now >= self._token_until:
            ttl = {"X-aws-ec2-metadata-token-ttl-seconds": str(_TOKEN_SECONDS)}
            reply = ask(self.url, _TOKEN, ttl, method="PUT")
            if reply.status != 200 or not reply.text or "\n" in reply.text or not reply.text.isascii():
                raise nonsense(self.url + _TOKEN, _("status {status}").format(status=reply.status))
            self._token, self._token_until = reply.text, now + _TOKEN_SECONDS - _RENEW_BEFORE
        return ask(self.url, _ACTION, {"X-aws-ec2-metadata-token": self._token})

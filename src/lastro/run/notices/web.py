"""One question to a metadata service, with the standard library alone."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Mapping
from datetime import datetime, timezone
from urllib.parse import urlsplit

from lastro.locale import _
from lastro.records import dataclass
from lastro.run.notices.base import ServiceError

#: An answer of a metadata service is a few hundred bytes; more comes from something else.
_MOST_BYTES = 1 << 16


@dataclass(frozen=True)
class Reply:
    """An answer. Header names are in lower case. `now`: wall seconds by the service's own clock."""

    status: int
    text: str
    headers: Mapping[str, str]
    now: float


def ask(
    base: str, path: str, headers: Mapping[str, str], *, method: str = "GET", timeout: float = 2.0
) -> Reply:
    """Ask once. No proxy is used: the address means this machine.

    Raises:
        ServiceError: refused, too slow, or not HTTP.
    """
    import http.client  # late: 20 ms that only a machine with such a service has to pay

    try:
        address = urlsplit(base)
        connection = http.client.HTTPConnection(address.hostname or "", address.port or 80, timeout=timeout)
        with contextlib.closing(connection):
            connection.request(method, address.path.rstrip("/") + path, headers=dict(headers))
            answer = connection.getresponse()
            text = answer.read(_MOST_BYTES).decode(errors="replace")
            told = {name.lower(): value for name, value in answer.getheaders()}
            return Reply(answer.status, text, told, _now_there(told))
    except (OSError, http.client.HTTPException, ValueError) as error:
        raise ServiceError(
            _("{url} gave no answer: {why}").format(url=base + path, why=str(error) or type(error).__name__)
        ) from error


def _now_there(headers: Mapping[str, str]) -> float:
    """Return the time of the service's `Date`, since this machine's clock may be wrong; else this one's."""
    from email.utils import parsedate_to_datetime

    try:
        return parsedate_to_datetime(headers["date"]).timestamp()
    except (KeyError, TypeError, ValueError):
        return time.time()


def seconds_until(moment: str, reply: Reply) -> float:
    """Return the seconds from a reply to a UTC time that it tells; never negative. Raises ValueError.

    AWS writes `2026-11-30T00:48:18Z`, Azure `Mon, 30 Nov 2026 00:48:18 GMT`.
    """
    form = "%Y-%m-%dT%H:%M:%SZ" if moment.endswith("Z") else "%a, %d %b %Y %H:%M:%S GMT"
    there = datetime.strptime(moment, form).replace(tzinfo=timezone.utc).timestamp()
    return max(0.0, there - reply.now)


def nonsense(url: str, why: object) -> ServiceError:
    """Return the error for an answer that no such service gives."""
    return ServiceError(_("{url} answered nonsense: {why}").format(url=url, why=why))

"""Can each place be reached that the campaign's data come from, and what time is it there?"""

from __future__ import annotations

import http.client
import socket
import threading
import time
from collections.abc import Iterator, Mapping
from datetime import datetime, timezone
from email.utils import parsedate_to_datetime
from urllib.parse import urlsplit

from lastro.locale import _
from lastro.preflight.check import Finding, Level, Subject
from lastro.records import dataclass
from lastro.spec.campaign import Campaign
from lastro.spec.data import Stored

#: A resolver that answers sometimes is found by asking more than once.
LOOKUPS = 20
_SECONDS = 3.0
#: Stores refuse what is signed with a clock this far off; from a minute on, logs of two machines mislead.
REFUSED_SECONDS, TOLD_SECONDS = 900.0, 60.0
_PORTS = {"https": 443, "http": 80, "s3": 443}
_HUB = "https://huggingface.co"
_S3 = "https://s3.amazonaws.com"


@dataclass(frozen=True, kw_only=True)
class Reach:
    """What came of trying one address. `offset`: seconds that this clock is ahead of it; None: not told."""

    origin: str
    lookups: int
    failed_lookups: int
    connected: bool
    why: str | None = None
    offset: float | None = None


def origins_of(campaign: Campaign, environment: Mapping[str, str]) -> tuple[str, ...]:
    """Return the addresses that a campaign's data come from, each once: scheme and host."""
    stored: list[Stored] = []
    if campaign.data is not None:
        stored = [*campaign.data.weights.values(), *filter(None, [campaign.data.dataset])]
    texts = [one.source for one in stored if one.source]
    texts += [_HUB for one in stored if one.hub is not None]
    texts += [place for one in campaign.transfers.values() for place in (one.origin, one.to)]
    found = []
    for text in texts:
        parts = urlsplit(text)
        if parts.scheme == "s3":
            found.append(environment.get("AWS_ENDPOINT_URL_S3") or environment.get("AWS_ENDPOINT_URL") or _S3)
        elif parts.scheme in _PORTS and parts.hostname:
            found.append(f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}")
    return tuple(dict.fromkeys(found))


def check(subject: Subject) -> Iterator[Finding]:
    """Resolve, connect and ask for the time: all addresses at once, so that none waits for another."""
    found: dict[str, Reach] = {}

    def try_one(origin: str) -> None:
        found[origin] = reach(origin)

    threads = {
        origin: threading.Thread(target=try_one, args=(origin,), daemon=True) for origin in subject.origins
    }
    for thread in threads.values():
        thread.start()
    for origin, thread in threads.items():
        thread.join()
        yield from judge(found[origin])


def reach(origin: str) -> Reach:
    """Try one address; reads no content. Nothing is raised."""
    parts = urlsplit(origin)
    host, port = parts.hostname or "", parts.port or _PORTS.get(parts.scheme, 443)
    failed, why = 0, None
    began = time.monotonic()
    asked = 0
    while asked < LOOKUPS and time.monotonic() - began <= _SECONDS:
        asked += 1
        try:
            socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
        except OSError as error:
            failed, why = failed + 1, str(error)
    if failed == asked:
        return Reach(origin=origin, lookups=asked, failed_lookups=failed, connected=False, why=why)
    try:
        offset = _ask_time(parts.scheme, host, port)
    except (OSError, http.client.HTTPException, ValueError) as error:
        return Reach(
            origin=origin,
            lookups=asked,
            failed_lookups=failed,
            connected=False,
            why=str(error) or repr(error),
        )
    return Reach(origin=origin, lookups=asked, failed_lookups=failed, connected=True, why=why, offset=offset)


def _ask_time(scheme: str, host: str, port: int) -> float | None:
    """Return how many seconds this clock is ahead of a server's, which tells whole ones; None: not told."""
    kind = http.client.HTTPConnection if scheme == "http" else http.client.HTTPSConnection
    connection = kind(host, port, timeout=_SECONDS)
    try:
        connection.request("HEAD", "/")
        told = connection.getresponse().getheader("Date")
    finally:
        connection.close()
    if not told:
        return None
    return (datetime.now(timezone.utc) - parsedate_to_datetime(told)).total_seconds()


def judge(found: Reach) -> Iterator[Finding]:
    """Return the findings for one address. None of them forbids: the data may be on the disk already."""
    bad = found.failed_lookups > 0
    yield Finding(
        code="dns",
        level=Level.WARN if bad else Level.PASS,
        fact=_("name of {origin}").format(origin=found.origin),
        value=_("{failed} of {count} look-ups failed").format(
            failed=found.failed_lookups, count=found.lookups
        )
        if bad
        else _("resolved {count} times").format(count=found.lookups),
        expected=_("resolved each time"),
        consequence=_("a download or an upload fails now and then, or always") if bad else None,
        next_step=_("check /etc/resolv.conf, or give the container another resolver") if bad else None,
    )
    if found.failed_lookups == found.lookups:
        return
    yield Finding(
        code="origin",
        level=Level.PASS if found.connected else Level.WARN,
        fact=_("reach of {origin}").format(origin=found.origin),
        value=_("it answers") if found.connected else found.why or _("it does not answer"),
        expected=_("an answer"),
        consequence=None if found.connected else _("what is not on the disk yet cannot be brought there"),
        next_step=None if found.connected else _("open the way to it, or bring the data before"),
    )
    if found.offset is not None:
        yield judge_offset(found.offset, found.origin)


def judge_offset(seconds: float, against: str) -> Finding:
    """Return the finding for a clock that is so many seconds ahead (negative: behind)."""
    off = abs(seconds)
    level = Level.FAIL if off >= REFUSED_SECONDS else Level.WARN if off >= TOLD_SECONDS else Level.PASS
    well = level is Level.PASS
    return Finding(
        code="clock_offset",
        level=level,
        fact=_("this clock"),
        value=_("{seconds:+.0f} s against {origin}").format(seconds=seconds, origin=against),
        expected=_("less than {seconds:.0f} s").format(seconds=TOLD_SECONDS),
        consequence=None if well else _("stores refuse what is signed, and times of two machines mislead"),
        next_step=None if well else _("let the clock be set (chrony, NTP), or take another machine"),
    )

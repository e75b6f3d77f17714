"""Addresses are tried for real: one that answers, one at which nobody listens, a name that nobody has."""

from __future__ import annotations

import http.server
import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from email.utils import formatdate
from pathlib import Path

import pytest

from lastro.preflight import origins
from lastro.preflight.check import Finding, Level
from tests.providers.ssh.sshd import free_port

from .subjects import subject


class _Slow(http.server.BaseHTTPRequestHandler):
    """Says a time that is so many seconds late, after a second."""

    behind = 0.0

    def do_HEAD(self) -> None:
        time.sleep(1.0)
        self.send_response_only(200)
        self.send_header("Date", formatdate(time.time() - self.behind, usegmt=True))
        self.end_headers()

    def log_message(self, *_arguments: object) -> None:
        pass


@pytest.fixture
def store() -> Iterator[http.server.ThreadingHTTPServer]:
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), _Slow)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield server
    server.shutdown()
    server.server_close()


def found(folder: Path, *tried: str) -> list[Finding]:
    return list(origins.check(replace(subject(folder), origins=tried)))


def test_an_address_that_answers_tells_the_time_and_one_that_does_not_is_named(
    store: http.server.ThreadingHTTPServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_Slow, "behind", 1000.0)
    here = f"http://127.0.0.1:{store.server_address[1]}"
    closed, nowhere = f"http://127.0.0.1:{free_port()}", "http://nobody.invalid"

    told = found(tmp_path, here, closed, nowhere)

    by = {(one.code, one.fact.rpartition(" ")[2]): one for one in told}
    assert by["origin", here].level is Level.PASS
    offset = next(one for one in told if one.code == "clock_offset")
    assert offset.level is Level.FAIL and here in offset.value
    assert by["origin", closed].level is Level.WARN and "refused" in by["origin", closed].value
    assert by["dns", nowhere].level is Level.WARN and ("origin", nowhere) not in by


def test_no_address_waits_for_another(store: http.server.ThreadingHTTPServer, tmp_path: Path) -> None:
    """Ten take a second each, and one step has 15: one after the other would be most of it."""
    here = f"127.0.0.1:{store.server_address[1]}"
    together: list[int] = []
    before = threading.active_count()
    watcher = threading.Timer(0.5, lambda: together.append(threading.active_count() - before))
    watcher.start()

    told = found(tmp_path, *(f"http://user{number}@{here}" for number in range(10)))

    assert len([one for one in told if one.code == "origin"]) == 10
    assert together and together[0] >= 10

"""Notices from real servers: tokens, long polls, cancelled events, and services that lie or are not there."""

from __future__ import annotations

import json
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime, timezone
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from lastro.clock import iso
from lastro.providers.metadata import MetadataService
from lastro.run.notices import listen
from lastro.run.notices.aws import Aws
from lastro.run.notices.azure import Azure
from lastro.run.notices.base import Announcement, ServiceError, Source
from lastro.run.notices.gcp import Gcp
from lastro.run.notices.listener import Listener
from tests.run.jobs import wait_for


@contextmanager
def _serving(server: ThreadingHTTPServer) -> Iterator[str]:
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


@pytest.fixture
def notice(tmp_path: Path) -> Path:
    return tmp_path / "notice.json"


@pytest.fixture
def service(notice: Path) -> Iterator[MetadataService]:
    yield MetadataService(notice, "machine-1", ("127.0.0.1", 0))


@pytest.fixture
def url(service: MetadataService) -> Iterator[str]:
    with _serving(service) as url:
        yield url


def _announce(path: Path, seconds: float = 120.0) -> None:
    now = iso(datetime.now(timezone.utc))
    path.with_suffix(".new").write_text(json.dumps({"action": "terminate", "in_seconds": seconds, "at": now}))
    path.with_suffix(".new").rename(path)


@contextmanager
def _listening(source: Source) -> Iterator[Listener]:
    listener = Listener(None, {"it": source}, first_pause=0.01)
    try:
        yield listener
    finally:
        listener.close()


@pytest.mark.parametrize(("kind", "seconds"), [(Aws, 120), (Gcp, 30), (Azure, 120)])
def test_each_cloud_tells_its_notice_and_takes_it_back(
    kind: Callable[..., Source], seconds: float, url: str, notice: Path
) -> None:
    source = kind(url, pause=0.01)
    with _listening(source) as listener:
        assert source.ask() is None
        _announce(notice)
        wait_for(lambda: listener.heard() is not None)
        said = listener.heard()
        notice.unlink()
        wait_for(lambda: listener.heard() is None)

    assert said is not None
    assert seconds - 10 < said.gone_at - time.monotonic() <= seconds
    assert listener.silent() == {}


def test_a_token_that_was_taken_back_is_asked_for_again(service: MetadataService, url: str) -> None:
    source = Aws(url)
    assert source.ask() is None
    first = set(service.tokens)

    service.tokens.clear()

    assert source.ask() is None
    assert len(service.tokens) == 1 and not service.tokens & first


def test_a_token_is_renewed_before_its_end(
    service: MetadataService, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = Aws(url)
    source.ask()
    source.ask()
    assert len(service.tokens) == 1

    now = time.monotonic()
    monkeypatch.setattr("time.monotonic", lambda: now + 3599)
    source.ask()

    assert len(service.tokens) == 2


def test_google_answers_when_the_value_changes_and_not_before(url: str, notice: Path) -> None:
    source = Gcp(url)
    assert source.ask() is None
    answers: list[Announcement | None] = []
    asked = threading.Thread(target=lambda: answers.append(source.ask()))
    asked.start()
    asked.join(0.3)
    assert answers == []

    _announce(notice)

    asked.join()
    assert answers[0] is not None


def test_events_of_a_neighbour_are_not_ours(service: MetadataService, url: str, notice: Path) -> None:
    _announce(notice)

    assert Azure(url).ask() is not None
    other = Azure(url)
    other._name = "machine-2"
    assert other.ask() is None


def test_a_service_that_is_not_there_is_given_up_and_told() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # bound and not listening: every connection is refused
        source = Aws(f"http://127.0.0.1:{taken.getsockname()[1]}")
        before = set(threading.enumerate())
        with _listening(source) as listener:
            wait_for(lambda: bool(listener.silent()))
            wait_for(lambda: set(threading.enumerate()) <= before)

    assert "refused" in listener.silent()["it"]


def test_a_service_that_refuses_at_first_is_heard_later(notice: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port = taken.getsockname()[1]
    _announce(notice)
    source = Aws(f"http://127.0.0.1:{port}", pause=0.01)
    with pytest.raises(ServiceError):
        source.ask()
    with _listening(source) as listener:
        time.sleep(0.05)
        with _serving(MetadataService(notice, "machine-1", ("127.0.0.1", port))):
            wait_for(lambda: listener.heard() is not None)


def test_a_service_that_answered_once_is_never_given_up_and_its_word_stands(
    notice: Path,
) -> None:
    _announce(notice)
    server = MetadataService(notice, "machine-1", ("127.0.0.1", 0))
    with _serving(server) as url:
        listener = Listener(None, {"it": Aws(url, pause=0.01)}, first_pause=0.001)
        wait_for(lambda: listener.heard() is not None)
    time.sleep(0.3)

    assert listener.heard() is not None
    assert listener.silent() == {}
    listener.close()


class _Liar(BaseHTTPRequestHandler):
    """Answers everything with 200 and a page, as the login page of a network does."""

    def _lie(self) -> None:
        page = b"<html>please log in</html>\n" * 3
        self.send_response(200)
        self.send_header("Content-Length", str(len(page)))
        self.end_headers()
        self.wfile.write(page)

    do_GET = do_PUT = _lie  # noqa: N815 - the names that http.server looks for

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        pass


@pytest.mark.parametrize("kind", [Aws, Gcp, Azure])
def test_nonsense_is_no_notice(kind: Callable[[str], Source]) -> None:
    with _serving(ThreadingHTTPServer(("127.0.0.1", 0), _Liar)) as url, pytest.raises(ServiceError):
        kind(url).ask()


def test_a_slow_service_holds_nobody_up() -> None:
    with socket.socket() as mute:
        mute.bind(("127.0.0.1", 0))
        mute.listen()  # takes connections and never answers
        source = Aws(f"http://127.0.0.1:{mute.getsockname()[1]}")
        with _listening(source) as listener:
            mute.accept()
            assert listener.heard() is None
            assert listener.silent() == {}  # still waiting for its answer


def test_nothing_is_asked_on_a_machine_that_names_no_service(notice: Path) -> None:
    before = set(threading.enumerate())

    listener = listen({"LASTRO_NOTICE": str(notice)})

    assert set(threading.enumerate()) <= before
    assert listener.heard() is None
    _announce(notice, 5.0)
    said = listener.heard()
    assert said is not None and said.source == "machine"
    assert said == listener.heard()


def test_a_source_that_is_not_known_is_told(notice: Path) -> None:
    assert listen({"LASTRO_NOTICES": "awz"}).silent().keys() == {"awz"}

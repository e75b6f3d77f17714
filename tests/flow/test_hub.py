"""What a repository of the hub says of itself: a real server on this box, and answers that are none."""

from __future__ import annotations

import contextlib
import json
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from lastro.flow.hub import ENDPOINT, HubFound, ask_hub, read_answer
from lastro.spec.data import Hub

ANSWER: dict[str, Any] = {
    "sha": "0123456789abcdef",
    "siblings": [
        {"rfilename": "model-00001-of-00002.safetensors", "size": 4_000},
        {"rfilename": "model-00002-of-00002.safetensors", "size": 2_000},
        {"rfilename": "pytorch_model.bin", "size": 6_000},
        {"rfilename": "config.json", "size": 10},
    ],
    "safetensors": {"parameters": {"BF16": 3_000}, "total": 3_000},
}


@dataclass
class Server:
    """Answers with what a test wants, and keeps what was asked."""

    body: bytes = json.dumps(ANSWER).encode()
    status: int = 200
    delay: float = 0.0
    asked: list[str] = field(default_factory=list)


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    facts = Server()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            facts.asked.append(self.path)
            time.sleep(facts.delay)
            self.send_response(facts.status)
            self.end_headers()
            with contextlib.suppress(BrokenPipeError):  # it did not wait
                self.wfile.write(facts.body)

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - its name in http.server
            pass

    listening = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=listening.serve_forever)
    thread.start()
    monkeypatch.setenv(ENDPOINT, f"http://127.0.0.1:{listening.server_port}")
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    yield facts
    listening.shutdown()
    thread.join()
    listening.server_close()


def test_sizes_and_parameters_come_from_the_metadata_alone(server: Server) -> None:
    answer = ask_hub(Hub(repository="owner/name"))

    assert isinstance(answer, HubFound)
    assert server.asked == ["/api/models/owner/name/revision/main?blobs=true"]
    assert (answer.found.bytes, answer.found.files, answer.found.at_least) == (12_010, 4, False)
    assert answer.found.why == (
        "metadata of owner/name, 0123456789ab; 6 kB of it are safetensors (`only:` takes less)"
    )
    assert answer.weights is not None
    assert (answer.weights.elements, answer.weights.bytes) == ({"BF16": 3_000}, 6_000)


def test_a_data_set_and_a_revision_have_their_own_address(server: Server) -> None:
    ask_hub(Hub(repository="owner/name", kind="dataset", revision="refs/convert"))

    assert server.asked == ["/api/datasets/owner/name/revision/refs%2Fconvert?blobs=true"]


@pytest.mark.parametrize(
    ("status", "body", "said"),
    [
        (404, b"", "127.0.0.1 does not show owner/name (HTTP 404): it is not there, private or gated"),
        (503, b"", "127.0.0.1 was not reachable: HTTP 503"),
        (200, b"<html>", "127.0.0.1 said nothing that can be read about owner/name"),
        (200, b'{"siblings": 3}', "127.0.0.1 said nothing that can be read about owner/name"),
        (200, b"[]", "127.0.0.1 said nothing that can be read about owner/name"),
    ],
)
def test_an_answer_that_is_none_is_a_word_and_no_failure(
    server: Server, status: int, body: bytes, said: str
) -> None:
    server.status, server.body = status, body

    assert ask_hub(Hub(repository="owner/name")) == said


def test_an_answer_that_does_not_come_is_not_waited_for(server: Server) -> None:
    server.delay = 3.0

    said = ask_hub(Hub(repository="owner/name"), seconds=1.0)

    assert isinstance(said, str)
    assert said.startswith("127.0.0.1 was not reachable: ")


def test_where_nobody_listens_the_hub_is_not_reachable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(ENDPOINT, "http://127.0.0.1:1")
    monkeypatch.setenv("no_proxy", "127.0.0.1")

    said = ask_hub(Hub(repository="owner/name"))

    assert isinstance(said, str)
    assert said.startswith("127.0.0.1 was not reachable: ")


def test_only_the_files_that_are_wanted_count() -> None:
    answer = read_answer(Hub(repository="a/b", only=("*.safetensors", "*.json")), ANSWER)

    assert (answer.found.bytes, answer.found.files) == (6_010, 3)


def test_a_file_without_a_size_makes_the_sum_at_least_so_much() -> None:
    siblings = [*ANSWER["siblings"], {"rfilename": "more.bin"}]

    answer = read_answer(Hub(repository="a/b"), {"siblings": siblings})

    assert (answer.found.bytes, answer.found.at_least, answer.weights) == (12_010, True, None)

"""A metadata service as the clouds have one, told by a notice file: AWS, Google Cloud and Azure at once.

`python -m lastro.providers.metadata NOTICE_FILE NAME HOST PORT` serves until it is ended. Rehearsals use
it inside a jailed machine at the usual address, tests beside a supervisor.
"""

from __future__ import annotations

import secrets
import sys
import time
from collections.abc import Mapping
from datetime import datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, cast
from urllib.parse import parse_qs, urlsplit

from lastro import strictjson
from lastro.clock import from_iso
from lastro.errors import StorageError

_LOOK_EVERY = 0.02


class MetadataService(ThreadingHTTPServer):
    """Answers from the notice file as it is at that moment. `name`: of the machine, as Azure knows it."""

    daemon_threads = True

    def __init__(self, notice: Path, name: str, address: tuple[str, int]) -> None:
        super().__init__(address, _Handler)
        self.notice, self.name = notice, name
        self.tokens: set[str] = set()

    def told(self) -> Mapping[str, Any] | None:
        """Return the notice; None while there is none."""
        try:
            value: Mapping[str, Any] = strictjson.read(self.notice)
            return value
        except (OSError, StorageError):
            return None

    def gone_at(self, told: Mapping[str, Any]) -> datetime:
        """Return when the machine goes, by this machine's clock."""
        return from_iso(told["at"]) + timedelta(seconds=float(told["in_seconds"]))


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    @property
    def _service(self) -> MetadataService:
        return cast(MetadataService, self.server)

    def do_PUT(self) -> None:
        if self.path != "/latest/api/token":
            self._answer(404)
        elif not self.headers.get("X-aws-ec2-metadata-token-ttl-seconds", "").isdigit():
            self._answer(400)
        else:
            token = secrets.token_urlsafe(24)
            self._service.tokens.add(token)
            self._answer(200, token)

    def do_GET(self) -> None:
        address = urlsplit(self.path)
        query = {name: values[0] for name, values in parse_qs(address.query).items()}
        if address.path == "/latest/meta-data/spot/instance-action":
            self._aws()
        elif address.path == "/computeMetadata/v1/instance/preempted":
            self._gcp(query)
        elif address.path == "/metadata/scheduledevents":
            self._azure()
        elif address.path == "/metadata/instance/compute/name":
            self._answer(200 if self.headers.get("Metadata") == "true" else 400, self._service.name)
        else:
            self._answer(404)

    def _aws(self) -> None:
        told = self._service.told()
        if self.headers.get("X-aws-ec2-metadata-token") not in self._service.tokens:
            self._answer(401)
        elif told is None:
            self._answer(404)
        else:
            moment = self._service.gone_at(told).strftime("%Y-%m-%dT%H:%M:%SZ")
            self._answer(200, strictjson.dumps({"action": told["action"], "time": moment}))

    def _gcp(self, query: Mapping[str, str]) -> None:
        if self.headers.get("Metadata-Flavor") != "Google":
            self._answer(403)
            return
        value = self._preempted()
        if query.get("wait_for_change") == "true":
            until = time.monotonic() + float(query.get("timeout_sec", "60"))
            while value == query.get("last_etag") and time.monotonic() < until:
                time.sleep(_LOOK_EVERY)
                value = self._preempted()
        self._answer(200, value, {"Metadata-Flavor": "Google", "ETag": value})

    def _preempted(self) -> str:
        return "FALSE" if self._service.told() is None else "TRUE"

    def _azure(self) -> None:
        if self.headers.get("Metadata") != "true":
            self._answer(400)
            return
        told = self._service.told()
        events = []
        if told is not None:
            not_before = self._service.gone_at(told).strftime("%a, %d %b %Y %H:%M:%S GMT")
            events.append(
                {
                    "EventId": str(told["at"]),
                    "EventType": "Preempt",
                    "EventStatus": "Scheduled",
                    "NotBefore": not_before,
                    "Resources": [self._service.name],
                }
            )
        # Any number that changes with the list will do: readers compare, they do not count.
        incarnation = int(from_iso(told["at"]).timestamp() * 1000) if told else 1
        self._answer(200, strictjson.dumps({"DocumentIncarnation": incarnation, "Events": events}))

    def _answer(self, status: int, text: str = "", headers: Mapping[str, str] | None = None) -> None:
        body = text.encode()
        self.send_response(status)
        for name, value in {**(headers or {}), "Content-Length": str(len(body))}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the name that http.server gives it
        """Say nothing: a poller asks once a second."""


def main(argv: list[str]) -> int:
    """Serve until this process is ended."""
    notice, name, host, port = argv
    MetadataService(Path(notice), name, (host, int(port))).serve_forever()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

"""A real store that speaks S3, on loopback; and a way to it that does harm."""

from __future__ import annotations

import contextlib
import json
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

#: SeaweedFS adds so much to a port for another protocol.
_BESIDE = 10_000
KEY, SECRET = "lastro", "not-a-secret"


def weed() -> Path:
    return Path(sys.executable).with_name("weed")


def _free_ports(count: int) -> list[int]:
    found: list[int] = []
    with contextlib.ExitStack() as held:
        while len(found) < count:
            one = held.enter_context(socket.socket())
            one.bind(("127.0.0.1", 0))
            port = one.getsockname()[1]
            with socket.socket() as other, contextlib.suppress(OSError, OverflowError):
                other.bind(("127.0.0.1", port - _BESIDE))
                found.append(port - _BESIDE)
    return found


@contextlib.contextmanager
def seaweed(folder: Path) -> Iterator[str]:
    """Run SeaweedFS; give its endpoint."""
    ports = dict(zip(("master", "volume", "filer", "s3"), _free_ports(4), strict=True))
    keys = {"accessKey": KEY, "secretKey": SECRET}
    users = {
        "identities": [{"name": "test", "credentials": [keys], "actions": ["Admin", "Read", "Write", "List"]}]
    }
    (folder / "s3.json").write_text(json.dumps(users))
    command = [
        *(str(weed()), "-v=-1", "server", f"-dir={folder}", "-ip=127.0.0.1", "-ip.bind=127.0.0.1"),
        *("-master.volumeSizeLimitMB=1024", "-volume.max=1000", "-volume.preStopSeconds=0"),
        *(f"-{name}.port={port}" for name, port in ports.items()),
        *("-filer", "-s3", "-s3.port.iceberg=0", "-s3.port.lance=0", f"-s3.config={folder / 's3.json'}"),
    ]
    with (folder / "weed.log").open("w") as log:
        process = subprocess.Popen(command, stdout=log, stderr=log, cwd=folder)
    endpoint = f"http://127.0.0.1:{ports['s3']}"
    try:
        _wait(process, endpoint, folder / "weed.log")
        yield endpoint
    finally:
        process.kill()
        process.wait()


def _wait(process: subprocess.Popen[bytes], endpoint: str, log: Path) -> None:
    """Wait until the store takes a bucket."""
    import boto3
    from botocore.exceptions import BotoCoreError, ClientError

    client = boto3.client(
        "s3",
        endpoint_url=endpoint,
        aws_access_key_id=KEY,
        aws_secret_access_key=SECRET,
        region_name="us-east-1",
    )
    for _attempt in range(600):
        assert process.poll() is None, log.read_text()[-2000:]
        try:
            client.create_bucket(Bucket="ready")
            client.put_object(Bucket="ready", Key="ready", Body=b"ready")
        except (BotoCoreError, ClientError):
            time.sleep(0.1)
        else:
            return
    raise AssertionError(log.read_text()[-2000:])


@dataclass
class Proxy:
    """Passes connections on to a store, and does to them what `harm` says.

    harm: called with each piece, "up" or "down", and how many bytes went that way on this connection before;
        it returns what is passed on instead, or None to cut the connection.
    up, down: bytes that were passed in all.
    """

    target: tuple[str, int]
    harm: Callable[[bytes, str, int], bytes | None] = field(default=lambda piece, _way, _before: piece)
    up: int = 0
    down: int = 0
    _open: list[socket.socket] = field(default_factory=list)

    def __enter__(self) -> Proxy:
        self._listener = socket.create_server(("127.0.0.1", 0))
        threading.Thread(target=self._accept, daemon=True).start()
        return self

    def __exit__(self, *_error: object) -> None:
        for one in (self._listener, *self._open):
            with contextlib.suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)
            one.close()

    @property
    def endpoint(self) -> str:
        return f"http://127.0.0.1:{self._listener.getsockname()[1]}"

    def _accept(self) -> None:
        while True:
            try:
                here, _address = self._listener.accept()
            except OSError:
                return
            there = socket.create_connection(self.target)
            self._open += [here, there]
            for ends in ((here, there, "up"), (there, here, "down")):
                threading.Thread(target=self._pass, args=ends, daemon=True).start()

    def _pass(self, origin: socket.socket, target: socket.socket, way: str) -> None:
        before = 0
        with contextlib.suppress(OSError):
            while piece := origin.recv(1 << 16):
                harmed = self.harm(piece, way, before)
                before += len(piece)
                if harmed is None:
                    break
                if way == "up":
                    self.up += len(harmed)
                else:
                    self.down += len(harmed)
                target.sendall(harmed)
        for one in (origin, target):
            with contextlib.suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)


def address(endpoint: str) -> tuple[str, int]:
    host, port = endpoint.removeprefix("http://").split(":")
    return host, int(port)


def client(endpoint: str) -> Any:
    """A plain client of boto3, to look at what lies in the store."""
    import boto3

    return boto3.client(
        "s3",
        endpoint_url=endpoint,
        aws_access_key_id=KEY,
        aws_secret_access_key=SECRET,
        region_name="us-east-1",
    )

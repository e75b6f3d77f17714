"""A package index and a hub on the loopback that count what they send."""

from __future__ import annotations

import base64
import contextlib
import hashlib
import io
import threading
import zipfile
from collections.abc import Iterator, Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import cast


class Index(ThreadingHTTPServer):
    """Serves files by path; `sent` counts the bytes of all bodies."""

    daemon_threads = True

    def __init__(self, files: Mapping[str, bytes]) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.files, self.sent, self.requests = dict(files), 0, 0

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"


class _Handler(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        index = cast(Index, self.server)
        body = index.files.get(self.path)
        index.requests += 1
        self.send_response(404 if body is None else 200)
        kind = "text/html" if self.path.endswith("/") else "application/octet-stream"
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body or b"")))
        self.end_headers()
        self.wfile.write(body or b"")
        index.sent += len(body or b"")

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the name that http.server gives it
        pass


@contextlib.contextmanager
def serving(files: Mapping[str, bytes]) -> Iterator[Index]:
    """Serve these files until the block ends."""
    index = Index(files)
    threading.Thread(target=index.serve_forever, daemon=True).start()
    try:
        yield index
    finally:
        index.shutdown()
        index.server_close()


def package(name: str, version: str = "1.0", size: int = 200_000) -> dict[str, bytes]:
    """Return the files of an index with one wheel of one module, which says its version."""
    info = f"{name}-{version}.dist-info"
    members = {
        f"{name}/__init__.py": f"VERSION = {version!r}\n".encode(),
        f"{name}/data.bin": hashlib.shake_128(name.encode()).digest(size),
        f"{info}/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n".encode(),
        f"{info}/WHEEL": b"Wheel-Version: 1.0\nGenerator: x\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    rows = []
    for path, data in members.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
        rows.append(f"{path},sha256={digest},{len(data)}\n")
    members[f"{info}/RECORD"] = "".join([*rows, f"{info}/RECORD,,\n"]).encode()
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for path, data in members.items():
            archive.writestr(path, data)
    wheel = f"{name}-{version}-py3-none-any.whl"
    page = f'<a href="/{wheel}#sha256={hashlib.sha256(out.getvalue()).hexdigest()}">{wheel}</a>'
    return {f"/simple/{name}/": page.encode(), f"/{wheel}": out.getvalue()}

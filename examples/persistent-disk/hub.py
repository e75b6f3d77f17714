"""A package index and a store of models on the loopback, which count what they send."""

from __future__ import annotations

import base64
import hashlib
import io
import threading
import zipfile
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import cast

WEIGHTS = hashlib.shake_128(b"weights").digest(2_000_000)


class Hub(ThreadingHTTPServer):
    """Serves one package and one model; `sent` counts the bytes of all answers."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.files = {"/weights.bin": WEIGHTS, **_package("tinynet", "1.0")}
        self.sent = 0
        threading.Thread(target=self.serve_forever, daemon=True).start()

    @property
    def address(self) -> str:
        """Where it answers."""
        return f"http://127.0.0.1:{self.server_port}"


class _Handler(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        hub = cast(Hub, self.server)
        body = hub.files.get(self.path, b"")
        self.send_response(200 if body else 404)
        self.send_header(
            "Content-Type", "text/html" if self.path.endswith("/") else "application/octet-stream"
        )
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
        hub.sent += len(body)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the name that it has there
        pass


def _package(name: str, version: str) -> dict[str, bytes]:
    """Return an index with one wheel of one module."""
    info = f"{name}-{version}.dist-info"
    members = {
        f"{name}/__init__.py": b"SCALE = 1.0\n",
        f"{name}/table.bin": hashlib.shake_128(name.encode()).digest(500_000),
        f"{info}/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n".encode(),
        f"{info}/WHEEL": b"Wheel-Version: 1.0\nGenerator: x\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    rows = [
        f"{path},sha256={base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b'=').decode()},{len(data)}\n"
        for path, data in members.items()
    ]
    members[f"{info}/RECORD"] = "".join([*rows, f"{info}/RECORD,,\n"]).encode()
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for path, data in members.items():
            archive.writestr(path, data)
    wheel = f"{name}-{version}-py3-none-any.whl"
    page = f'<a href="/{wheel}#sha256={hashlib.sha256(out.getvalue()).hexdigest()}">{wheel}</a>'
    return {f"/simple/{name}/": page.encode(), f"/{wheel}": out.getvalue()}

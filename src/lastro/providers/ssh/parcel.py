"""The parcel: lastro itself as one archive, so that a machine needs Python and nothing else."""

from __future__ import annotations

import gzip
import hashlib
import io
import tarfile
from functools import cache
from pathlib import Path

_LEFT_OUT = ("__pycache__",)


@cache
def parcel() -> tuple[str, bytes]:
    """Return (SHA-256, bytes) of a gzipped tar of this very lastro; equal files give equal bytes."""
    root = Path(__file__).parents[2]
    packed = io.BytesIO()
    with (
        gzip.GzipFile(fileobj=packed, mode="wb", mtime=0) as squeezed,
        tarfile.open(fileobj=squeezed, mode="w", format=tarfile.USTAR_FORMAT) as archive,
    ):
        for path in sorted(root.rglob("*")):
            if path.is_file() and not any(part in _LEFT_OUT for part in path.parts):
                data = path.read_bytes()
                entry = tarfile.TarInfo(str(Path(root.name, path.relative_to(root))))
                entry.size = len(data)
                archive.addfile(entry, io.BytesIO(data))
    data = packed.getvalue()
    return hashlib.sha256(data).hexdigest(), data

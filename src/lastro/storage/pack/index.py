r"""The index of a pack: written once, then mapped. A million files take 40 MB and no time to load.

`numpy.load("index.npy", mmap_mode="r")` gives the same rows, and `tr '\0' '\n' < names` the names.
"""

from __future__ import annotations

import mmap
from collections.abc import Iterable
from pathlib import Path

from lastro.errors import StorageError
from lastro.locale import _
from lastro.storage.pack.layout import DESCRIPTION, INDEX, NAMES, ROW, PackManifest, Row

_ALIGN = 64
_MAGIC = b"\x93NUMPY\x01\x00"


def npy_header(rows: int) -> bytes:
    """Return the header of a file of so many rows, as NumPy's format 1.0 has it."""
    text = f"{{'descr': {list(DESCRIPTION)!r}, 'fortran_order': False, 'shape': ({rows},), }}".encode()
    fill = -(len(_MAGIC) + 2 + len(text) + 1) % _ALIGN
    return _MAGIC + (len(text) + fill + 1).to_bytes(2, "little") + text + b" " * fill + b"\n"


def index_bytes(rows: Iterable[Row], count: int) -> bytes:
    """Return the whole file `index.npy`."""
    return npy_header(count) + b"".join(ROW.pack(*row) for row in rows)


class Index:
    """Rows and names of a pack, mapped: `mapped`, where the rows begin at `data_offset`, and `names`."""

    def __init__(self, folder: Path, manifest: PackManifest) -> None:
        """Map both files.

        Raises:
            StorageError: one is not there, or has not the size or the header that the manifest asks for.
        """
        head = npy_header(manifest.files)
        self.data_offset = len(head)
        self.mapped = _map(folder / INDEX, manifest.index.bytes)
        self.names = _map(folder / NAMES, manifest.names.bytes)
        if self.mapped[: len(head)] != head or len(self.mapped) != len(head) + manifest.files * ROW.size:
            raise StorageError(
                _("{path} is not the index that its manifest tells of").format(path=folder / INDEX),
                hint=_("restore it from a copy, or pack again"),
            )
        self._count = manifest.files

    def __len__(self) -> int:
        return self._count

    def row(self, number: int) -> Row:
        """Return a row; numbers begin at 0."""
        return Row._make(ROW.unpack_from(self.mapped, self.data_offset + number * ROW.size))

    def name(self, number: int) -> bytes:
        """Return the name of a file."""
        begin = self.row(number - 1).name_end if number else 0
        return self.names[begin : self.row(number).name_end - 1]


def _map(path: Path, size: int) -> mmap.mmap | bytes:
    try:
        with path.open("rb") as file:
            found = path.stat().st_size
            if found == size:
                return mmap.mmap(file.fileno(), size, prot=mmap.PROT_READ) if size else b""
    except OSError as error:
        raise StorageError(
            _("{path} cannot be read: {error}").format(path=path, error=error.strerror),
            hint=_("check the disk; restore it from a copy, or pack again"),
        ) from error
    raise StorageError(
        _("{path} has {found} bytes, and its manifest says {size}").format(path=path, found=found, size=size),
        hint=_("it belongs to another pack, or was cut; restore it from a copy, or pack again"),
    )

from __future__ import annotations

import tarfile

from hypothesis import given
from hypothesis import strategies as st

from lastro.storage.pack.header import BLOCK, header_of
from lastro.storage.pack.tree import Entry, Kind

ASCII = (
    st.binary(min_size=1, max_size=100)
    .map(lambda name: bytes(byte % 126 + 1 for byte in name))
    .filter(lambda name: not name.endswith(b"/"))
)


@given(name=ASCII, size=st.integers(0, 8**11 - 1), mode=st.sampled_from([0o644, 0o755]))
def test_the_block_of_a_plain_file_is_what_tarfile_reads(name: bytes, size: int, mode: int) -> None:
    """`frombuf` checks the sum of the block too."""
    block = header_of(Entry(kind=Kind.FILE, name=name, size=size, mode=mode))

    read = tarfile.TarInfo.frombuf(block, "utf-8", "surrogateescape")

    assert len(block) == BLOCK
    assert (read.name.encode(), read.size, read.mode) == (name, size, mode)
    assert (read.mtime, read.uid, read.gid, read.type) == (0, 0, 0, tarfile.REGTYPE)

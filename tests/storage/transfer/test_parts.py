from __future__ import annotations

import hashlib
import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lastro.errors import UsageError
from lastro.storage.transfer.manifest import Files, SentFile, inside
from lastro.storage.transfer.parts import (
    MIB,
    Begun,
    There,
    composite,
    go_on,
    part_bytes,
    parts_of,
    percentiles,
    usable,
)
from lastro.storage.transfer.place import Bucket, Remote, parse_place


@given(st.integers(min_value=0, max_value=10**13), st.integers(min_value=5, max_value=64))
def test_parts_cover_a_file_once_and_are_never_too_many(size: int, wanted_mib: int) -> None:
    each = part_bytes(size, wanted_mib * MIB)
    count = max(-(-size // each), 1)

    assert each >= wanted_mib * MIB
    assert count <= 10_000
    if count < 200:
        parts = parts_of(size, each)
        assert [part.number for part in parts] == list(range(1, count + 1))
        assert parts[0].offset == 0
        assert all(a.offset + a.size == b.offset for a, b in itertools.pairwise(parts))
        assert parts[-1].offset + parts[-1].size == size


def test_a_terabyte_has_larger_parts() -> None:
    """10^12 bytes in 10,000 parts are 10^8 each: 96 MiB, as 95.4 is rounded up."""
    assert part_bytes(10**12) == 96 * MIB


def test_what_a_store_calls_parts_by_hand() -> None:
    """Of one part its own MD5; of two the MD5 of both MD5s one after another, and how many they are."""
    one, two = hashlib.md5(b"1").digest(), hashlib.md5(b"2").digest()

    assert composite([one]) == hashlib.md5(b"1").hexdigest()
    assert composite([one, two]) == f"{hashlib.md5(one + two).hexdigest()}-2"


def begun(**facts: object) -> Begun:
    return Begun(**{"upload": "u", "size": 10, "changed_ns": 1, "part_bytes": 5, **facts})  # type: ignore[arg-type]


def test_an_upload_goes_on_only_where_the_file_and_the_store_agree() -> None:
    part = There(number=1, size=5, etag="x")

    assert go_on(None, 10, 1, None).upload is None
    assert go_on(begun(upload=None), 10, 1, None).upload is None
    assert go_on(begun(), 10, 1, [part]).upload == "u"
    assert (go_on(begun(), 10, 1, None).upload, go_on(begun(), 10, 1, None).abort) == (None, None)
    assert (go_on(begun(), 11, 1, [part]).upload, go_on(begun(), 11, 1, [part]).abort) == (None, "u")
    assert (go_on(begun(), 10, 2, [part]).upload, go_on(begun(), 10, 2, [part]).abort) == (None, "u")
    assert go_on(begun(), 10, 2, None).abort is None


def test_a_part_of_another_size_is_of_no_use() -> None:
    parts = parts_of(12, 5)

    found = usable([There(number=1, size=5, etag="a"), There(number=3, size=5, etag="c")], parts)

    assert list(found) == [1]


def test_percentiles_are_values_that_were_measured() -> None:
    """Of 0 to 99 the 50th smallest is 49, and the 99th of a hundred is 99 (98.01 rounded up)."""
    assert percentiles([float(number) for number in range(100)]) == (49.0, 99.0)
    assert percentiles([2.0]) == (2.0, 2.0)
    assert percentiles([]) is None


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("s3://my-bucket/a/b", Bucket(bucket="my-bucket", key="a/b")),
        ("s3://my-bucket", Bucket(bucket="my-bucket", key="")),
        ("ssh://me@host:2222/data", Remote(user="me", host="host", port=2222, path="/data")),
        ("ssh://host/data", Remote(host="host", path="/data")),
    ],
)
def test_places_are_read_as_they_are_written(text: str, place: Bucket | Remote) -> None:
    assert parse_place(text) == place
    assert parse_place(str(place)) == place


@pytest.mark.parametrize(
    "text",
    [
        "/local",
        "s3://",
        "s3://UPPER/x",
        "http://x/y",
        "ssh://host",
        "ssh://-oProxyCommand=x/y",
        "ssh://h:0/x",
    ],
)
def test_what_is_no_place_is_refused(text: str) -> None:
    with pytest.raises(UsageError):
        parse_place(text)


@pytest.mark.parametrize(
    ("name", "stays"),
    [
        ("a/b", True),
        ("..", False),
        ("a/../b", False),
        ("/a", False),
        ("", False),
        ("a//b", False),
        ("...", True),
    ],
)
def test_names_that_leave_a_folder_are_seen(name: str, stays: bool) -> None:
    assert inside(name) is stays


def test_the_digest_of_a_sent_file_is_its_own_and_that_of_a_folder_is_over_its_files() -> None:
    sums = [hashlib.sha256(text).hexdigest() for text in (b"1", b"2")]
    files = [
        SentFile(name=name, bytes=1, sha256=sha256, part_bytes=5, md5s=())
        for name, sha256 in zip(("a", "b"), sums, strict=True)
    ]
    by_hand = hashlib.sha256(f"{sums[0]}  a\n{sums[1]}  b\n".encode()).hexdigest()

    assert Files(files=tuple(files)).digest() == by_hand
    single = SentFile(name="", bytes=1, sha256=sums[0], part_bytes=5, md5s=())
    assert Files(files=(single,)).digest() == sums[0]

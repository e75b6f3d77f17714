"""Files are made smaller on their way where that pays, and come back as they were."""

from __future__ import annotations

import gzip
import os
import random
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lastro import strictjson
from lastro.errors import StorageError
from lastro.storage.digest import digest_of
from lastro.storage.transfer.compress import Sample, choose, compressed, hopeless
from lastro.storage.transfer.manifest import NAME
from lastro.storage.transfer.place import Bucket
from lastro.storage.transfer.pull import Level, pull
from lastro.storage.transfer.push import Sent, ahead, push
from lastro.storage.transfer.s3 import S3
from lastro.storage.transfer.shrink import Shrinker
from lastro.storage.transfer.told import Tally
from tests.storage.pack.trees import content
from tests.storage.transfer.stores import client
from tests.storage.transfer.test_s3 import held, kill_when, uploads

MIB = 2**20
PART = 5 * MIB


def sample(left: int, seconds: float) -> Sample:
    return Sample(bytes=10**6, left=left, seconds=seconds)


@pytest.mark.parametrize(
    ("left", "seconds", "rate", "threads", "pays"),
    [
        (250_000, 0.01, 10e6, 1, True),
        (250_000, 0.01, 100e6, 1, False),
        (250_000, 0.01, 100e6, 2, True),
        (850_000, 0.01, 10e6, 1, False),
    ],
)
def test_it_pays_when_both_times_together_are_shorter(
    left: int, seconds: float, rate: float, threads: int, pays: bool
) -> None:
    """A million bytes at 10 MB/s take 100 ms as they are; a quarter of them 25 ms, and 10 ms before: 35 %.

    At 100 MB/s 10 ms against 12.5; with two threads against 7.5. Of 0.85 it is 95 ms of 100: not worth it.
    """
    choice = choose(sample(left, seconds), rate, threads)

    assert choice.compress is pays
    assert f"keeps {left / 10**6:.0%}" in choice.why


def test_what_hardly_shrinks_needs_no_rate() -> None:
    assert hopeless(sample(900_000, 0.0))
    assert not hopeless(sample(899_999, 9.0))


@given(pieces=st.lists(st.binary(max_size=300), min_size=1, max_size=5))
def test_members_in_a_row_are_one_gzip_file(pieces: list[bytes]) -> None:
    whole = b"".join(map(compressed, pieces))

    assert gzip.decompress(whole) == b"".join(pieces)
    assert whole == b"".join(map(compressed, pieces))


def text(size: int, seed: int) -> bytes:
    """Bytes of which gzip keeps about a half."""
    return random.Random(seed).randbytes(size // 2).hex().encode()


@pytest.fixture
def slow_link(monkeypatch: pytest.MonkeyPatch) -> None:
    """A way out of 1 MB/s, which this box has not."""
    monkeypatch.setattr(Shrinker, "_way_out", lambda _self: 1e6)


def plant(root: Path) -> Path:
    root.mkdir()
    (root / "large.jsonl").write_bytes(text(24 * MIB, 1))
    (root / "small.csv").write_bytes(text(200_000, 2))
    (root / "taken.txt").write_bytes(text(100_000, 3))
    (root / "taken.txt.gz").write_bytes(compressed(b"another file"))
    (root / "image.png").write_bytes(os.urandom(200_000))
    (root / "tiny.txt").write_bytes(b"x" * 1000)
    (root / "run.sh").write_bytes(text(100_000, 4))
    (root / "run.sh").chmod(0o755)
    return root


def send(source: Path, place: Bucket, records: Path) -> tuple[Sent, Tally]:
    tally = Tally()
    return push(source, place, S3(), records, tally, workers=4, part_size=PART, compress=True), tally


@pytest.mark.usefixtures("slow_link")
def test_a_folder_goes_smaller_and_comes_back_as_it_was(store: str, bucket: str, tmp_path: Path) -> None:
    source, place = plant(tmp_path / "source"), Bucket(bucket=bucket, key="c")

    first = ahead(source, place, S3(), tmp_path / "records", part_size=PART, compress=True)
    sent, tally = send(source, place, tmp_path / "records")
    fetched = pull(place, tmp_path / "back", S3(), Tally())
    again, unmoved = send(source, place, tmp_path / "records")

    listed = client(store).list_objects_v2(Bucket=bucket)["Contents"]
    assert {one["Key"] for one in listed} == {
        f"c/{name}"
        for name in (
            *("large.jsonl.gz", "small.csv.gz", "run.sh.gz", "taken.txt", "taken.txt.gz"),
            *("image.png", "tiny.txt", NAME),
        )
    }
    chosen = {one.name: one for one in sent.chosen}
    assert "another file" in chosen["taken.txt"].why
    assert "keeps 100%" in chosen["image.png"].why
    assert "at 1 MB/s" in chosen["large.jsonl"].why
    assert tally.moved_bytes < 0.7 * tally.bytes
    assert content(tmp_path / "back") == content(source)
    assert os.access(tmp_path / "back" / "run.sh", os.X_OK)
    assert fetched.digest == sent.files.digest() == digest_of(source)
    assert fetched.level is Level.SHA256
    left = ahead(source, place, S3(), tmp_path / "records", part_size=PART, compress=True)
    assert (left.bytes, first.bytes) == (0, sum(one.stat().st_size for one in source.iterdir()))
    assert (unmoved.there_files, again.files) == (unmoved.files, sent.files)
    assert list((tmp_path / "records").iterdir()) == []


@pytest.mark.usefixtures("slow_link")
def test_any_tool_reads_what_was_made_smaller(store: str, bucket: str, tmp_path: Path) -> None:
    data = text(12 * MIB, 5)
    (tmp_path / "rows").write_bytes(data)
    send(tmp_path / "rows", Bucket(bucket=bucket, key="rows.jsonl"), tmp_path / "records")

    body = client(store).get_object(Bucket=bucket, Key="rows.jsonl.gz")["Body"].read()
    pull(Bucket(bucket=bucket, key="rows.jsonl"), tmp_path / "back", S3(), Tally())

    assert subprocess.run(["gzip", "-dc"], input=body, capture_output=True, check=True).stdout == data
    assert (tmp_path / "back").read_bytes() == data


def test_the_rate_of_the_way_out_is_measured_and_leaves_nothing(
    store: str, bucket: str, tmp_path: Path
) -> None:
    (tmp_path / "rows").write_bytes(text(300_000, 6))

    sent, tally = send(tmp_path / "rows", Bucket(bucket=bucket, key="rows"), tmp_path / "records")

    listed = client(store).list_objects_v2(Bucket=bucket)["Contents"]
    assert len(listed) == 2
    assert [one.name for one in sent.chosen] == [""]
    assert tally.moved_bytes > MIB  # what it was measured with counts too


_PUSH = """
import sys
from pathlib import Path
from lastro.storage.transfer.place import Bucket
from lastro.storage.transfer.push import push
from lastro.storage.transfer.s3 import S3
from lastro.storage.transfer.shrink import Shrinker
from lastro.storage.transfer.told import Tally
source, bucket, records, part = sys.argv[1:]
Shrinker._way_out = lambda _self: 1e6
place = Bucket(bucket=bucket, key="big")
push(Path(source), place, S3(), Path(records), Tally(), workers=4, part_size=int(part), compress=True)
"""


def test_after_a_kill_what_was_begun_smaller_goes_on_so(store: str, bucket: str, tmp_path: Path) -> None:
    """64 MiB become some 36; killed when 16 MiB have gone up. Then the link is fast, and it stays so."""
    source = tmp_path / "big"
    source.write_bytes(text(64 * MIB, 7))
    command = [sys.executable, "-c", _PUSH, str(source), bucket, str(tmp_path / "records"), str(PART)]
    kill_when(command, store, 16 * MIB)
    there = held(store, bucket)

    sent, tally = send(source, Bucket(bucket=bucket, key="big"), tmp_path / "records")
    pull(Bucket(bucket=bucket, key="big"), tmp_path / "back", S3(), Tally())

    assert "begun" in sent.chosen[0].why
    listed = len(sent.files.as_bytes())
    assert tally.moved_bytes <= sent.files.files[0].stored_bytes - there + listed
    assert uploads(store, bucket) == []
    assert (tmp_path / "back").read_bytes() == source.read_bytes()
    assert list((tmp_path / "records").iterdir()) == []


@pytest.mark.usefixtures("slow_link")
@pytest.mark.parametrize("body", [b"no gzip file", compressed(b"too long" * 10**6)])
def test_what_is_not_what_the_list_says_gets_no_name(
    store: str, bucket: str, tmp_path: Path, body: bytes
) -> None:
    """With a list that was made to fit: the right MD5 and length of something else."""
    import hashlib

    (tmp_path / "rows").write_bytes(text(100_000, 8))
    place = Bucket(bucket=bucket, key="rows")
    send(tmp_path / "rows", place, tmp_path / "records")
    s3 = client(store)
    listed = strictjson.loads(s3.get_object(Bucket=bucket, Key=f"rows{NAME}")["Body"].read())
    md5 = hashlib.md5(body, usedforsecurity=False).hexdigest()
    listed["files"][0] |= {"packed_bytes": len(body), "md5s": [md5]}
    s3.put_object(Bucket=bucket, Key=f"rows{NAME}", Body=strictjson.dumps(listed).encode())
    s3.put_object(Bucket=bucket, Key="rows.gz", Body=body)

    with pytest.raises(StorageError, match="other bytes"):
        pull(place, tmp_path / "back", S3(), Tally())

    assert [path.name for path in tmp_path.iterdir() if "back" in path.name] == []

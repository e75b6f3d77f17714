from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from lastro.errors import StorageError, UsageError
from lastro.storage.digest import digest_of
from lastro.storage.transfer.manifest import NAME
from lastro.storage.transfer.place import Bucket
from lastro.storage.transfer.pull import Level, pull
from lastro.storage.transfer.push import push
from lastro.storage.transfer.s3 import S3, Object
from lastro.storage.transfer.told import Tally
from tests.storage.pack.trees import content, plant
from tests.storage.transfer.stores import Proxy, address, client

MIB = 2**20
PART = 5 * MIB


def big(path: Path, size: int = 40 * MIB, seed: int = 1) -> Path:
    path.write_bytes(random.Random(seed).randbytes(size))
    return path


def send(source: Path, place: Bucket, records: Path, workers: int = 4) -> Tally:
    tally = Tally()
    push(source, place, S3(), records, tally, workers=workers, part_size=PART)
    return tally


def fetch(place: Bucket, target: Path, workers: int = 4) -> Tally:
    tally = Tally()
    pull(place, target, S3(), tally, workers=workers)
    return tally


def uploads(store: str, bucket: str) -> list[str]:
    return [one["Key"] for one in client(store).list_multipart_uploads(Bucket=bucket).get("Uploads", [])]


def test_a_folder_comes_back_as_it_was_sent(bucket: str, tmp_path: Path) -> None:
    source = plant(tmp_path / "source", count=20)
    (source / "run.sh").write_bytes(b"#!/bin/sh\n")
    (source / "run.sh").chmod(0o755)
    (source / "link").symlink_to("run.sh")
    place = Bucket(bucket=bucket, key="corpus/v1")

    sent = push(source, place, S3(), tmp_path / "records", Tally())
    fetched = pull(place, tmp_path / "back", S3(), Tally())

    assert [one.as_json() for one in sent.left_out] == [{"path": "link", "why": "a link cannot be an object"}]
    (source / "link").unlink()
    assert content(tmp_path / "back") == content(source)
    assert os.access(tmp_path / "back" / "run.sh", os.X_OK)
    assert fetched.digest == sent.files.digest() == digest_of(source)
    assert fetched.level is Level.SHA256


def test_what_is_there_is_not_sent_again(bucket: str, tmp_path: Path) -> None:
    """A file of 12 MiB in parts of 5 MiB and some small ones; then one of them changes."""
    source = plant(tmp_path / "source", count=5)
    big(source / "large", 12 * MIB)
    place = Bucket(bucket=bucket, key="c")
    first = send(source, place, tmp_path / "records")
    (source / "0" / "0000.cls").write_bytes(b"changed")

    again = send(source, place, tmp_path / "records")

    assert first.there_files == 0
    assert again.there_files == again.files - 1
    assert again.moved_bytes < 10_000


def test_a_file_comes_back_and_is_not_fetched_again(bucket: str, tmp_path: Path) -> None:
    source = big(tmp_path / "weights", 12 * MIB)
    place = Bucket(bucket=bucket, key="w/weights")
    send(source, place, tmp_path / "records")

    first = fetch(place, tmp_path / "here")
    again = fetch(place, tmp_path / "here")

    assert (tmp_path / "here").read_bytes() == source.read_bytes()
    assert first.moved_bytes >= 12 * MIB
    assert again.moved_bytes < 10_000


def test_another_file_in_the_way_is_not_touched(bucket: str, tmp_path: Path) -> None:
    source = big(tmp_path / "weights", MIB)
    place = Bucket(bucket=bucket, key="weights")
    send(source, place, tmp_path / "records")
    (tmp_path / "here").write_bytes(b"other")

    with pytest.raises(UsageError, match="is there"):
        fetch(place, tmp_path / "here")

    assert (tmp_path / "here").read_bytes() == b"other"


_PUSH = """
import sys
from pathlib import Path
from lastro.storage.transfer.place import Bucket
from lastro.storage.transfer.push import push
from lastro.storage.transfer.s3 import S3
from lastro.storage.transfer.told import Tally
source, bucket, records, part, workers = sys.argv[1:]
place = Bucket(bucket=bucket, key="big")
push(Path(source), place, S3(), Path(records), Tally(), workers=int(workers), part_size=int(part))
"""


def kill_at(source: Path, store: str, bucket: str, records: Path, fraction: float, part: int) -> None:
    """Push in a process of its own and kill it when so much of the file has gone up."""
    command = [sys.executable, "-c", _PUSH, str(source), bucket, str(records), str(part), "4"]
    kill_when(command, store, source.stat().st_size * fraction)


def kill_when(command: list[str], store: str, up: float) -> None:
    """Run a command, and kill it when it has sent so many bytes to the store."""
    with Proxy(address(store)) as proxy:
        environment = {**os.environ, "AWS_ENDPOINT_URL": proxy.endpoint}
        process = subprocess.Popen(command, env=environment)
        while proxy.up < up and process.poll() is None:
            time.sleep(0.002)
        process.send_signal(signal.SIGKILL)
        process.wait()


def held(store: str, bucket: str) -> int:
    """Return the bytes of all parts of uploads that are not complete."""
    s3 = client(store)
    total = 0
    for upload in s3.list_multipart_uploads(Bucket=bucket).get("Uploads", []):
        listed = s3.list_parts(Bucket=bucket, Key=upload["Key"], UploadId=upload["UploadId"])
        total += sum(part["Size"] for part in listed.get("Parts", []))
    return total


def check_kill(store: str, bucket: str, source: Path, folder: Path, fraction: float, part: int) -> None:
    kill_at(source, store, bucket, folder / "records", fraction, part)
    size, there = source.stat().st_size, held(store, bucket)

    again = send(source, Bucket(bucket=bucket, key="big"), folder / "records")
    fetch(Bucket(bucket=bucket, key="big"), folder / "back")

    listed = client(store).head_object(Bucket=bucket, Key=f"big{NAME}")["ContentLength"]
    assert again.moved_bytes <= size - there + listed
    assert again.there_bytes >= there  # the store may have finished a part after the kill
    assert uploads(store, bucket) == []
    assert (folder / "back").read_bytes() == source.read_bytes()
    assert list((folder / "records").iterdir()) == []


@pytest.mark.parametrize("fraction", [0.25, 0.95])
def test_after_a_kill_only_what_is_missing_is_sent(
    store: str, bucket: str, tmp_path: Path, fraction: float
) -> None:
    """40 MiB in parts of 5 MiB by 4 workers: at most the four parts that were in the air are sent twice."""
    check_kill(store, bucket, big(tmp_path / "big"), tmp_path, fraction, PART)


@pytest.mark.long
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("fraction", [0.25, 0.5, 0.95])
def test_after_a_kill_of_a_gigabyte_only_what_is_missing_is_sent(
    store: str, bucket: str, tmp_path: Path, fraction: float
) -> None:
    source = tmp_path / "big"
    with source.open("wb") as file:
        for seed in range(10):
            file.write(random.Random(seed).randbytes(10**8))

    check_kill(store, bucket, source, tmp_path, fraction, PART)


def test_an_upload_of_a_file_that_changed_is_given_up_and_anothers_is_not(
    store: str, bucket: str, tmp_path: Path
) -> None:
    source = big(tmp_path / "big")
    kill_at(source, store, bucket, tmp_path / "records", 0.5, PART)
    theirs = client(store).create_multipart_upload(Bucket=bucket, Key="big")["UploadId"]
    client(store).upload_part(Bucket=bucket, Key="big", UploadId=theirs, PartNumber=1, Body=b"theirs")
    big(source, 12 * MIB, seed=2)

    send(source, Bucket(bucket=bucket, key="big"), tmp_path / "records")
    fetch(Bucket(bucket=bucket, key="big"), tmp_path / "back")

    left = client(store).list_multipart_uploads(Bucket=bucket)["Uploads"]
    assert [one["UploadId"] for one in left] == [theirs]
    assert (tmp_path / "back").read_bytes() == source.read_bytes()


def test_a_fetch_goes_on_by_pieces(store: str, bucket: str, tmp_path: Path) -> None:
    """Cut for good in the middle: the pieces that are there stay, and the rest comes later."""
    source = big(tmp_path / "big")
    place = Bucket(bucket=bucket, key="big")
    send(source, place, tmp_path / "records")
    spent = 0

    def draw(count: int) -> None:
        nonlocal spent
        spent += count
        if spent > 22 * MIB:
            raise StorageError("cut")

    with pytest.raises(StorageError, match="cut"):
        pull(place, tmp_path / "back", S3(), Tally(draw=draw), workers=1)
    assert not (tmp_path / "back").exists()

    again = fetch(place, tmp_path / "back")

    assert again.there_bytes == 20 * MIB
    assert (tmp_path / "back").read_bytes() == source.read_bytes()
    assert sorted(path.name for path in tmp_path.iterdir() if path.name.startswith(".")) == []


def test_a_budget_that_is_used_up_stops_before_the_next_part_and_keeps_the_upload(
    bucket: str, tmp_path: Path
) -> None:
    """A budget of 22 MiB: four parts of 5 MiB go, the fifth does not, and later only four are missing."""
    source = big(tmp_path / "big")
    place = Bucket(bucket=bucket, key="big")
    spent = 0

    def draw(count: int) -> None:
        nonlocal spent
        if spent + count > 22 * MIB:
            raise StorageError("the budget is spent")
        spent += count

    with pytest.raises(StorageError, match="budget"):
        push(source, place, S3(), tmp_path / "records", Tally(draw=draw), workers=1, part_size=PART)
    assert spent == 20 * MIB

    again = send(source, place, tmp_path / "records")

    assert again.there_bytes == 20 * MIB


class Harm:
    """Does something once, to the first large piece that goes a way."""

    def __init__(self, way: str, what: str) -> None:
        self._way, self._what = way, what
        self._lock = threading.Lock()
        self.done = 0

    def __call__(self, piece: bytes, way: str, before: int) -> bytes | None:
        if way != self._way or before < MIB:
            return piece
        with self._lock:
            if self.done:
                return piece
            self.done += 1
        if self._what == "reset":
            return None
        if self._what == "stall":
            time.sleep(4)
            return None
        return bytes([piece[0] ^ 1]) + piece[1:]


@pytest.mark.parametrize("what", ["reset", "stall", "flip"])
@pytest.mark.parametrize("way", ["up", "down"])
def test_harm_on_the_way_is_made_good(
    store: str, bucket: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, way: str, what: str
) -> None:
    source = big(tmp_path / "big", 12 * MIB)
    place = Bucket(bucket=bucket, key="big")
    monkeypatch.setenv("LASTRO_S3_SILENT", "2")
    with Proxy(address(store)) as proxy:
        monkeypatch.setenv("AWS_ENDPOINT_URL", proxy.endpoint)
        if way == "up":
            proxy.harm = harm = Harm(way, what)
            sent = send(source, place, tmp_path / "records")
        else:
            send(source, place, tmp_path / "records")
            proxy.harm = harm = Harm(way, what)
            sent = fetch(place, tmp_path / "here")
    monkeypatch.setenv("AWS_ENDPOINT_URL", store)

    fetch(place, tmp_path / "back")

    assert harm.done == 1
    assert sent.retried >= 1
    assert uploads(store, bucket) == []
    assert (tmp_path / "back").read_bytes() == source.read_bytes()


def test_a_store_that_is_busy_is_asked_again(store: str, bucket: str, tmp_path: Path) -> None:
    """The first three answers are 503 SlowDown."""
    busy = b"HTTP/1.1 503 Slow Down\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
    told = 0

    def harm(piece: bytes, way: str, _before: int) -> bytes | None:
        nonlocal told
        if way == "down" and told < 3 and piece.startswith(b"HTTP/1.1"):
            told += 1
            return busy
        return piece

    with Proxy(address(store), harm=harm) as proxy, pytest.MonkeyPatch.context() as patch:
        patch.setenv("AWS_ENDPOINT_URL", proxy.endpoint)
        sent = send(big(tmp_path / "big", 12 * MIB), Bucket(bucket=bucket, key="big"), tmp_path / "records")

    assert sent.retried == 3


def test_a_store_that_never_answers_is_told_and_nothing_is_forgotten(
    bucket: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:9")
    monkeypatch.setattr("lastro.storage.transfer.s3._TRIES", 2)

    with pytest.raises(StorageError, match="in 2 tries"):
        send(big(tmp_path / "big", MIB), Bucket(bucket=bucket, key="big"), tmp_path / "records")


@pytest.mark.parametrize(
    ("status", "code", "hint"),
    [
        ("403 Forbidden", "AccessDenied", "ask for the right"),
        ("403 Forbidden", "SignatureDoesNotMatch", "credentials"),
        ("404 Not Found", "NoSuchBucket", "make the bucket"),
    ],
)
def test_what_a_store_refuses_is_told_with_a_next_step(
    store: str, bucket: str, tmp_path: Path, status: str, code: str, hint: str
) -> None:
    """The store's own words are put in by the proxy: SeaweedFS itself makes a bucket that is not there."""
    body = f"<Error><Code>{code}</Code><Message>no</Message></Error>"
    refusal = f"HTTP/1.1 {status}\r\nContent-Length: {len(body)}\r\nConnection: close\r\n\r\n{body}".encode()

    def harm(piece: bytes, way: str, _before: int) -> bytes:
        return refusal if way == "down" and piece.startswith(b"HTTP/1.1") else piece

    with Proxy(address(store), harm=harm) as proxy, pytest.MonkeyPatch.context() as patch:
        patch.setenv("AWS_ENDPOINT_URL", proxy.endpoint)
        with pytest.raises(StorageError) as told:
            S3().list(Bucket(bucket=bucket, key="x"))

    assert hint in str(told.value.hint)


def test_a_list_that_was_changed_is_not_believed(store: str, bucket: str, tmp_path: Path) -> None:
    place = Bucket(bucket=bucket, key="c")
    send(plant(tmp_path / "source", count=2), place, tmp_path / "records")
    s3 = client(store)
    listed = s3.get_object(Bucket=bucket, Key=f"c/{NAME}")["Body"].read()
    s3.put_object(Bucket=bucket, Key=f"c/{NAME}", Body=listed.replace(b"0/0000.jpg", b"../../0000"))

    with pytest.raises(StorageError, match="not the list"):
        fetch(place, tmp_path / "back")

    assert not (tmp_path / "back").exists()


@pytest.mark.parametrize("name", ["../x", "a/../../x", "/x", "a//b", "a/./b", ""])
def test_keys_that_lead_outside_are_refused(bucket: str, tmp_path: Path, name: str) -> None:
    """SeaweedFS tidies such keys up, so a store that does not is made of it."""

    class Hostile(S3):
        def head(self, place: Bucket) -> Object | None:
            return None

        def list(self, place: Bucket) -> list[Object]:
            return [Object(key=f"c/{name}", bytes=1, etag="0")]

    before = content(tmp_path)

    with pytest.raises(StorageError, match=r"leave the folder|nothing lies"):
        pull(Bucket(bucket=bucket, key="c"), tmp_path / "back", Hostile(), Tally())

    assert content(tmp_path) == before


def test_an_object_that_another_program_sent_is_compared_as_far_as_it_can_be(
    store: str, bucket: str, tmp_path: Path
) -> None:
    client(store).put_object(Bucket=bucket, Key="plain", Body=b"plain")

    fetched = pull(Bucket(bucket=bucket, key="plain"), tmp_path / "here", S3(), Tally())

    assert fetched.level is Level.MD5
    assert fetched.digest is None
    assert (tmp_path / "here").read_bytes() == b"plain"


def test_a_name_that_no_key_can_have_is_refused_with_a_way_out(bucket: str, tmp_path: Path) -> None:
    (tmp_path / "source").mkdir()
    with open(os.path.join(os.fsencode(tmp_path), b"source", b"latin-\xe9"), "wb") as file:  # noqa: PTH118, PTH123
        file.write(b"x")

    with pytest.raises(UsageError) as told:
        send(tmp_path / "source", Bucket(bucket=bucket, key="c"), tmp_path / "records")

    assert "lastro disk pack" in str(told.value.hint)

"""How fast a file goes to a store beside boto3's own transfer, which begins anew after a kill."""

from __future__ import annotations

import os
import tempfile
import time
import uuid
from collections.abc import Callable
from functools import partial
from pathlib import Path
from unittest import mock

from benchmarks.result import Result, median
from lastro.storage.transfer.place import Bucket
from lastro.storage.transfer.push import push
from lastro.storage.transfer.s3 import S3
from lastro.storage.transfer.told import Tally
from tests.storage.transfer.stores import KEY, SECRET, client, seaweed

MB = int(os.environ.get("BENCH_TRANSFER_MB", "200"))
ROUNDS = 5


def _time(work: Callable[[], object]) -> float:
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


def _boto3(endpoint: str, source: Path) -> None:
    from boto3.s3.transfer import TransferConfig

    each = TransferConfig(multipart_chunksize=16 << 20, max_concurrency=8)
    client(endpoint).upload_file(str(source), "bench", uuid.uuid4().hex, Config=each)


def _lastro(source: Path, records: Path) -> None:
    push(source, Bucket(bucket="bench", key=uuid.uuid4().hex), S3(), records, Tally())


def run() -> Result:
    theirs: list[float] = []
    ours: list[float] = []
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder, "source")
        source.write_bytes(os.urandom(MB * 10**6))
        Path(folder, "weed").mkdir()
        with seaweed(Path(folder, "weed")) as endpoint, mock.patch.dict(os.environ, _found(endpoint)):
            client(endpoint).create_bucket(Bucket="bench")
            _boto3(endpoint, source)  # the store makes room for its first bucket
            for _number in range(ROUNDS):
                theirs.append(_time(partial(_boto3, endpoint, source)))
                ours.append(_time(partial(_lastro, source, Path(folder, "records"))))
    return Result(
        measures=(
            median("boto3's own transfer", theirs, "s"),
            median("push", ours, "s"),
            median("push / boto3", [a / b for a, b in zip(ours, theirs, strict=True)], "x", 1.11),
        ),
        notes=(
            f"{MB} MB in parts of 16 MiB, eight at once, to a store on this box; {ROUNDS} rounds.",
            "In a push: each part's MD5, the file's SHA-256, its durable record, and the list beside it.",
        ),
    )


def _found(endpoint: str) -> dict[str, str]:
    """Return the environment in which boto3 finds the store."""
    return {
        "AWS_ENDPOINT_URL": endpoint,
        "AWS_ACCESS_KEY_ID": KEY,
        "AWS_SECRET_ACCESS_KEY": SECRET,
        "AWS_DEFAULT_REGION": "us-east-1",
    }

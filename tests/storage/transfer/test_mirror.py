"""A machine whose disk goes with it: what it published has left it, and another one goes on from there."""

from __future__ import annotations

import errno
import json
import os
import shutil
import signal
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from lastro.clock import SystemClock
from lastro.errors import StoppedByRule, StorageError
from lastro.paths import Home
from lastro.providers.local import Local
from lastro.storage.transfer.ledger import Cap, Ledger, drawing
from lastro.storage.transfer.mirror import REHEARSAL_BYTES, S3Mirror, rehearse
from lastro.storage.transfer.place import Bucket
from lastro.storage.transfer.s3 import S3
from tests.flow.campaigns import SmallCampaign, small_campaign, wait_for
from tests.storage.pack.trees import content, plant
from tests.storage.transfer.stores import client


def free(_count: int) -> None:
    """A budget without a cap."""


def mirror(bucket: str, folder: Path, draw: Callable[[int], None] = free) -> S3Mirror:
    return S3Mirror(Bucket(bucket=bucket, key="m"), S3(), folder / "records", draw)


def test_what_was_sent_comes_back_and_what_is_half_there_does_not(
    store: str, bucket: str, tmp_path: Path
) -> None:
    """A checkpoint whose list never came is one whose sending was interrupted."""
    disk = tmp_path / "disk"
    one = plant(disk / "runs" / "r" / "checkpoints" / "10-a1", count=3)
    half = plant(disk / "runs" / "r" / "checkpoints" / "20-a1", count=3)
    there = mirror(bucket, tmp_path)
    for folder in (one, half):
        there.send_folder(folder, folder.relative_to(disk).as_posix())
    there.send_file(b"journal", "journal/x.jsonl")
    there.send_file(b"disk", ".lastro/disk.json")
    client(store).delete_object(Bucket=bucket, Key="m/runs/r/checkpoints/20-a1/.lastro-files.json")

    mirror(bucket, tmp_path).fetch(tmp_path / "back", ".lastro/disk.json")

    shutil.rmtree(half)
    (disk / "journal").mkdir()
    (disk / "journal" / "x.jsonl").write_bytes(b"journal")
    (disk / ".lastro").mkdir()
    (disk / ".lastro" / "disk.json").write_bytes(b"disk")
    assert content(tmp_path / "back") == content(disk)


def test_what_says_which_disk_it_is_comes_last(bucket: str, tmp_path: Path) -> None:
    there = mirror(bucket, tmp_path)
    there.send_file(b"a", "z/journal")
    there.send_file(b"disk", ".lastro/disk.json")
    (tmp_path / "back" / "z").mkdir(parents=True)
    (tmp_path / "back" / "z" / "journal").mkdir()

    class Cut(S3):
        def get(self, place: Bucket, *given: Any, **more: Any) -> bytes:
            raise StorageError(place.key)

    (tmp_path / "back" / "z" / "journal").rmdir()
    with pytest.raises(StorageError, match="z/journal"):
        S3Mirror(Bucket(bucket=bucket, key="m"), Cut(), tmp_path, free).fetch(
            tmp_path / "back", ".lastro/disk.json"
        )

    assert not (tmp_path / "back" / ".lastro" / "disk.json").exists()


def test_the_rehearsal_measures_and_leaves_nothing(store: str, bucket: str, tmp_path: Path) -> None:
    rate = rehearse(mirror(bucket, tmp_path), tmp_path)

    assert 0 < rate < REHEARSAL_BYTES / 1e-4
    assert client(store).list_objects_v2(Bucket=bucket).get("KeyCount") == 0
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith(".tmp")] == []


def test_a_mirror_never_passes_the_cap_and_goes_on_when_it_is_raised(
    store: str, bucket: str, tmp_path: Path
) -> None:
    """Files of 2 kB and a list of about 1 kB under a cap of 5 kB: the first two go."""
    ledger = Ledger(tmp_path / "moved.json", SystemClock())
    ledger.set_cap(Cap(bytes=5_000))
    folder = tmp_path / "outputs"
    folder.mkdir()
    for number in range(3):
        (folder / f"{number}").write_bytes(os.urandom(2_000))
    there = mirror(bucket, tmp_path, drawing(ledger))

    with pytest.raises(StoppedByRule, match="cap of 5 kB"):
        there.send_folder(folder, "outputs")
    held = client(store).list_objects_v2(Bucket=bucket)["Contents"]
    moved = ledger.read()[0].bytes
    ledger.set_cap(Cap(bytes=50_000))
    there.send_folder(folder, "outputs")
    there.fetch(tmp_path / "back", "none")

    assert sum(one["Size"] for one in held) == moved == 4_000
    assert content(tmp_path / "back" / "outputs") == content(folder)
    assert 16_000 > ledger.read()[0].bytes > 12_000  # sent once, and fetched once


def test_where_the_record_cannot_be_written_a_cap_stops_the_mirror(tmp_path: Path) -> None:
    """As in a jail, where home's files can be read only. Without a cap there is nothing to keep."""
    ledger = Ledger(tmp_path / "moved.json", SystemClock())
    ledger.set_cap(Cap())

    class ReadOnly(Ledger):
        def draw(self, _size: int, _price: object) -> None:
            raise OSError(errno.EROFS, "read-only")

    jailed = drawing(ReadOnly(tmp_path / "moved.json", SystemClock()))
    jailed(10)
    ledger.set_cap(Cap(bytes=100))

    with pytest.raises(StorageError, match="cannot be kept"):
        jailed(10)


@pytest.fixture
def campaign(tmp_path: Path, bucket: str) -> Iterator[SmallCampaign]:
    made = small_campaign(tmp_path)
    made.edit("disk: ./disk", f"disk: {{path: ./disk, mirror: 's3://{bucket}/small'}}")
    made.edit("{steps: 40, pace: 0.02, score: 6}", "{steps: 300, pace: 0.02, score: 6}")
    yield made
    provider = Local(Home(made.home), SystemClock())
    for machine in provider.machines():
        provider.delete(machine.id)


def events(campaign: SmallCampaign, kind: str) -> list[dict[str, Any]]:
    paths = sorted((campaign.disk / "campaigns/small/journal").glob("*.jsonl"))
    lines = [json.loads(line) for path in paths for line in path.read_text().splitlines()]
    return [line for line in lines if line["type"] == kind]


def test_a_machine_whose_disk_is_gone_is_gone_on_from_by_another(
    store: str, bucket: str, campaign: SmallCampaign
) -> None:
    """Home and machine are killed and the disk removed when a checkpoint has left it; then `lastro run`."""
    driver = campaign.start("run", "--only", "control")
    wait_for(lambda: campaign.disk.is_dir() and events(campaign, "checkpoint.mirrored"))
    (opened,) = events(campaign, "mirror.opened")

    def sent() -> bool:
        listed = client(store).list_objects_v2(Bucket=bucket, Prefix="small/.lastro/disk.json")
        return bool(listed.get("KeyCount"))

    wait_for(sent)
    os.killpg(driver.pid, signal.SIGKILL)
    driver.wait()
    provider = Local(Home(campaign.home), SystemClock())
    for machine in provider.machines():
        provider.delete(machine.id)
    mirrored = [event["step"] for event in events(campaign, "checkpoint.mirrored")]
    shutil.rmtree(campaign.disk)

    again = campaign.lastro("run", "--only", "control")

    assert again.returncode == 0, again.stderr + again.stdout
    assert opened["why_not"] is None
    assert opened["bytes_per_second"] > 0
    (resumed,) = events(campaign, "attempt.resumed")
    assert resumed["step"] >= mirrored[0] >= 10
    (total,) = campaign.disk.glob("campaigns/small/runs/*/outputs/total.json")
    assert json.loads(total.read_text()) == {"total": 300 * 301 // 2}


def test_a_mirror_at_the_cap_is_told_once_and_the_run_goes_on(
    store: str, bucket: str, campaign: SmallCampaign
) -> None:
    """10 kB may move: neither the rehearsal of 32 MiB nor the records. The work itself is done."""
    campaign.edit("{steps: 300, pace: 0.02, score: 6}", "{steps: 40, pace: 0.02, score: 6}")
    ledger = Ledger(Home(campaign.home).moved, SystemClock())
    ledger.set_cap(Cap(bytes=10_000))

    ran = campaign.lastro("run", "--only", "control")

    (opened,) = events(campaign, "mirror.opened")
    failed = events(campaign, "mirror.failed")
    held = client(store).list_objects_v2(Bucket=bucket).get("Contents", [])
    assert ran.returncode == 0, ran.stderr + ran.stdout
    assert "cap" in opened["why_not"]
    assert len(failed) == len({event["what"] for event in failed}) <= 3
    assert all("cap of 10 kB" in event["why"] for event in failed) and failed
    assert sum(one["Size"] for one in held) <= ledger.read()[0].bytes <= 10_000

"""Who uses what, and when it is full."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone
from decimal import Decimal
from pathlib import Path

import pytest

from lastro.clock import ManualClock
from lastro.disk.facts import open_disk
from lastro.disk.guard.scan import Candidate
from lastro.disk.room.usage import Sample, full_in, growth, packable_in, part_name, parts_of, usage_of
from lastro.paths import Disk
from lastro.units import Money

NOON = datetime(2026, 11, 30, 12, tzinfo=timezone.utc)


def file(path: str, size: int) -> Candidate:
    return Candidate(
        path=f"/d/{path}", size=size, blocks=-(-size // 4096) * 8, mtime_ns=1, ctime_ns=1, device=1, inode=1
    )


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("cache/huggingface/hub/x", "cache/huggingface"),
        ("campaigns/c/runs/r-1/checkpoints/10-a1/t.safetensors", "campaigns/c/checkpoints"),
        ("campaigns/c/plan.json", "campaigns/c/records"),
        ("campaigns/c/journal/home.jsonl", "campaigns/c/journal"),
        ("data/abc/train.csv", "data"),
        ("loose.txt", "."),
    ],
)
def test_a_file_belongs_to_a_part(path: str, name: str) -> None:
    assert part_name(path) == name


def test_parts_are_priced_by_the_month() -> None:
    """500,000,000 bytes are 122,071 blocks of 4096: 500,002,816 taken, at 0.10 USD a GB 0.0500002816 USD."""
    (part,) = parts_of("/d", [file("data/a/b", 500_000_000)], Money(Decimal("0.10"), "USD"))

    assert (part.name, part.bytes) == ("data", 500_002_816)
    assert part.month == Money(Decimal("0.0500002816"), "USD")
    assert parts_of("/d", [file("data/a/b", 1)], None)[0].month is None


def test_many_small_files_are_worth_a_pack() -> None:
    """1000 files of 100 bytes take 4096 each; packed 100 + 768 each: 3,228,000 less, in one shard."""
    many = [file(f"set/train/{n}", 100) for n in range(1000)]
    few = [file(f"other/{n}", 100) for n in range(999)]
    cached = [file(f"cache/x/{n}", 100) for n in range(2000)]

    (found,) = packable_in("/d", [*many, *few, *cached])

    assert (found.folder, found.files, found.bytes) == ("set/train", 1000, 4_096_000)
    assert (found.saved, found.shards) == (3_228_000, 1)


def test_growth_and_the_day_on_which_the_disk_is_full_by_hand() -> None:
    """10 GB in two days are 5 GB a day; 20 GB are full in four."""
    samples = [Sample(at=NOON, bytes=10**10), Sample(at=NOON + timedelta(days=2), bytes=2 * 10**10)]
    old = Sample(at=NOON - timedelta(days=30), bytes=0)

    assert growth([old, *samples]) == 5e9
    assert full_in(20 * 10**9, 5e9) == timedelta(days=4)
    assert growth(samples[:1]) is None
    assert growth([]) is None
    assert full_in(10**9, None) is None
    assert full_in(10**9, -1.0) is None


def test_a_second_look_knows_the_growth(tmp_path: Path) -> None:
    disk, clock = Disk(tmp_path), ManualClock(NOON)
    open_disk(disk)

    first = usage_of(disk, clock)
    (tmp_path / "data").mkdir()
    (tmp_path / "data/x").write_bytes(b"1" * 8_192_000)
    clock.sleep(86400)
    second = usage_of(disk, clock)

    assert first.bytes_a_day is None
    assert second.bytes_a_day == pytest.approx(8_192_000, rel=0.01)
    assert second.full_in is not None
    assert second.planned is None

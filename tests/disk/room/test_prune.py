"""What goes has a reason, and what nobody else has stays."""

from __future__ import annotations

import os
import tarfile
import time
from pathlib import Path

import pytest

from lastro.clock import SystemClock
from lastro.disk.facts import open_disk
from lastro.disk.room.prune import Action, Sort, Thing, archive, carry_out, choose, things_on
from lastro.errors import StorageError
from lastro.paths import Disk, Home


@pytest.mark.parametrize(
    ("sort", "days", "action"),
    [
        (Sort.LEFTOVER, 0.9, Action.KEEP),
        (Sort.LEFTOVER, 1.0, Action.REMOVE),
        (Sort.PARTIAL, 0.9, Action.KEEP),
        (Sort.PARTIAL, 1.0, Action.REMOVE),
        (Sort.KERNELS, 89.9, Action.KEEP),
        (Sort.KERNELS, 90.0, Action.REMOVE),
        *(
            (sort, 9999.0, Action.KEEP)
            for sort in (Sort.OPEN, Sort.RESCUED, Sort.CORPUS, Sort.CACHE, Sort.OTHER)
        ),
        (Sort.CLOSED, 9999.0, Action.KEEP),
    ],
)
def test_each_thing_stays_or_goes_with_a_reason(sort: Sort, days: float, action: Action) -> None:
    choice = choose(Thing(path="x", sort=sort, bytes=1, days=days))

    assert choice.action is action
    assert choice.why


@pytest.mark.parametrize(
    ("ended", "rescued", "days", "action", "why"),
    [
        (False, False, 9999.0, Action.KEEP, "end nobody has seen"),
        (True, True, 9999.0, Action.KEEP, "rescued"),
        (True, False, 29.9, Action.KEEP, "less than 30 days"),
        (True, False, 30.0, Action.REMOVE, "30 days ago"),
    ],
)
def test_what_a_machine_of_a_cluster_has_left_goes_when_it_has_ended_long_ago_and_nothing_was_rescued(
    ended: bool, rescued: bool, days: float, action: Action, why: str
) -> None:
    thing = Thing(path="x", sort=Sort.MACHINE, bytes=1, days=days, ended=ended, rescued=rescued)

    assert choose(thing).action is action
    assert why in choose(thing).why


def test_a_closed_campaign_is_archived_only_when_that_is_asked_for() -> None:
    thing = Thing(path="campaigns/c", sort=Sort.CLOSED, bytes=1, days=1)

    assert choose(thing, archive_closed=True).action is Action.ARCHIVE
    assert choose(Thing(path="c", sort=Sort.OPEN, bytes=1, days=1), archive_closed=True).action is Action.KEEP


def things(root: Path) -> list[Thing]:
    """Return what lies on a disk, with a home beside it."""
    return things_on(Disk(root), SystemClock(), Home(root / "home"))


def old(path: Path, days: float = 2) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"content of " + os.fsencode(path.name))
    os.utime(path, (time.time() - days * 86400,) * 2)
    return path


def test_a_disk_is_pruned_of_what_can_be_had_again(tmp_path: Path) -> None:
    disk = Disk(tmp_path)
    open_disk(disk)
    gone = [
        old(tmp_path / "data/.tmp-12-x/part"),
        old(tmp_path / "cache/huggingface/hub/models--a/blobs/abc.incomplete"),
        old(disk.compiled("old card"), 100),
        *(old(disk.allotted("slurm-old").root / name, 40) for name in ("end.json", "machine.log")),
        old(disk.allotted("slurm-died").log, 40),
    ]
    old(Home(tmp_path / "home").slurm_machine("slurm-died").end)  # seen by home, as its node had died
    stays = [
        old(disk.allotted("slurm-waits").script, 40),
        old(disk.allotted("slurm-new").end, 2),
        old(tmp_path / "data/abc/train.csv", 500),
        old(tmp_path / "rescued/m/root/a.pt", 500),
        old(tmp_path / "mine/notes.txt", 500),
        old(tmp_path / "campaigns/open/runs/r/outputs/a", 500),
        old(tmp_path / "cache/torch/x.pth", 500),
        tmp_path / "data/.tmp-13-y",
    ]
    stays[-1].write_bytes(b"being written")

    choices = [choose(thing) for thing in things(tmp_path)]
    assert not carry_out(choices, disk)

    assert [path for path in gone if path.exists()] == []
    assert [path for path in stays if not path.exists()] == []


def test_an_archive_holds_every_byte_before_the_folder_goes(tmp_path: Path) -> None:
    disk = Disk(tmp_path)
    open_disk(disk)
    campaign = disk.campaign("c")
    old(campaign.root / "close/manifest.json")
    output = old(campaign.root / "runs/r/outputs/line\nbreak.csv")
    output.with_name("link").symlink_to(output.name)
    content = output.read_bytes()

    choices = [choose(thing, archive_closed=True) for thing in things(tmp_path)]
    assert not carry_out(choices, disk)

    assert not campaign.root.exists()
    with tarfile.open(disk.archive("c")) as tar:
        source = tar.extractfile("c/runs/r/outputs/line\nbreak.csv")
        assert source is not None
        assert source.read() == content
        assert tar.getmember("c/runs/r/outputs/link").issym()
    old(campaign.root / "close/manifest.json")
    with pytest.raises(StorageError, match="there already"):
        archive(campaign.root, disk.archive("c"))


def test_what_cannot_be_archived_stays_and_is_told(tmp_path: Path) -> None:
    disk = Disk(tmp_path)
    open_disk(disk)
    old(disk.campaign("c").root / "close/manifest.json")
    disk.archive("c").parent.mkdir()
    disk.archive("c").write_bytes(b"another archive")

    problems = carry_out(
        [choose(each, archive_closed=True) for each in things(tmp_path)],
        disk,
    )

    assert len(problems) == 1
    assert disk.campaign("c").close_manifest.exists()
    assert disk.archive("c").read_bytes() == b"another archive"

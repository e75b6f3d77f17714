"""`lastro disk prove` on real folders and mounts."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from lastro.clock import ManualClock
from lastro.disk.facts import open_disk, read_disk
from lastro.disk.probes import probe_disk
from lastro.disk.prove import Who, prove
from lastro.disk.reads import Reads, percentile
from lastro.disk.verdict import State, Wrong
from lastro.errors import UsageError
from lastro.paths import Disk, Home

ONE, OTHER = Who(node="n1", instance="i-1"), Who(node="n2", instance="i-2")


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path / "home")


def rehearsed(who: Who, tmp_path: Path) -> Who:
    """Return a machine whose own storage is elsewhere, as the local provider's are."""
    return Who(node=who.node, instance=who.instance, own=tmp_path / f"scratch-{who.node}")


def test_the_second_machine_proves_what_the_first_has_marked(tmp_path: Path, home: Home) -> None:
    disk = tmp_path / "disk"
    disk.mkdir()
    clock = ManualClock()

    first = prove(disk, home, clock, rehearsed(ONE, tmp_path), declared="me", probing=False)
    again = prove(disk, home, clock, rehearsed(ONE, tmp_path), probing=False)
    second = prove(disk, home, clock, rehearsed(OTHER, tmp_path), probing=False)

    states = [each.verdict.state for each in (first, again, second)]
    assert states == [State.DECLARED, State.DECLARED, State.PROVEN]
    assert [each.exit_code for each in (first, second)] == [0, 0]
    assert read_disk(Disk(disk)).nodes == ("n1", "n2")


def test_nobodys_word_and_one_machine_are_unknown(tmp_path: Path, home: Home) -> None:
    found = prove(tmp_path, home, ManualClock(), ONE, probing=False)

    assert found.verdict.state is State.UNKNOWN
    assert found.exit_code == 11


def test_a_disk_of_an_earlier_version_is_still_read(tmp_path: Path) -> None:
    disk = Disk(tmp_path)
    disk.facts.parent.mkdir()
    disk.facts.write_text('{"uuid": "u", "nodes": ["a", "b"]}')

    assert read_disk(disk).nodes == ("a", "b")
    assert not read_disk(disk).sightings[0].is_another_machine(read_disk(disk).sightings[1])


def test_an_emptied_or_swapped_disk_is_told_and_left_as_it_is(tmp_path: Path, home: Home) -> None:
    disk, aside = tmp_path / "disk", tmp_path / "aside"
    disk.mkdir()
    prove(disk, home, ManualClock(), ONE, probing=False)
    disk.rename(aside)
    disk.mkdir()

    emptied = prove(disk, home, ManualClock(), ONE)
    open_disk(Disk(disk))
    mark = Disk(disk).facts.read_bytes()
    swapped = prove(disk, home, ManualClock(), ONE)

    assert [each.kind for each in emptied.verdict.troubles] == [Wrong.EMPTY]
    assert [each.kind for each in swapped.verdict.troubles] == [Wrong.SWAPPED]
    assert (emptied.exit_code, emptied.probes) == (8, ())
    assert Disk(disk).facts.read_bytes() == mark
    meant = prove(disk, home, ManualClock(), ONE, expect_uuid=read_disk(Disk(disk)).uuid, probing=False)
    assert not meant.verdict.troubles


@pytest.mark.parametrize("kind", ["file", "nothing"])
def test_what_is_no_folder_is_a_wrong_use(tmp_path: Path, home: Home, kind: str) -> None:
    path = tmp_path / "disk"
    if kind == "file":
        path.write_text("")

    with pytest.raises(UsageError, match="is a file" if kind == "file" else "is not there"):
        prove(path, home, ManualClock(), ONE)


def test_every_probe_works_on_this_file_system_and_leaves_nothing(tmp_path: Path) -> None:
    found = {probe.name: probe for probe in probe_disk(tmp_path, planned=10**6)}

    assert not [name for name, probe in found.items() if probe.ok is False and name != "fsync"]
    assert found["lock"].figures == {"flock": "refused", "fcntl": "refused"}
    assert found["reads of 4 KB"].figures["p99_seconds"] is not None
    assert found["reads of 1 MB"].figures["p99_seconds"] is None
    assert "too few" in found["reads of 1 MB"].value
    assert not list(tmp_path.iterdir())


def test_percentiles_by_hand() -> None:
    """Of 1..200 the median is 100 and the 99th percentile 198; of 99 samples there is none."""
    many = Reads(size=4096, seconds=tuple(map(float, range(1, 201))), past_cache="")
    few = Reads(size=4096, seconds=tuple(map(float, range(1, 100))), past_cache="")

    assert (many.p50, many.p99, few.p50, few.p99) == (100.0, 198.0, 50.0, None)
    assert percentile((), 50) is None


# --- real mounts: needs root ---------------------------------------------------------------------------


def may_mount() -> bool:
    if os.geteuid() != 0 or shutil.which("unshare") is None:
        return False
    asked = subprocess.run(["unshare", "-m", "true"], check=False, capture_output=True)
    return asked.returncode == 0


@pytest.fixture
def mounted(tmp_path: Path) -> Iterator[Path]:
    """A tmpfs of 8 MB; it is unmounted again."""
    if not may_mount():
        pytest.skip("mounting needs root")
    point = tmp_path / "mnt"
    point.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=8m", "tmpfs", point], check=True)
    try:
        yield point
    finally:
        subprocess.run(["umount", point], check=False, capture_output=True)


def test_a_tmpfs_is_never_more_than_unknown_and_has_no_room_for_a_plan(mounted: Path, home: Home) -> None:
    found = prove(mounted, home, ManualClock(), ONE, declared="me", planned=10**9)

    assert found.verdict.state is State.UNKNOWN
    room = next(probe for probe in found.probes if probe.name == "room for the plan")
    assert room.ok is False


def test_a_disk_that_is_not_mounted_any_more_is_told_before_anything_lands_below_it(
    mounted: Path, home: Home
) -> None:
    prove(mounted, home, ManualClock(), ONE, probing=False)
    subprocess.run(["umount", mounted], check=True)

    found = prove(mounted, home, ManualClock(), ONE)

    assert [each.kind for each in found.verdict.troubles] == [Wrong.UNMOUNTED]
    assert not list(mounted.iterdir())


def test_a_folder_of_the_root_that_is_bound_elsewhere_is_not_apart_from_it(
    tmp_path: Path, home: Home
) -> None:
    if not may_mount():
        pytest.skip("mounting needs root")
    source, point = tmp_path / "source", tmp_path / "point"
    source.mkdir()
    point.mkdir()
    subprocess.run(["mount", "--bind", source, point], check=True)
    try:
        found = prove(point, home, ManualClock(), ONE, probing=False)
    finally:
        subprocess.run(["umount", point], check=True)

    assert found.me.on_root == (tmp_path.stat().st_dev == Path("/").stat().st_dev)
    assert found.verdict.state is State.UNKNOWN

"""Disks of the local provider have the limits of rented ones, and are deleted only when nothing is lost."""

from __future__ import annotations

import subprocess
from dataclasses import replace
from decimal import Decimal
from pathlib import Path

import pytest

from lastro.clock import ManualClock, SystemClock
from lastro.disk.facts import read_disk
from lastro.errors import GuardRefused, ProviderError, UsageError
from lastro.flow import disks as flow
from lastro.paths import Disk, Home
from lastro.providers.base import MachineRequest
from lastro.providers.disks import DiskRequest
from lastro.providers.local import Local
from lastro.providers.local_disks import LocalDisks
from lastro.units import Money
from tests.disk.guard import planting

MODELS = DiskRequest(name="models", bytes=200 * 10**9, zone="eu-1", price=Money(Decimal("0.07"), "USD"))


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path / "home")


@pytest.fixture
def disks(home: Home) -> LocalDisks:
    return LocalDisks(home, ManualClock())


def test_a_disk_is_made_once_declared_and_priced_by_the_month(disks: LocalDisks) -> None:
    """200 GB at 0.07 USD are 14 USD a month."""
    made = disks.create(MODELS)

    assert disks.create(MODELS) == made
    assert made.month == Money(Decimal("14.00"), "USD")
    assert read_disk(Disk(made.path)).declared == "the provider local"
    with pytest.raises(UsageError, match="already"):
        disks.create(replace(MODELS, bytes=300 * 10**9))
    assert replace(made, request=replace(MODELS, price=None)).month is None


@pytest.mark.parametrize(
    "request_",
    [replace(MODELS, bytes=10**9), replace(MODELS, bytes=11 * 10**12), replace(MODELS, name="../x")],
)
def test_what_is_not_to_be_had_is_refused_and_nothing_is_made(
    disks: LocalDisks, home: Home, request_: DiskRequest
) -> None:
    with pytest.raises(UsageError):
        disks.create(request_)
    assert not home.local_disks.exists()


def test_no_more_hold_a_disk_than_may_and_it_is_shown_where_nothing_is(
    disks: LocalDisks, tmp_path: Path
) -> None:
    disks.create(MODELS)
    (tmp_path / "full").mkdir()

    with pytest.raises(UsageError, match="is there already"):
        disks.attach("models", "box", tmp_path / "full")
    attached = disks.attach("models", "box", tmp_path / "mnt")
    again = disks.attach("models", "box", tmp_path / "mnt")
    with pytest.raises(ProviderError, match="1 may hold it"):
        disks.attach("models", "box2", tmp_path / "mnt2")

    assert again == attached
    assert (tmp_path / "mnt").resolve() == attached.path.resolve()
    disks.detach("models")
    assert not (tmp_path / "mnt").is_symlink()
    assert disks.attach("models", "box2", tmp_path / "mnt2").attachments[0].machine == "box2"


def test_a_machine_is_not_made_for_a_disk_that_is_held(home: Home, tmp_path: Path) -> None:
    clock = SystemClock()
    disk = LocalDisks(home, clock).create(MODELS)
    LocalDisks(home, clock).attach("models", "box", tmp_path / "mnt")
    local = Local(home, clock)
    request = MachineRequest(tag="one", campaign="c", disk=tmp_path / "mnt", lease=None)
    machine = local.create(request)
    try:
        with pytest.raises(ProviderError, match="may hold it at once"):
            local.create(replace(request, tag="two"))
        assert local.create(request).id == machine.id
        with pytest.raises(ProviderError, match="uses disk models"):
            LocalDisks(home, clock).detach("models")
    finally:
        local.delete(machine.id)
    LocalDisks(home, clock).detach("models")
    assert disk.path.is_dir()


def test_the_only_copy_of_something_is_not_deleted_without_a_reason(disks: LocalDisks, home: Home) -> None:
    clock = ManualClock()
    first = disks.create(MODELS)
    second = disks.create(replace(MODELS, name="backup"))
    data = planting.safetensors()
    planting.put(first.path / "kept/a.safetensors", data)
    only = planting.put(first.path / "kept/b.safetensors", planting.safetensors())
    planting.put(second.path / "copy", data)

    with pytest.raises(GuardRefused, match=r"b\.safetensors") as refused:
        flow.delete("local", "models", None, home, clock)
    assert "1 files" in refused.value.message
    assert first.path.is_dir()

    lost = flow.delete("local", "models", "it was a test", home, clock)
    assert [item.path for item in lost] == [only]
    assert not first.path.exists()


def test_idle_disks_are_named_with_what_they_cost_each_currency_for_itself(
    disks: LocalDisks, home: Home, tmp_path: Path
) -> None:
    """14 USD; 50 GB at 0.40 BRL are 20 BRL; one held and one of unknown price."""
    disks.create(MODELS)
    disks.create(DiskRequest(name="brl", bytes=50 * 10**9, price=Money(Decimal("0.40"), "BRL")))
    disks.create(DiskRequest(name="free", bytes=50 * 10**9))
    disks.create(replace(MODELS, name="held"))
    disks.attach("held", "box", tmp_path / "mnt")

    rows = flow.list_disks("local", home, ManualClock())

    sums, unknown = flow.idle_cost(rows)
    assert sums == (Money(Decimal("20.00"), "BRL"), Money(Decimal("14.00"), "USD"))
    assert unknown == 1


def test_nothing_in_lastro_makes_a_file_system() -> None:
    """Not by a program of that name, and not by a device that is opened for writing."""
    found = subprocess.run(
        ["grep", "-rnE", r"mkfs|mke2fs|wipefs|sgdisk|parted|mkswap|blkdiscard|dd of=", "src/lastro"],
        cwd=Path(__file__).parents[2],
        capture_output=True,
        text=True,
        check=False,
    )

    assert found.stdout == ""

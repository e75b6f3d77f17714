"""How long a machine on which everything has ended waits for home."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from lastro.clock import ManualClock
from lastro.journal.signals import Heartbeat
from lastro.paths import CampaignFolder, ShellFolder
from lastro.procs.identity import identity_of
from lastro.run.seat import take_seat
from lastro.run.vigil import Watch, keep_vigil


class Home(ManualClock):
    """A clock by which home gives a sign at each look, for as long as it lives."""

    def __init__(self, campaign: CampaignFolder, lives: float) -> None:
        super().__init__()
        self._campaign, self._lives = campaign, lives

    def sleep(self, seconds: float) -> None:
        super().sleep(seconds)
        if self.monotonic() <= self._lives:
            self._campaign.home_beat.touch()
            os.utime(self._campaign.home_beat, ns=(0, int(self.monotonic() * 1e9)))


@pytest.fixture
def release(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("LASTRO_RELEASE", str(tmp_path / "release.json"))
    return tmp_path / "release.json"


def _campaign(tmp_path: Path) -> CampaignFolder:
    campaign = CampaignFolder(tmp_path / "disk/campaigns/c")
    campaign.runs.mkdir(parents=True)
    return campaign


@pytest.mark.parametrize(("lives", "leaves"), [(0.0, 100.0), (1000.0, 1100.0)])
def test_it_waits_so_long_after_the_last_sign_of_home(
    tmp_path: Path, release: Path, lives: float, leaves: float
) -> None:
    campaign = _campaign(tmp_path)
    clock = Home(campaign, lives)

    keep_vigil(Watch(campaign, "m-1", 100.0), clock)

    assert "home is silent" in json.loads(release.read_text())["why"]
    assert leaves - 15.0 <= clock.monotonic() <= leaves + 15.0


@pytest.mark.parametrize(("machine", "goes"), [("m-1", False), ("m-2", True)])
def test_a_machine_that_works_again_stays(tmp_path: Path, release: Path, machine: str, goes: bool) -> None:
    campaign = _campaign(tmp_path)
    me = identity_of(os.getpid())
    assert me is not None
    take_seat(campaign.run("r1"), me, machine)

    keep_vigil(Watch(campaign, "m-1", 100.0), Home(campaign, 0.0))

    assert release.exists() is goes


class Somebody(ManualClock):
    """A clock by which an open shell gives a sign at each look, for as long as it is open."""

    def __init__(self, folder: ShellFolder, lives: float) -> None:
        super().__init__()
        self._sign, self._lives = Heartbeat(folder.sign), lives

    def sleep(self, seconds: float) -> None:
        super().sleep(seconds)
        if self.monotonic() <= self._lives:
            self._sign.beat(1)


def test_a_machine_on_which_somebody_has_a_shell_stays_until_that_is_silent(
    tmp_path: Path, release: Path
) -> None:
    """Open for 1000 s, silent for 50 s more; home was silent all the time."""
    campaign = _campaign(tmp_path)
    folder = campaign.shell("t")
    folder.root.mkdir(parents=True)
    folder.order.write_text('{"machine": "m-1", "silence_seconds": 50.0}')
    clock = Somebody(folder, 1000.0)

    keep_vigil(Watch(campaign, "m-1", 100.0), clock)

    assert release.exists()
    assert 1050.0 <= clock.monotonic() <= 1080.0


def test_on_a_disk_that_is_away_home_is_not_heard(tmp_path: Path, release: Path) -> None:
    keep_vigil(Watch(CampaignFolder(tmp_path / "nowhere"), "m-1", 100.0), ManualClock())

    assert release.exists()

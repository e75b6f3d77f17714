"""`lastro logs -f` of a machine that is reached by ssh, with a home that lives and without one."""

from __future__ import annotations

import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.flow.campaigns import wait_for
from tests.flow.test_ssh import FarCampaign, far_campaign
from tests.providers.ssh.sshd import Rented, rented


@pytest.fixture(scope="module")
def machine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Rented]:
    with rented(tmp_path_factory.mktemp("rented") / "machine") as found:
        yield found


@pytest.fixture
def campaign(tmp_path: Path, machine: Rented) -> Iterator[FarCampaign]:
    made = far_campaign(tmp_path, machine)
    made.edit("pace: 0.02", "pace: 0.3")
    try:
        yield made
    finally:
        made.lastro("stop", "--release", timeout=60)
        made.disk.rename(tmp_path / "its-disk")


def follow(campaign: FarCampaign, shown: Path) -> subprocess.Popen[bytes]:
    """Follow by an address of ssh's configuration that the command alone is given."""
    assert campaign.machine is not None
    words = ["logs", "-f", "control", "--ssh-config", str(campaign.machine.config)]
    bare = {name: value for name, value in campaign.environment.items() if name != "LASTRO_SSH_CONFIG"}
    with shown.open("wb") as out:
        return subprocess.Popen(
            [sys.executable, "-m", "lastro.cli", *words],
            cwd=campaign.folder,
            env=bare,
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )


def steps(shown: Path) -> list[int]:
    return [int(step) for step in re.findall(r"^step (\d+)$", shown.read_text(), re.MULTILINE)]


def test_what_is_printed_is_followed_to_the_end_although_home_is_off_and_the_cable_is_cut(
    campaign: FarCampaign,
) -> None:
    """40 steps: each is shown once, in order, over the machine's silence in the middle of them."""
    assert campaign.machine is not None
    first, shown = (campaign.folder.parent / name for name in ("first", "shown"))
    home = campaign.start("run")
    wait_for(lambda: campaign.there.root.exists() and campaign.step() > 3)

    # While home lives, it brings here what is followed; Ctrl-C ends the looking on and nothing else.
    onlooker = follow(campaign, first)
    wait_for(lambda: len(steps(first)) > 3)
    onlooker.send_signal(signal.SIGINT)
    assert (onlooker.wait(30), home.poll()) == (130, None)
    home.kill()
    home.wait()
    before = {path: path.read_bytes() for path in campaign.there.journal.glob("home-*.jsonl")}

    follower = follow(campaign, shown)
    wait_for(lambda: len(steps(shown)) > 5)
    campaign.machine.down()
    wait_for(lambda: "what runs there goes on, and it is asked again" in shown.read_text())
    campaign.machine.up()

    assert follower.wait(90) == 0, shown.read_text()
    assert steps(shown) == list(range(1, 41))
    assert "answers again" in shown.read_text()
    # It only looked: what home had written there is as it was.
    assert {path: path.read_bytes() for path in campaign.there.journal.glob("home-*.jsonl")} == before

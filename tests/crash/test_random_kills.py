"""One campaign, and kill -9 again and again of whatever a draw names, at whatever moment it comes."""

from __future__ import annotations

import contextlib
import os
import random
import signal
import subprocess
import time
from pathlib import Path

import pytest

from lastro.journal.signals import read_beat
from tests.crash.test_crash_points import assert_whole
from tests.flow.campaigns import SmallCampaign, small_campaign

#: By a word of the command line that only this victim has.
VICTIMS = {
    "home": "lastro.cli",
    "supervisor": "lastro.run",
    "shim": "shim.py",
    "job": "job.py",
    "machine": "lastro.providers.local_machine",
}
STEPS = 1000


def _pids(campaign: SmallCampaign, word: str) -> list[int]:
    """Return the processes of this campaign whose command line holds `word`."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            with contextlib.suppress(OSError):
                command = entry.joinpath("cmdline").read_bytes().split(b"\0")
                environment = entry.joinpath("environ").read_bytes()
                mine = str(campaign.home).encode() in environment
                names = [Path(os.fsdecode(part)).name for part in command]
                if mine and word in names and not (word == "job.py" and "shim.py" in names):
                    found.append(int(entry.name))
    return found


def _steps(campaign: SmallCampaign) -> int:
    """Return how many steps all runs have done, by their newest heartbeats."""
    done = 0
    for run in campaign.disk.glob("campaigns/small/runs/*"):
        beats = [read_beat(path) for path in run.glob("attempts/*/heartbeat")]
        done += max((beat.step for beat in beats if beat is not None), default=0)
    return done


def _kill_again_and_again(campaign: SmallCampaign, kills: int, draw: random.Random) -> dict[str, int]:
    """Kill while the campaign goes on, starting home again when it is gone; return what was killed."""
    killed = dict.fromkeys(VICTIMS, 0)
    home = campaign.start("run", "--no-close")
    last = 0
    deadline = time.monotonic() + 20 * kills
    while sum(killed.values()) < kills:
        assert time.monotonic() < deadline, f"no progress any more: {killed}, step {last}"
        if home.poll() is not None:
            if home.returncode == 0:
                break  # every run has ended
            home = campaign.start("run", "--no-close")
        # Two kills without a checkpoint between them would rightly end a run.
        if _steps(campaign) >= last + 12:
            time.sleep(draw.uniform(0.0, 0.3))
            name = draw.choice(list(VICTIMS))
            for pid in _pids(campaign, VICTIMS[name])[:1]:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
                    killed[name] += 1
            last = _steps(campaign)
        time.sleep(0.05)
    with contextlib.suppress(subprocess.TimeoutExpired):
        home.wait(0)
    home.kill()
    home.wait()
    return killed


def _storm(tmp_path: Path, kills: int, seed: int) -> None:
    campaign = small_campaign(tmp_path)
    campaign.edit("steps: 40, pace: 0.02", f"steps: {STEPS}, pace: 0.01")

    killed = _kill_again_and_again(campaign, kills, random.Random(seed))

    assert sum(killed.values()) == kills, f"the runs ended too early for it: {killed}"
    assert_whole(campaign, STEPS * (STEPS + 1) // 2, f"seed {seed}, killed {killed}")


@pytest.mark.timeout(600)
def test_thirty_random_kills_change_nothing_but_time(tmp_path: Path) -> None:
    _storm(tmp_path, 30, seed=20261130)


@pytest.mark.long
@pytest.mark.timeout(6 * 3600)
def test_a_thousand_random_kills_change_nothing_but_time(tmp_path: Path) -> None:
    for seed in range(34):
        place = tmp_path / str(seed)
        place.mkdir()
        _storm(place, 30, seed)

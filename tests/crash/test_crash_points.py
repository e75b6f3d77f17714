"""Home and the supervisor are ended at each of their durable calls in turn; the next `lastro run` mends it.

What must hold after every one of them: the campaign ends with the right answer, every run's state is what
an undisturbed run has, no attempt lived twice at once, no machine is left, and every stream verifies.
"""

from __future__ import annotations

import itertools
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from lastro.procs.killtree import members
from tests.flow.campaigns import SmallCampaign, small_campaign

SUM_TO_12 = 12 * 13 // 2
HERE = Path(__file__).parent

#: A campaign has about this many durable calls in each process; each is tried in `make test-long`.
POINTS = {"lastro.cli": range(1, 400), "lastro.run": range(1, 120)}
#: Tried in every test run: calls below a function of each phase.
SAMPLE = {
    "lastro.cli": (
        "own:4",
        "make_record:6",
        "_write_order:4",
        "delete:6",
        "close:14",
        "write_lock:2",
    ),
    "lastro.run": ("take_seat:3", "claim_attempt:4", "_checkpoint:1"),
}


def _campaign(tmp_path: Path) -> SmallCampaign:
    campaign = small_campaign(tmp_path)
    campaign.edit("steps: 40, pace: 0.02", "steps: 12, pace: 0.01")
    campaign.edit("every: 10 steps", "every: 4 steps")
    return campaign


def _crash(campaign: SmallCampaign, tmp_path: Path, process: str, at: int | str) -> bool:
    """Run the campaign with one crash; say whether it happened."""
    mark = tmp_path / "crashed"
    subprocess.run(
        [sys.executable, "-m", "lastro.cli", "run"],
        cwd=campaign.folder,
        env={
            **campaign.environment,
            "PYTHONPATH": os.pathsep.join([str(HERE), *filter(None, [os.environ.get("PYTHONPATH")])]),
            "CRASH_PROCESS": process,
            "CRASH_AT": str(at),
            "CRASH_MARK": str(mark),
            "CRASH_COUNT": str(tmp_path / "calls"),
        },
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        timeout=120,
        check=False,
    )
    return mark.exists()


def assert_whole(campaign: SmallCampaign, total: int, what: str) -> None:
    """Run the campaign to its end and compare it with an undisturbed one; `what` was done to it."""
    done = campaign.lastro("run", "--json", timeout=240)
    assert done.returncode == 0, what + done.stdout + done.stderr
    result = json.loads(done.stdout)
    assert result["decision"]["verdict"] == "adopt", what
    assert campaign.totals() == {"control": total, "better": total}, what
    for run in result["runs"]:
        lives = run["attempts"]
        # A number may be missing: it was claimed by a supervisor that was ended before it began anything.
        assert all(
            before["number"] < after["number"] and before["ended_at"] <= after["started_at"]
            for before, after in itertools.pairwise(lives)
        )
    machines = result["machines"]
    assert all(machine["state"] == "gone" for machine in machines)
    for folder in (campaign.home / "local" / "machines").iterdir():
        assert not members(("LASTRO_MACHINE", folder.name)).all
        assert folder.name in {machine["id"] for machine in machines}, (
            "a machine that nobody pays attention to"
        )
    verified = campaign.lastro("journal", "verify")
    assert verified.returncode == 0, what + verified.stdout + verified.stderr


@pytest.mark.parametrize(
    ("process", "at"), [(process, at) for process, points in SAMPLE.items() for at in points]
)
def test_a_crash_at_a_durable_call_is_mended_by_the_next_run(tmp_path: Path, process: str, at: str) -> None:
    campaign = _campaign(tmp_path)

    assert _crash(campaign, tmp_path, process, at), f"no such call: {at}"

    assert_whole(campaign, SUM_TO_12, f"{process} ended at call {at}")


@pytest.mark.long
@pytest.mark.timeout(4 * 3600)
@pytest.mark.parametrize("process", sorted(POINTS))
def test_a_crash_at_every_durable_call_is_mended(tmp_path: Path, process: str) -> None:
    tried = 0
    for at in POINTS[process]:
        place = tmp_path / str(at)
        place.mkdir()
        campaign = _campaign(place)
        if not _crash(campaign, place, process, at):
            break
        assert_whole(campaign, SUM_TO_12, f"{process} ended at call {at}")
        tried += 1

    assert tried >= 20

"""A machine is held to the lock before the first attempt on it, and risks are taken by name."""

from __future__ import annotations

import json
from pathlib import Path

from lastro.preflight.lock import Lock, read_lock, write_lock
from tests.flow.campaigns import SmallCampaign


def drift(folder: Path) -> None:
    """Make the lock that of a machine with another Python."""
    lock = read_lock(folder, "small").lock
    assert lock is not None
    answer = lock.answers["cpu"]
    other = type(answer)(at=answer.at, node_id="0" * 12, facts={**answer.facts, "python": "3.9.1"})
    write_lock(folder, Lock(campaign="small", answers={"cpu": other}))


def test_a_run_locks_its_machine_and_refuses_another_unless_the_risk_is_taken(
    campaign: SmallCampaign,
) -> None:
    first = campaign.lastro("run", "--only", "control")
    assert first.returncode == 0, first.stderr
    lock = read_lock(campaign.folder, "small")
    on_disk = campaign.disk / "campaigns" / "small" / "lastro.lock"
    assert on_disk.read_bytes() == lock.path.read_bytes()

    drift(campaign.folder)
    refused = campaign.lastro("run", "--only", "better")
    without = campaign.lastro("run", "--only", "better", "--accept-risk", "lock.python")
    taken = campaign.json(
        "run", "--only", "better", "--accept-risk", "lock.python", "--why", "tried for a day"
    )

    assert (refused.returncode, without.returncode) == (4, 2)
    assert "locked python" in refused.stderr and "--accept-risk" in refused.stderr
    used = [machine["preflight"] for machine in taken["machines"] if machine["preflight"] is not None]
    assert any("tried for a day" in told and "lock.python" in told for told in used)
    anew = campaign.lastro("preflight", "campaign.yaml", "--relock", "--why", "this Python from now on")
    assert anew.returncode == 0, anew.stdout
    (stream,) = (campaign.disk / "campaigns" / "small" / "journal").glob("home-*.jsonl")
    events = [json.loads(line) for line in stream.read_text().splitlines()]
    locks = [event for event in events if event["type"] == "lock.written"]
    assert [lock["why"] for lock in locks] == [None, None, "this Python from now on"]
    assert locks[2]["replaces"] == locks[1]["digest"] != locks[0]["digest"]

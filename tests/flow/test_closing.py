"""Closing by hand, whatever is still rented."""

from __future__ import annotations

import os
import signal

from lastro.journal.signals import read_beat
from lastro.procs.killtree import members
from tests.flow.campaigns import SmallCampaign, wait_for


def test_a_closed_campaign_is_not_judged_again(campaign: SmallCampaign) -> None:
    campaign.lastro("run")
    first = campaign.json("status")
    (output,) = campaign.disk.glob(f"campaigns/small/runs/{first['decision']['run']}/outputs/predictions.csv")
    output.write_text("id,prediction\n")

    again = campaign.lastro("close")
    result = campaign.json("close")

    assert again.returncode == result["exit_code"] == 0
    assert "this campaign is closed; here is its result" in again.stdout
    assert f"\nreport: {first['report']}\n" in again.stdout, "a path stays in one line"
    assert result["decision"] == first["decision"]
    assert result["root_digest"] == first["root_digest"]
    assert result["closed_at"] == first["closed_at"]


def test_closing_by_hand_lets_the_machines_go(campaign: SmallCampaign) -> None:
    campaign.edit("steps: 40", "steps: 200")
    driver = campaign.start("run")
    beats = campaign.disk.glob
    wait_for(lambda: any(map(read_beat, beats("campaigns/small/runs/*/attempts/1/heartbeat"))))
    os.killpg(driver.pid, signal.SIGKILL)
    driver.wait()
    campaign.lastro("stop")

    result = campaign.json("close")

    assert result["decision"]["verdict"] == "undecided"
    assert [machine["state"] for machine in result["machines"]] == ["gone"]
    assert not members(("LASTRO_MACHINE", result["machines"][0]["id"])).all

"""What a drill has shown of the code stands in the plan, and in the journal from the next run on."""

from __future__ import annotations

import json
from pathlib import Path

from lastro import strictjson
from tests.flow.campaigns import SmallCampaign, small_campaign

DRILLED = {
    "run": "control",
    "drilled_at": "2026-11-30T08:00:00.000000Z",
    "verdict": "exact",
    "why": "every update is the same, bit for bit",
    "updates": 40,
    "different_from": None,
    "cause": None,
    "result": {},
}


def keep(campaign: SmallCampaign, name: str, **changes: object) -> None:
    made = json.loads(campaign.lastro("plan", "--json").stdout)["plan"]
    facts = {"campaign": made["campaign"], "code_digest": made["code_digest"], **DRILLED, **changes}
    path = campaign.home / "drill" / f"{name}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(strictjson.pretty(facts))


def test_a_drill_of_this_code_stands_in_the_plan_and_is_recorded_once(tmp_path: Path) -> None:
    campaign = small_campaign(tmp_path)
    assert "No drill of this code is known" in campaign.lastro("plan").stdout
    keep(campaign, "control")
    keep(campaign, "other", code_digest="of other code")
    (campaign.home / "drill" / "damaged.json").write_text("{")

    shown = " ".join(campaign.lastro("plan").stdout.split())
    first = json.loads(campaign.lastro("run", "--json").stdout)
    again = json.loads(campaign.lastro("run", "--json").stdout)

    assert "Drill of control: exact, every update is the same, bit for bit" in shown
    assert [(drill["verdict"], drill["current"]) for drill in first["plan"]["drills"]] == [("exact", True)]
    assert again["plan"]["drills"] == first["plan"]["drills"]

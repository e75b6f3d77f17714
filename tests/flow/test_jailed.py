"""A campaign on jailed machines: home knows no process of theirs, and the notice comes from the network."""

from __future__ import annotations

import json

import pytest

from lastro.providers import jail
from tests.flow.campaigns import SmallCampaign

SUM_TO_40 = 40 * 41 // 2


@pytest.mark.skipif(jail.why_not() is not None, reason=str(jail.why_not()))
def test_a_campaign_runs_through_a_notice_and_a_loss_on_jailed_machines(
    campaign: SmallCampaign, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(jail.LEVEL, jail.JAILED)
    campaign.edit("pace: 0.02", "pace: 0.2")
    (campaign.folder / "faults.yaml").write_text(
        "faults:\n  - {run: control, step: 14}\n  - {run: better, step: 15, notice: 8s}\n"
    )

    done = campaign.lastro("run", "--faults", "faults.yaml", "--json")

    assert done.returncode == 0, done.stderr
    result = json.loads(done.stdout)
    control, better = result["runs"]
    assert [life["end"] for life in control["attempts"]] == ["lost", "done"]
    assert [life["end"] for life in better["attempts"]] == ["notice", "done"]
    assert better["attempts"][0]["lost_steps"] == 0
    assert "aws: terminate" in better["attempts"][0]["why"]
    assert {machine["level"] for machine in result["machines"]} == {"jailed"}
    assert campaign.totals() == {"control": SUM_TO_40, "better": SUM_TO_40}

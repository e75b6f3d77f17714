"""Three runs on two machines at once: one machine dies, one run is slow, and nobody waits for either."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.flow.campaigns import SmallCampaign, wait_for

SUM_TO_40 = 40 * 41 // 2


def _three_on_two(campaign: SmallCampaign) -> Path:
    """Write it; return the file that the control waits for at its twentieth step."""
    go_on = campaign.home.parent / "go on"
    campaign.edit("disk: ./disk", "disk: ./disk\nmachines: 2")
    better = "  better: {changes: {score: 8}, priority: required}\n"
    campaign.edit(better, better + "  third: {changes: {score: 7}, priority: required}\n")
    job = campaign.folder / "job.py"
    waits = f"while (step, score) == (20, '6') and not os.path.exists({str(go_on)!r}): time.sleep(0.05)"
    job.write_text(job.read_text().replace("    time.sleep(pace)\n", f"    time.sleep(pace)\n    {waits}\n"))
    (campaign.folder / "faults.yaml").write_text("faults:\n  - {run: better, step: 15}\n")
    return go_on


def test_of_three_runs_on_two_machines_one_dies_one_is_slow_and_the_others_go_on(
    campaign: SmallCampaign,
) -> None:
    go_on = _three_on_two(campaign)
    environment = {**campaign.environment, "COLUMNS": "80"}
    driver = campaign.start("run", "--faults", "faults.yaml")

    def others_are_done() -> Any:
        now = campaign.json("status")
        return [run["status"] for run in now.get("runs", ())][1:] == ["completed"] * 2 and now

    alone = wait_for(others_are_done)
    told = campaign.lastro("status", env=environment).stdout

    go_on.touch()
    code = driver.wait(timeout=120)
    result = campaign.json("status")
    summary = campaign.lastro("run", env=environment).stdout

    assert code == 0
    control, better, third = result["runs"]
    assert [run["status"] for run in (control, better, third)] == ["completed"] * 3
    assert [len(run["attempts"]) for run in (control, better, third)] == [1, 2, 1]
    assert better["attempts"][0]["end"] == "lost"
    assert better["attempts"][1]["resumed_step"] >= 10
    assert [row["name"] for row in alone["now"]] == ["control"], "nobody has waited for the slow one"
    assert campaign.totals() == {"control": SUM_TO_40, "better": SUM_TO_40, "third": SUM_TO_40}
    assert all(machine["state"] == "gone" for machine in result["machines"])
    assert len(result["machines"]) == 3, "two, and one in place of the one that died"
    for screen in (told, summary):
        lines = [line for line in screen.splitlines() if not line.startswith("report: ")]
        assert max(map(len, lines)) <= 80
        assert all(name in screen for name in ("control", "better", "third"))

"""Code that is changed in the middle of a campaign, and put back: the run goes on where it was."""

from __future__ import annotations

import json
import os
import signal
from pathlib import Path

import pytest

from lastro.journal.signals import read_beat
from tests.flow.campaigns import SmallCampaign, wait_for

SUM_TO_40 = 820


def _slow(campaign: SmallCampaign) -> Path:
    """Make the job slow until the file that is returned is there: changing code takes its time."""
    hurry = campaign.home.parent / "hurry"
    job = campaign.folder / "job.py"
    pause = f"time.sleep(0 if os.path.exists({str(hurry)!r}) else 0.5)"
    job.write_text(job.read_text().replace("time.sleep(pace)", pause))
    return hurry


def _at_work(campaign: SmallCampaign) -> Path:
    """Wait for an attempt that has saved once; return its folder."""

    def found() -> list[Path]:
        beats = campaign.disk.glob("campaigns/small/runs/*/attempts/1/heartbeat")
        return [beat.parent for beat in beats if (seen := read_beat(beat)) is not None and seen.step >= 12]

    (attempt,) = wait_for(found)
    return Path(attempt)


def _of(result: dict[str, object], run: str) -> dict[str, list[dict[str, object]]]:
    runs = result["runs"]
    assert isinstance(runs, list)
    return next(one for one in runs if one["id"] == run)


@pytest.mark.long
def test_on_this_box_a_run_that_lost_its_code_goes_on_when_the_old_text_is_put_back(
    campaign: SmallCampaign,
) -> None:
    hurry = _slow(campaign)
    driver = campaign.start("run", "--on", "here", stdout=(campaign.home.parent / "told").open("w"))
    attempt = _at_work(campaign)
    job = campaign.folder / "job.py"
    text = job.read_text()

    job.write_text(text + "# tried something\n")
    os.kill(json.loads((attempt / "process.json").read_text())["job"]["pid"], signal.SIGKILL)
    code = driver.wait(timeout=120)
    job.write_text(text)
    hurry.touch()
    result = campaign.json("run", "--on", "here")

    assert code == 11
    told = " ".join((campaign.home.parent / "told").read_text().split())
    assert "has changed since the run began" in told and "put it back to go on" in told
    assert result["plan"]["revisions"] == [] and result["decision"]["verdict"] == "adopt"
    killed, *later = _of(result, attempt.parent.parent.name)["attempts"]
    assert killed["end"] == "killed" and later[-1]["resumed_step"] == killed["committed_step"]
    assert campaign.totals()["control"] == SUM_TO_40


def test_a_run_that_was_set_aside_goes_on_when_its_code_is_the_plan_s_again(campaign: SmallCampaign) -> None:
    hurry = _slow(campaign)
    driver = campaign.start("run")
    attempt = _at_work(campaign)
    os.killpg(driver.pid, signal.SIGKILL)
    driver.wait()
    job = campaign.folder / "job.py"
    text = job.read_text()

    job.write_text(text + "sys.exit(3)\n")
    other = campaign.start("run")
    wait_for(lambda: len(list(campaign.disk.glob("campaigns/small/runs/*/attempts/1/heartbeat"))) > 1)
    os.killpg(other.pid, signal.SIGKILL)
    other.wait()
    job.write_text(text)
    hurry.touch()
    result = campaign.json("run")

    first = _of(result, attempt.parent.parent.name)
    assert [life["end"] for life in first["attempts"]] == ["asked", "done"]
    assert first["attempts"][1]["resumed_step"] == first["attempts"][0]["committed_step"]
    assert len(result["plan"]["revisions"]) == 2
    assert result["decision"]["verdict"] == "adopt"

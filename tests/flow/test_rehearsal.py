"""A plan played in small with faults: what it says, what it leaves, and what it never touches."""

from __future__ import annotations

import hashlib
import json
import os
import signal
from pathlib import Path

import pytest

from lastro.procs.killtree import members
from tests.flow.campaigns import SmallCampaign, wait_for

#: 0.8 h in a window of 1 h: what is lost decides. By its 40 steps each stands for 36 s.
HOURS = "stages:\n  run: {each: run, gpu: 1, hours: 0.4}\ncheckpoint:"


def files_of(*roots: Path) -> dict[str, str]:
    """Return the digest of each file below the roots."""
    return {
        str(path): hashlib.sha256(path.read_bytes()).hexdigest()
        for root in roots
        for path in root.rglob("*")
        if path.is_file()
    }


def rehearsed(campaign: SmallCampaign, *arguments: str) -> dict[str, object]:
    value = campaign.json("rehearse", *arguments)
    assert isinstance(value, dict)
    return value


def left_running(campaign: SmallCampaign) -> list[int]:
    """Return the processes that have the campaign's home in their environment."""
    homes = {str(campaign.home), *map(str, campaign.home.glob("rehearsal/*/*"))}
    return sorted(one.pid for home in homes for one in members(("LASTRO_HOME", home)).all)


@pytest.mark.long
def test_each_kind_of_fault_is_played_and_the_one_that_breaks_the_window_is_named(
    campaign: SmallCampaign,
) -> None:
    """The campaign is one of another computer, which nobody calls.

    0.8 h are work, and 5 min are assumed for each of three new starts. In steps of 36 s, saved each tenth: 5
    are lost without notice, 8 and 2 min of silence with the frozen machine. 48 min and 24 min 48 s are over
    1 h 10 min, and not without the 11 min 48 s of the frozen one.
    """
    campaign.edit("checkpoint:", HOURS)
    campaign.edit("window: 1h", "window: 70min")
    campaign.edit("pace: 0.02", "pace: 0.1")
    campaign.edit("provider: local", "provider: ssh://nobody@192.0.2.1")
    offers = campaign.folder / "offers.yaml"
    offers.write_text(offers.read_text().replace("provider: local, ", ""))
    before = files_of(campaign.folder)

    done = rehearsed(campaign, "--seed", "4")

    assert (done["exit_code"], done["verdict"], done["failed"]) == (11, "broken", [])
    faults, promises = done["faults"], done["promises"]
    assert isinstance(faults, list) and isinstance(promises, list)
    told = [(one["kind"], one["run"], one["step"], one["happened"]) for one in faults]
    assert told == [
        ("sudden", "better", 5, True),
        ("silent", "better", 8, True),
        ("notice", "better", 19, True),
        ("refused", "better", told[3][2], True),
    ]
    assert [one["lost_steps"] for one in faults] == [5, 8, 0, 0]
    answers = {one["name"]: (one["answer"], one["faults"]) for one in promises}
    assert answers["window"] == ("broken", [2])
    assert {name for name, (answer, _faults) in answers.items() if answer == "held"} == {
        "budget",
        "loss",
        "runs",
        "outputs",
        "answer",
        "rented",
    }
    assert files_of(campaign.folder) == before
    assert done["folder"] is None
    assert files_of(campaign.home) == {
        str(path): hashlib.sha256(b"").hexdigest() for path in campaign.home.rglob("*.lock")
    }


def test_the_frozen_plan_is_rehearsed_with_a_users_own_faults_and_stays_as_it_is(
    campaign: SmallCampaign,
) -> None:
    campaign.edit("checkpoint:", HOURS)
    assert campaign.lastro("plan", "--freeze").returncode == 0
    (campaign.folder / "faults.yaml").write_text("faults:\n  - {create: 1}\n")
    before = files_of(campaign.folder, campaign.home)

    done = campaign.lastro("rehearse", "--faults", "faults.yaml", "--keep")

    words = " ".join(done.stdout.split())
    assert done.returncode == 0, done.stdout + done.stderr
    assert "held small, with your faults: 7 of 7 promises held" in words
    assert "1 request 1 for a machine is refused: 1.0 s later" in words
    after = files_of(campaign.folder, campaign.home)
    assert {path: digest for path, digest in after.items() if "/rehearsal/" not in path} == before
    (kept,) = campaign.home.glob("rehearsal/*/disturbed/disk/campaigns/small/close/report.html")
    assert str(kept.parents[6]) in words.replace(" ", "")


def test_a_rehearsal_that_is_killed_leaves_no_machine_and_the_next_one_begins_anew(
    campaign: SmallCampaign,
) -> None:
    """And what fails in small without a fault is no broken promise: it has the code of a failed command."""
    assert campaign.lastro("plan", "--freeze").returncode == 0
    process = campaign.start("rehearse")
    wait_for(lambda: list(campaign.home.glob("rehearsal/*/undisturbed/disk/campaigns/*/runs/*/attempts/1")))

    os.kill(process.pid, signal.SIGKILL)
    process.wait()

    wait_for(lambda: not left_running(campaign))
    job = campaign.folder / "job.py"
    job.write_text("raise SystemExit(3)\n")
    again = rehearsed(campaign)
    assert (again["exit_code"], again["verdict"], again["frozen"]) == (1, None, True)
    assert "control: failed" in str(again["failed"])
    assert Path(str(again["folder"])).is_dir()
    assert not left_running(campaign)


def test_ctrl_c_ends_its_machines_and_says_so(campaign: SmallCampaign, tmp_path: Path) -> None:
    with (tmp_path / "out").open("w+") as out:
        process = campaign.start("rehearse", stdout=out)
        wait_for(lambda: list(campaign.home.glob("rehearsal/*/undisturbed/local/machines/*/host.json")))
        os.killpg(process.pid, signal.SIGINT)
        code = process.wait()
        told = (tmp_path / "out").read_text()

    assert code in (130, -signal.SIGINT)
    assert "nothing of this rehearsal is left running, and nothing was shown" in told
    assert not left_running(campaign)
    assert not list(campaign.home.glob("rehearsal/*/*"))


def test_json_is_one_object_also_when_there_is_nothing_to_rehearse(campaign: SmallCampaign) -> None:
    done = campaign.lastro("rehearse", "nowhere.yaml", "--json")

    assert (done.returncode, json.loads(done.stdout)["exit_code"]) == (3, 3)


@pytest.mark.long
def test_the_same_seed_gives_the_same_faults_and_the_same_verdict_to_the_number(
    campaign: SmallCampaign,
) -> None:
    campaign.edit("checkpoint:", HOURS)
    campaign.edit("pace: 0.02", "pace: 0.1")
    offers = campaign.folder / "offers.yaml"
    offers.write_text(offers.read_text().replace("boot: 0s", "boot: 36s, interruptions: 15min, notice: 2min"))

    once, again = (rehearsed(campaign, "--seed", "3") for _time in range(2))

    assert once["promises"] == again["promises"]
    told = [[{**one, "why": None} for one in done["faults"]] for done in (once, again)]  # type: ignore[attr-defined]
    assert told[0] == told[1]
    assert len(told[0]) > 1

"""What a job leaves on its machine's own storage outlives the machine, or the machine stays."""

from __future__ import annotations

import json
import os
import signal
from pathlib import Path

import pytest

from lastro.clock import SystemClock
from lastro.journal.signals import read_beat
from lastro.paths import Home
from lastro.providers.base import MachineState
from lastro.providers.local import Local
from tests.flow.campaigns import SmallCampaign, wait_for

#: Writes where everybody writes first: into the folder that it runs in, and into its home.
CARELESS = """
import pathlib
header = b'{"w":{"dtype":"U8","shape":[4],"data_offsets":[0,4]}}'
pathlib.Path("adapter").write_bytes(len(header).to_bytes(8, "little") + header + b"1234")
pathlib.Path.home().joinpath("notes.txt").write_text("what was learned\\n")
"""


@pytest.fixture
def careless(campaign: SmallCampaign) -> SmallCampaign:
    """A campaign of one run whose job leaves weights in its working folder."""
    job = campaign.folder / "job.py"
    job.write_text(CARELESS + job.read_text())
    campaign.edit("  better: {changes: {score: 8}, priority: required}", "  better: {changes: {score: 8}}")
    return campaign


def scratch_of(campaign: SmallCampaign) -> Path:
    (machine,) = Local(Home(campaign.home), SystemClock()).machines()
    return Home(campaign.home).local_machine(machine.id).scratch


def rescued(campaign: SmallCampaign) -> set[str]:
    return {path.name for path in (campaign.disk / "rescued").rglob("*") if path.is_file()}


def journal(campaign: SmallCampaign, kind: str) -> list[dict[str, object]]:
    home = next((campaign.disk / "campaigns/small/journal").glob("home-*.jsonl"))
    lines = map(json.loads, home.read_text().splitlines())
    return [line for line in lines if line["type"] == kind]


def test_the_scratch_is_really_gone_and_what_lay_there_only_is_on_the_disk(careless: SmallCampaign) -> None:
    ran = careless.lastro("run", "--only", "control")

    assert ran.returncode == 0, ran.stderr
    scratch = scratch_of(careless)
    assert not scratch.exists()
    assert {"adapter", "notes.txt"} <= rescued(careless)
    assert not {"job.py", "truth.csv"} & rescued(careless)  # code and data lie on the disk already
    (event,) = journal(careless, "guard.rescued")
    assert event["files"] == 2
    assert "2 files of value" in ran.stdout


def test_a_person_is_refused_until_it_is_rescued_and_then_the_machine_goes(careless: SmallCampaign) -> None:
    careless.edit("{steps: 40, pace: 0.02, score: 6}", "{steps: 4000, pace: 0.02, score: 6}")
    driver = careless.start("run", "--only", "control")
    beats = careless.disk.glob
    wait_for(
        lambda: any(
            (beat := read_beat(path)) is not None and beat.step >= 2
            for path in beats("campaigns/small/runs/*/attempts/*/heartbeat")
        )
    )
    os.killpg(driver.pid, signal.SIGKILL)
    driver.wait()
    scratch = scratch_of(careless)
    machine = scratch.parent.name

    refused = careless.lastro("stop", "--release")
    listed = careless.json("disk", "guard", "--machine", machine)
    closing = careless.lastro("close")

    assert (refused.returncode, listed["exit_code"], closing.returncode) == (13, 13, 13)
    assert "adapter" in refused.stderr
    assert f"lastro disk guard --machine {machine}" in refused.stderr
    assert [item["kind"] for item in listed["items"]] == ["weights", "text"]
    assert (scratch / "work").exists()

    notes = listed["items"][1]["id"]
    without = careless.lastro("disk", "guard", "--machine", machine, "--let-go", notes)
    done = careless.json(
        "disk", "guard", "--machine", machine, "--let-go", notes, "--why", "known by heart", "--rescue"
    )

    assert without.returncode == 2
    assert (done["exit_code"], done["left"]) == (0, [])
    released = careless.lastro("stop", "--release")
    assert released.returncode == 0, released.stderr
    assert not scratch.exists()
    assert rescued(careless) == {"adapter", f"{machine}.jsonl"}


def test_a_machine_that_ends_itself_rescues_before_it_goes(careless: SmallCampaign) -> None:
    careless.edit("budget: 5 USD", "budget: 5 USD\nidle: 3s")
    job = careless.folder / "job.py"
    job.write_text(job.read_text().replace("time.sleep(pace)", "time.sleep(600 if step == 20 else pace)"))
    driver = careless.start("run", "--only", "control")
    beats = careless.disk.glob
    wait_for(
        lambda: any(
            (beat := read_beat(path)) is not None and beat.step >= 2
            for path in beats("campaigns/small/runs/*/attempts/*/heartbeat")
        )
    )
    os.killpg(driver.pid, signal.SIGKILL)
    driver.wait()

    local = Local(Home(careless.home), SystemClock())
    (machine,) = local.machines()
    wait_for(lambda: local.describe(machine.id).state is MachineState.GONE)

    assert not scratch_of(careless).exists()
    assert {"adapter", "notes.txt"} <= rescued(careless)

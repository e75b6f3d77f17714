"""A campaign whose disk fills up, goes away, or is another one; and a home that is full."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
from pathlib import Path

from lastro.clock import SystemClock
from lastro.disk.reserve import room_on
from lastro.flow.session import known_sessions
from lastro.journal.events import EventType
from lastro.journal.signals import read_beat
from lastro.journal.streams import read_stream
from lastro.paths import Disk, Home
from lastro.procs.killtree import members
from lastro.providers.local import Local
from tests.disk.small import fill, on_a_small_disk
from tests.flow.campaigns import SmallCampaign, small_campaign, wait_for

MIB = 2**20
SUM_TO_40 = 40 * 41 // 2


def _on_the_small_disk(tmp_path: Path) -> SmallCampaign:
    campaign = small_campaign(tmp_path)
    campaign.edit("disk: ./disk", f"disk: {tmp_path / 'disk'}")
    campaign.edit("pace: 0.02", "pace: 0.05")
    return campaign


def _end_machines(campaign: SmallCampaign) -> None:
    provider = Local(Home(campaign.home), SystemClock())
    for machine in provider.machines():
        provider.delete(machine.id)


def _begun(disk: Path, step: int = 12) -> Path | None:
    for beat in disk.glob("campaigns/small/runs/*/attempts/*/heartbeat"):
        seen = read_beat(beat)
        if seen is not None and seen.step >= step:
            return beat.parent
    return None


def _kinds(campaign: SmallCampaign, disk: Path) -> list[EventType]:
    return [
        event.type
        for path in disk.glob("campaigns/small/journal/*.jsonl")
        if not path.stem.startswith("home-")
        for event in read_stream(path).events
    ]


@on_a_small_disk(16 * MIB)
def test_a_full_disk_pauses_the_campaign_and_room_lets_it_go_on_to_its_decision(tmp_path: Path) -> None:
    campaign, disk = _on_the_small_disk(tmp_path), tmp_path / "disk"
    try:
        with (tmp_path / "told.txt").open("w") as told:
            running = campaign.start("run", stdout=told)
        wait_for(lambda: _begun(disk))
        assert room_on(Disk(disk)).held > 0
        ballast = fill(disk)
        wait_for(lambda: EventType.DISK_FULL in _kinds(campaign, disk))
        assert running.poll() is None
        status = campaign.json("status")
        assert "Running: control" in status["decision"]["why"]
        assert "waits for room on the disk" in status["decision"]["why"]

        ballast.unlink()

        assert running.wait(90) == 0
        result = campaign.json("status")
        assert result["decision"]["verdict"] == "adopt"
        assert [len(run["attempts"]) for run in result["runs"]] == [1, 1]
        assert EventType.DISK_ROOM in _kinds(campaign, disk)
        totals = [
            json.loads(path.read_text())["total"]
            for path in disk.glob("campaigns/small/runs/*/outputs/total.json")
        ]
        assert totals == [SUM_TO_40, SUM_TO_40]
        news = (tmp_path / "told.txt").read_text()
        assert news.count("the disk is full; it waits for room") == 1
        assert news.count("there is room on the disk again; it goes on") == 1
        assert campaign.lastro("journal", "verify").returncode == 0
    finally:
        _end_machines(campaign)


@on_a_small_disk(16 * MIB)
def test_a_disk_that_goes_away_is_told_by_name_and_the_campaign_never_begins_again(tmp_path: Path) -> None:
    campaign, disk = _on_the_small_disk(tmp_path), tmp_path / "disk"
    try:
        running = campaign.start("run")
        attempt = wait_for(lambda: _begun(disk))
        marker = ("LASTRO_ATTEMPT", str(attempt))
        kept = tmp_path / "kept"
        kept.mkdir()
        subprocess.run(["mount", "--bind", str(disk), str(kept)], check=True)
        subprocess.run(["umount", "--lazy", str(disk)], check=True)

        assert running.wait(60) == 8
        wait_for(lambda: not members(marker).all)
        again = campaign.lastro("run")
        assert again.returncode == 8
        assert "would begin again at step 0" in again.stderr
        assert "Traceback" not in again.stderr
        assert list(disk.iterdir()) == [], "something was made where the disk had been"
        assert campaign.lastro("status").returncode == 0

        subprocess.run(["mount", "--bind", str(kept), str(disk)], check=True)
        result = campaign.json("run")
        assert result["decision"]["verdict"] == "adopt"
        control = result["runs"][0]
        # What was saved last may have reached the disk without being recorded, as the disk was going.
        assert control["attempts"][1]["resumed_step"] >= max(
            10, control["attempts"][0]["committed_step"] or 0
        )
    finally:
        _end_machines(campaign)


def test_without_its_disk_a_rented_machine_is_named_and_can_be_let_go(campaign: SmallCampaign) -> None:
    campaign.edit("pace: 0.02", "pace: 0.05")
    running = campaign.start("run")
    wait_for(lambda: _begun(campaign.disk))
    os.killpg(running.pid, signal.SIGKILL)
    running.wait()
    shutil.rmtree(campaign.disk, ignore_errors=True)
    (machine,) = Local(Home(campaign.home), SystemClock()).machines()

    refused = campaign.lastro("run")
    kept = campaign.lastro("stop", "--release")
    campaign.lastro(
        *("disk", "guard", "--machine", machine.id, "--let-go", "all", "--why", "the code lies here too")
    )
    released = campaign.json("stop", "--release")
    after = campaign.json("status")

    assert (refused.returncode, kept.returncode) == (8, 13), kept.stderr
    assert "--let-go all" in kept.stderr
    assert f"machine {machine.id} is still rented" in refused.stderr
    assert "lastro stop --release" in refused.stderr
    assert released["released"] == [machine.id]
    assert [one["state"] for one in after["machines"]] == ["gone"]
    assert not members(("LASTRO_MACHINE", machine.id)).all
    assert not campaign.disk.exists() or not any(campaign.disk.rglob("home-*.jsonl"))


def test_another_disk_in_its_place_is_refused_by_name(campaign: SmallCampaign) -> None:
    campaign.edit("pace: 0.02", "pace: 0.05")
    running = campaign.start("run")
    wait_for(lambda: _begun(campaign.disk))
    campaign.lastro("stop")
    running.wait(60)
    campaign.disk.rename(campaign.folder.parent / "the-disk")
    other = campaign.disk / ".lastro/disk.json"
    other.parent.mkdir(parents=True)
    other.write_text('{"uuid": "11111111-2222-3333-4444-555555555555", "nodes": []}')

    refused = campaign.lastro("run")

    assert refused.returncode == 8
    assert "11111111" in refused.stderr
    assert "attach that disk again" in refused.stderr
    assert not (campaign.disk / "campaigns").exists()

    # To begin anew on purpose is possible, and takes what the hint says.
    (session,) = known_sessions(Home(campaign.home), SystemClock())
    shutil.move(session.at_home.root, campaign.folder.parent / "history")
    anew = campaign.json("run")
    assert anew["decision"]["verdict"] == "adopt"


@on_a_small_disk(2 * MIB)
def test_a_home_that_is_full_is_an_error_with_a_way_out_and_nothing_is_half_written(tmp_path: Path) -> None:
    """Here the small disk is home's; the campaign's own has all the room it wants."""
    made = small_campaign(tmp_path)
    campaign = SmallCampaign(made.folder, tmp_path / "disk")
    try:
        assert campaign.lastro("plan", "--freeze").returncode == 0
        ballast = fill(campaign.home)

        refused = campaign.lastro("run")

        assert refused.returncode == 8, refused.stdout + refused.stderr
        assert "No space left" in refused.stderr
        assert "next:" in refused.stderr
        assert "Traceback" not in refused.stderr
        for stream in campaign.home.glob("campaigns/*/journal/*.jsonl"):
            reading = read_stream(stream)
            assert (reading.torn, reading.damage) == (0, None)

        ballast.unlink()
        assert campaign.json("run")["decision"]["verdict"] == "adopt"
    finally:
        _end_machines(campaign)

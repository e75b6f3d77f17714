"""Campaigns on a machine that is reached by ssh: a real sshd on loopback, with a home and disk of its own."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from lastro.clock import SystemClock
from lastro.flow.auditing import audit
from lastro.paths import CampaignFolder, Disk
from lastro.procs.killtree import members
from tests.flow.campaigns import SmallCampaign, small_campaign, wait_for
from tests.flow.test_trust import drift
from tests.providers.ssh.sshd import Rented, rented

SUM_TO_40 = 40 * 41 // 2


@dataclass(frozen=True)
class FarCampaign(SmallCampaign):
    """A small campaign on a machine elsewhere; its disk lies there."""

    machine: Rented | None = None

    @property
    def environment(self) -> dict[str, str]:
        assert self.machine is not None
        return {**super().environment, "LASTRO_SSH_CONFIG": str(self.machine.config)}

    @property
    def disk(self) -> Path:
        assert self.machine is not None
        return self.machine.home / "disk"

    @property
    def there(self) -> CampaignFolder:
        return Disk(self.disk).campaign("small")

    def lives(self) -> list[Mapping[str, Any]]:
        """Return the starts of all attempts, as the machine has recorded them."""
        found = []
        for path in sorted(self.there.journal.glob("*.jsonl")):
            events = [json.loads(line) for line in path.read_text().splitlines()]
            found += [one for one in events if one["type"] == "attempt.started"]
        return found

    def step(self) -> int:
        """Return the furthest step of any job on the machine."""
        logs = self.there.root.glob("runs/*/attempts/*/log.txt")
        return max((path.read_text().count("step") for path in logs), default=0)


@pytest.fixture(scope="module")
def machine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Rented]:
    """Its shell greets everybody who logs in."""
    with rented(tmp_path_factory.mktemp("rented") / "machine") as found:
        (found.home / ".profile").write_text(
            'echo Welcome to the machine\nexport FROM_PROFILE=yes PATH="$HOME/bin:$PATH"\n'
        )
        yield found


def far_campaign(tmp_path: Path, machine: Rented, name: str = "disk") -> FarCampaign:
    made = small_campaign(tmp_path)
    campaign = FarCampaign(made.folder, made.home, machine)
    campaign.edit("provider: local", f"provider: {machine.spec}")
    campaign.edit("disk: ./disk", f"disk: {name}")
    offers = campaign.folder / "offers.yaml"
    offers.write_text(offers.read_text().replace("provider: local", f"provider: {machine.spec}"))
    return campaign


@pytest.fixture
def campaign(tmp_path: Path, machine: Rented) -> Iterator[FarCampaign]:
    made = far_campaign(tmp_path, machine)
    try:
        yield made
    finally:
        made.lastro("stop", "--release", timeout=60)
        made.disk.rename(tmp_path / "its-disk")


def test_a_campaign_runs_there_and_closes_here(campaign: FarCampaign) -> None:
    (campaign.folder / "job.py").write_text(
        "import os\nassert os.environ['FROM_PROFILE'] == 'yes'\n" + (campaign.folder / "job.py").read_text()
    )
    done = campaign.json("run")

    assert done["exit_code"] == 0, done
    assert done["decision"]["verdict"] == "adopt"
    assert campaign.totals() == {"control": SUM_TO_40, "better": SUM_TO_40}
    assert [one["status"] for one in done["deliverables"]] == ["accepted", "accepted"]
    (rented_one,) = done["machines"]
    assert rented_one["state"] == "gone"
    assert not members(("LASTRO_MACHINE", rented_one["id"])).all
    assert campaign.lastro("journal", "verify").returncode == 0
    # What was concluded here lies on the disk there too.
    assert (campaign.there.close / "manifest.json").exists()
    # Home has what was closed, and each file was read again where it came from.
    assert done["closing"]["state"] == "closed"
    assert done["closing"]["copies"][0]["where"].endswith("campaigns/small")
    assert campaign.json("run")["decision"]["verdict"] == "adopt"


#: Tells one card of the ten fields that every driver knows, and refuses others, as an old one does.
SMI = """#!/bin/sh
case "$1" in *pci.device_id*) echo 'Field "pci.device_id" is not a valid field to query.'; exit 2;; esac
echo "0, NVIDIA GeForce RTX 3090, GPU-1, 580.65.06, 94.02, 24576, 10, 41, 350.00, [N/A]"
"""


def test_a_machine_that_is_not_what_is_wanted_is_refused_until_the_risk_is_taken(
    campaign: FarCampaign,
) -> None:
    """Its card is told by nvidia-smi, its packages by the Python that the job would have there."""
    assert campaign.machine is not None
    smi = campaign.machine.home / "bin" / "nvidia-smi"
    smi.parent.mkdir(exist_ok=True)
    smi.write_text(SMI)
    smi.chmod(0o755)
    campaign.edit("provider: ssh", "want: {gpu: RTX 4090, pytest: '>=8', python: '>=3.10'}\nprovider: ssh")
    why = ("--accept-risk", "gpu_name", "--accept-risk", "packages", "--why", "for a day")
    try:
        refused = campaign.lastro("run", "--only", "control")
        taken = campaign.json("run", "--only", "control", *why)
    finally:
        smi.unlink()

    assert refused.returncode == 4, refused.stderr
    assert "kind of GPU: NVIDIA GeForce RTX 3090 (RTX 4090)" in refused.stderr
    assert "package pytest: not installed (>=8)" in refused.stderr and "--accept-risk" in refused.stderr
    assert taken["exit_code"] == 0, taken
    assert "for a day" in str([one["preflight"] for one in taken["machines"]])


@pytest.mark.long
def test_the_first_machine_there_is_locked_and_another_one_is_refused(campaign: FarCampaign) -> None:
    first = campaign.lastro("run", "--only", "control")
    drift(campaign.folder)

    refused = campaign.lastro("run", "--only", "better")

    assert first.returncode == 0, first.stderr
    assert "lastro.lock was written" in first.stdout
    assert refused.returncode == 4 and "locked python: " in refused.stderr, refused.stderr
    assert "3.9.1, as locked" in refused.stderr


def test_when_home_and_cable_are_lost_the_job_goes_on_and_is_started_once(campaign: FarCampaign) -> None:
    campaign.edit("pace: 0.02", "pace: 0.1")
    home = campaign.start("run")
    wait_for(lambda: campaign.there.root.exists() and campaign.step() > 3)
    home.kill()
    home.wait()
    assert campaign.machine is not None
    campaign.machine.cut()
    before = campaign.step()
    wait_for(lambda: campaign.step() > before + 3)
    # Home's copy is of a part of that disk: what is not here is no damage.
    cut = audit(next(campaign.home.rglob("campaign.yaml")).parent, SystemClock())

    done = campaign.json("run")

    assert (cut.exit_code, cut.damage) == (11, ())
    assert done["decision"]["verdict"] == "adopt", done
    assert [one["attempt"] for one in campaign.lives()] == [1, 1]
    assert campaign.totals() == {"control": SUM_TO_40, "better": SUM_TO_40}


@pytest.mark.long
def test_a_machine_that_does_not_answer_for_a_while_is_waited_for(campaign: FarCampaign) -> None:
    campaign.edit("pace: 0.02", "pace: 0.1")
    told = campaign.folder.parent / "told"
    with told.open("w") as out:
        home = campaign.start("run", stdout=out)
        wait_for(lambda: campaign.there.root.exists() and campaign.step() > 3)
        assert campaign.machine is not None
        campaign.machine.down()
        wait_for(lambda: "what runs there goes on" in told.read_text())
        campaign.machine.up()
        assert home.wait(90) == 0, told.read_text()

    assert "answers again" in told.read_text()
    assert [one["attempt"] for one in campaign.lives()] == [1, 1]
    assert campaign.totals() == {"control": SUM_TO_40, "better": SUM_TO_40}


def test_a_job_that_is_killed_there_goes_on_from_its_checkpoint(campaign: FarCampaign) -> None:
    campaign.edit("pace: 0.02", "pace: 0.1")
    home = campaign.start("run")
    wait_for(lambda: campaign.there.root.exists() and campaign.step() > 12)
    run = next(campaign.there.runs.iterdir())
    mark = ("LASTRO_ATTEMPT", str(run / "attempts" / "1"))
    for pid in members(mark).all:
        subprocess.run(["kill", "-9", str(pid.pid)], check=False)

    assert home.wait(90) == 0

    assert sorted(one["attempt"] for one in campaign.lives()) == [1, 1, 2]
    assert campaign.totals() == {"control": SUM_TO_40, "better": SUM_TO_40}


def test_status_and_stop_reach_a_machine_that_no_command_drives(campaign: FarCampaign) -> None:
    campaign.edit("steps: 40", "steps: 4000")
    home = campaign.start("run")
    wait_for(lambda: campaign.there.root.exists() and campaign.step() > 3)
    home.kill()
    home.wait()

    status = campaign.json("status")
    answers = campaign.lastro("stop", "--gone", status["machines"][0]["id"], "--why", "too early")
    stopped = campaign.json("stop", "--release")

    assert status["runs"][0]["status"] == "running" and status["stale"] is None
    assert answers.returncode == 2 and "answers: it is running" in answers.stderr
    assert [one["name"] for one in stopped["stopped"]] == ["control"]
    assert stopped["released"] == [status["machines"][0]["id"]]
    assert not members(("LASTRO_MACHINE", status["machines"][0]["id"])).all


def test_a_second_home_only_reads_what_the_first_one_drives(campaign: FarCampaign, tmp_path: Path) -> None:
    assert campaign.lastro("run", "--only", "control").returncode == 0
    second = {**campaign.environment, "LASTRO_HOME": str(tmp_path / "second")}

    refused = campaign.lastro("run", env=second)

    assert refused.returncode == 12, refused.stderr
    assert "owned by another home" in refused.stderr


@pytest.mark.long
def test_a_second_home_closes_what_the_first_one_has_left_there(
    campaign: FarCampaign, tmp_path: Path
) -> None:
    campaign.edit("steps: 40", "steps: 4000")
    home = campaign.start("run")
    wait_for(lambda: campaign.there.root.exists() and campaign.step() > 12)
    home.kill()
    home.wait()
    second = {**campaign.environment, "LASTRO_HOME": str(tmp_path / "second")}

    done = campaign.lastro("close", "--take-over", "--json", env=second)

    assert done.returncode == 11, done.stderr
    result = json.loads(done.stdout)
    ((machine,), (attempt,)) = result["machines"], result["runs"][0]["attempts"]
    assert (machine["state"], result["runs"][0]["status"]) == ("gone", "paused")
    assert attempt["committed_step"] > 12  # it saved when it was asked to end
    assert not members(("LASTRO_MACHINE", machine["id"])).all


@pytest.mark.long
def test_two_campaigns_on_one_machine_share_its_disk_and_end_their_own_processes_only(
    campaign: FarCampaign, machine: Rented, tmp_path: Path
) -> None:
    (tmp_path / "second").mkdir()
    other = far_campaign(tmp_path / "second", machine)
    other.edit("campaign: small", "campaign: other")
    other.edit("pace: 0.02", "pace: 0.1")
    first, second = campaign.start("run"), other.start("run")

    assert (first.wait(120), second.wait(120)) == (0, 0)

    campaigns = Disk(campaign.disk).root / "campaigns"
    assert sorted(path.name for path in campaigns.iterdir()) == ["other", "small"]
    for name in ("other", "small"):
        totals = [
            json.loads(path.read_text())["total"]
            for path in campaigns.glob(f"{name}/runs/*/outputs/total.json")
        ]
        assert totals == [SUM_TO_40, SUM_TO_40]
    assert [len(run["attempts"]) for run in other.json("status")["runs"]] == [1, 1]


def test_another_disk_in_its_place_is_refused(campaign: FarCampaign) -> None:
    assert campaign.lastro("plan", "--freeze").returncode == 0
    disk = campaign.disk
    disk.rename(disk.with_name("elsewhere"))
    try:
        refused = campaign.lastro("run")
        assert refused.returncode == 8, refused.stderr
        assert "the disk of this campaign is not at disk" in refused.stderr
    finally:
        subprocess.run(["rm", "-r", str(disk)], check=True)
        disk.with_name("elsewhere").rename(disk)


def test_who_cannot_be_reached_is_an_error_with_a_way_out(tmp_path: Path, machine: Rented) -> None:
    campaign = far_campaign(tmp_path, machine)
    stranger = tmp_path / "stranger"
    stranger.write_text(f"UserKnownHostsFile {tmp_path / 'none'}\nStrictHostKeyChecking yes\n")
    nobody = {**campaign.environment, "LASTRO_SSH_CONFIG": str(stranger)}

    unknown = campaign.lastro("run", env=nobody)
    machine.down()
    down = campaign.lastro("run")
    machine.up()

    assert (unknown.returncode, down.returncode) == (7, 7)
    assert "the host key of" in unknown.stderr and "next: log in once" in unknown.stderr
    assert "does not answer" in down.stderr and "Connection refused" in down.stderr
    assert "Traceback" not in unknown.stderr + down.stderr

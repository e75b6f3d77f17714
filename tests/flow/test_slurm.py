"""Campaigns on a cluster: a real Slurm of two nodes, whose jobs are the machines."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.flow.campaigns import SmallCampaign, small_campaign, wait_for
from tests.flow.terminal import terminal
from tests.flow.test_shell import LOOK
from tests.providers.slurm.cluster import Cluster, cluster

SUM_TO_40 = 40 * 41 // 2
QUEUE = "provider: slurm\nsilence: 10s\nslurm: {time: 10}"


@dataclass(frozen=True)
class QueuedCampaign(SmallCampaign):
    """A campaign on a cluster, whose disk is shared by all of it."""

    cluster: Cluster | None = None

    @property
    def environment(self) -> dict[str, str]:
        assert self.cluster is not None
        return {**super().environment, **self.cluster.environment}

    def step(self) -> int:
        """Return the furthest step that any job has printed."""
        logs = self.disk.glob("campaigns/small/runs/*/attempts/*/log.txt")
        return max((path.read_text().count("step") for path in logs), default=0)

    def lives(self) -> list[Mapping[str, Any]]:
        streams = sorted(self.disk.glob("campaigns/small/journal/*.jsonl"))
        events = [json.loads(line) for path in streams for line in path.read_text().splitlines()]
        return [one for one in events if one["type"] == "attempt.started"]


@pytest.fixture(scope="module")
def slurm(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    with cluster(Path(tmp_path_factory.mktemp("slurm"))) as made:
        yield made


def priced_by_partition(campaign: QueuedCampaign, rules: str, **offers: str) -> None:
    """Give a campaign one offer for each partition, in their order, and when one is left for the next."""
    rows = [f"  - {{name: {name}, {row}, seen: 2026-11-30}}\n" for name, row in offers.items()]
    (campaign.folder / "offers.yaml").write_text("offers:\n" + "".join(rows))
    path = campaign.folder / "campaign.yaml"
    path.write_text(
        path.read_text() + f"stages:\n  run: {{each: run, hours: 0.01, gpu: 1}}\nmove_on: {{{rules}}}\n"
    )


def queued_campaign(folder: Path, slurm: Cluster) -> QueuedCampaign:
    made = small_campaign(folder)
    campaign = QueuedCampaign(made.folder, made.home, slurm)
    campaign.edit("provider: local", QUEUE)
    offers = campaign.folder / "offers.yaml"
    offers.write_text(offers.read_text().replace("provider: local", "provider: slurm"))
    return campaign


@pytest.fixture
def campaign(tmp_path: Path, slurm: Cluster) -> Iterator[QueuedCampaign]:
    made = queued_campaign(tmp_path, slurm)
    yield made
    made.lastro("stop", "--release", timeout=90)
    assert not {"PENDING", "RUNNING", "COMPLETING"} & set(slurm.jobs().values())


def test_a_campaign_runs_in_a_job_and_leaves_nothing_of_value_on_its_node(
    campaign: QueuedCampaign, slurm: Cluster
) -> None:
    job = campaign.folder / "job.py"
    job.write_text(job.read_text() + "open('model.pt', 'wb').write(b'weights' * 100)\n")
    before = set(slurm.jobs())
    done = campaign.json("run")
    mine = {number: state for number, state in slurm.jobs().items() if number not in before}

    assert done["exit_code"] == 0, done
    assert list(mine.values()) == ["COMPLETED"]
    (machine,) = done["machines"]
    assert machine["node"].startswith("node-")
    assert done["cost"]["total"] is not None
    kept = [path.read_bytes() for path in campaign.disk.rglob("rescued/**/model.pt")]
    assert kept and set(kept) == {b"weights" * 100}
    assert campaign.lastro("journal", "verify").returncode == 0


def test_a_job_that_is_cancelled_by_hand_is_noticed_and_the_work_goes_on_in_another(
    campaign: QueuedCampaign, slurm: Cluster
) -> None:
    campaign.edit("pace: 0.02", "pace: 0.1")
    told = campaign.folder.parent / "told"
    with told.open("w") as out:
        home = campaign.start("run", stdout=out)
        wait_for(lambda: campaign.step() > 12)
        (number,) = [number for number, state in slurm.jobs().items() if state == "RUNNING"]
        slurm.call("scancel", number)
        assert home.wait(120) == 0, told.read_text()

    status = campaign.json("status")
    first, second = status["runs"][0]["attempts"]
    assert first["end"] == "notice"
    assert "the job was cancelled (scancel)" in told.read_text()
    assert second["resumed_step"] == first["committed_step"] > 12  # it saved when it was told
    assert campaign.totals() == {"control": SUM_TO_40, "better": SUM_TO_40}


def test_a_home_that_dies_while_its_job_waits_finds_it_again(
    campaign: QueuedCampaign, slurm: Cluster
) -> None:
    campaign.edit("slurm: {time: 10}", "slurm: {time: 10, hold: true}")
    before = set(slurm.jobs())
    home = campaign.start("run")
    (number,) = wait_for(lambda: set(slurm.jobs()) - before)
    os.killpg(home.pid, signal.SIGKILL)
    home.wait()
    waiting = campaign.json("status")
    # What the job would cost is not known to run while it waits.
    assert waiting["cost"]["per_hour"] is None
    slurm.call("scontrol", "release", number)

    done = campaign.json("run")

    assert waiting["machines"][0]["state"] in ("queued", "intended")
    assert done["decision"]["verdict"] == "adopt"
    assert set(slurm.jobs()) - before == {number}
    assert [one["attempt"] for one in campaign.lives()] == [1, 1]


def test_what_runs_on_a_node_that_dies_goes_on_on_another(campaign: QueuedCampaign, slurm: Cluster) -> None:
    campaign.edit("pace: 0.02", "pace: 0.1")
    told = campaign.folder.parent / "told"
    with told.open("w") as out:
        home = campaign.start("run", stdout=out)
        wait_for(lambda: campaign.step() > 12)
        node = slurm.call("squeue", "--noheader", "--states=RUNNING", "--format=%N")
        slurm.lose(node)
        try:
            assert home.wait(150) == 0, told.read_text()
        finally:
            slurm.begin(node)
            slurm.wait_idle()

    assert campaign.totals() == {"control": SUM_TO_40, "better": SUM_TO_40}
    assert sorted(one["attempt"] for one in campaign.lives()) == [1, 1, 2]
    assert "no sign of life" in told.read_text()
    assert campaign.lastro("journal", "verify").returncode == 0


@pytest.mark.long
def test_a_second_home_closes_what_the_first_one_has_left_on_a_node(
    campaign: QueuedCampaign, slurm: Cluster, tmp_path: Path
) -> None:
    campaign.edit("steps: 40", "steps: 4000")
    before = set(slurm.jobs())
    home = campaign.start("run")
    wait_for(lambda: campaign.step() > 12)
    os.killpg(home.pid, signal.SIGKILL)
    home.wait()
    second = {**campaign.environment, "LASTRO_HOME": str(tmp_path / "second")}

    done = campaign.lastro("close", "--take-over", "--json", env=second)

    assert done.returncode == 11, done.stderr
    result = json.loads(done.stdout)
    assert [one["state"] for one in result["machines"]] == ["gone"]
    assert result["runs"][0]["attempts"][0]["committed_step"] > 12
    (number,) = set(slurm.jobs()) - before
    assert slurm.jobs()[number] == "COMPLETED"


@pytest.mark.long
def test_a_job_of_a_higher_partition_takes_the_machine_with_a_notice(
    campaign: QueuedCampaign, slurm: Cluster
) -> None:
    campaign.edit("slurm: {time: 10}", "slurm: {time: 10, exclusive: true}")
    """It was spot, and lost once is enough here: the run goes on in the partition that nobody preempts."""
    campaign.edit("pace: 0.02", "pace: 0.1")
    storm = "kind: spot, price: 0.10 USD, provider: slurm://main, interruptions: 6h"
    calm = "kind: hourly, price: 1 USD, provider: slurm://urgent"
    priced_by_partition(campaign, "spot_losses: 1", storm=storm, calm=calm)
    told = campaign.folder.parent / "told"
    urgent = campaign.folder / "urgent.sh"
    urgent.write_text("#!/bin/sh\n#SBATCH --exclusive\nsleep 5\n")
    with told.open("w") as out:
        home = campaign.start("run", stdout=out)
        wait_for(lambda: campaign.step() > 12)
        slurm.call(
            "sbatch", "--partition=urgent", "--nodes=2", "--exclusive", "--output=/dev/null", str(urgent)
        )
        assert home.wait(150) == 0, told.read_text()

    status = campaign.json("status")
    first, second = status["runs"][0]["attempts"]
    assert [one["lease"]["offer"] for one in status["machines"]] == ["storm", "calm"]
    assert [(one["to"], one["what"]) for one in status["plan"]["moves"]] == [("calm", "spot")]
    assert first["end"] == "notice"
    assert "preempted by another job (PREEMPTED)" in told.read_text()
    assert second["resumed_step"] == first["committed_step"] > 12
    assert campaign.totals() == {"control": SUM_TO_40, "better": SUM_TO_40}


def test_a_partition_that_gives_no_turn_is_left_for_the_next_one_and_nothing_waits_there(
    campaign: QueuedCampaign, slurm: Cluster
) -> None:
    cheap = "kind: hourly, price: 1 USD, provider: slurm://shut"
    dear = "kind: hourly, price: 2 USD, provider: slurm://main"
    priced_by_partition(campaign, "queue: 2s", cheap=cheap, dear=dear)

    done = campaign.json("run", "--only", "control")

    assert [(one["offer"], one["to"], one["what"]) for one in done["plan"]["moves"]] == [
        ("cheap", "dear", "queue")
    ]
    assert done["runs"][0]["status"] == "completed"
    first, second = done["machines"]
    assert first["state"] == "gone" and first["seconds"] == 0.0 and second["seconds"] > 0
    cheap_line, dear_line = done["cost"]["lines"]
    assert cheap_line["amount"]["amount"] == "0.00" and float(dear_line["amount"]["amount"]) > 0
    assert "PENDING" not in slurm.jobs().values()


@pytest.mark.long
def test_one_run_can_span_the_nodes_of_a_job(campaign: QueuedCampaign, slurm: Cluster) -> None:
    """Each node writes its rank into the run's outputs, from the folder that they share."""
    campaign.edit("slurm: {time: 10}", "slurm: {time: 10, nodes: 2, ntasks-per-node: 1}")
    campaign.edit("command: python job.py", "command: srun --mpi=none python ranks.py")
    (campaign.folder / "ranks.py").write_text(
        "import os, pathlib, subprocess, sys\n"
        "rank = os.environ['SLURM_PROCID']\n"
        "outputs = pathlib.Path(os.environ['LASTRO_OUTPUTS'])\n"
        "(outputs / f'rank-{rank}').write_text(os.environ['SLURMD_NODENAME'])\n"
        "if rank == '0':\n"
        "    sys.exit(subprocess.run([sys.executable, 'job.py', *sys.argv[1:]]).returncode)\n"
    )
    done = campaign.json("run", "--only", "control")
    (outputs,) = campaign.disk.glob("campaigns/small/runs/*/outputs")

    assert done["runs"][0]["status"] == "completed", done
    assert [(outputs / f"rank-{rank}").read_text() for rank in (0, 1)] == ["n1", "n2"]


def test_a_partition_that_is_not_there_is_said_in_slurms_words(campaign: QueuedCampaign) -> None:
    campaign.edit("slurm: {time: 10}", "slurm: {time: 10, partition: nowhere}")
    refused = campaign.lastro("run")

    assert refused.returncode == 7
    assert "Invalid partition name specified" in refused.stderr
    assert "job.sbatch" in refused.stderr


@pytest.mark.long
def test_a_shell_is_a_step_on_the_machines_node_and_a_port_is_not_led_where_nobody_gets_in(
    campaign: QueuedCampaign, slurm: Cluster
) -> None:
    campaign.edit("steps: 40", "steps: 4000")
    home = campaign.start("run")
    wait_for(lambda: campaign.step() > 3)
    (number,) = [number for number, state in slurm.jobs().items() if state == "RUNNING"]

    looked = campaign.lastro("shell", "--", "python", "-c", LOOK)
    failed = campaign.lastro("shell", "--", "sh", "-c", "exit 7")
    with terminal(campaign, "shell") as typed:
        typed.type("test -t 0 && echo ter''minal; exit 3")
        code = typed.process.wait(60)
        shown = typed.shown
    forwarded = campaign.lastro("shell", "--forward", "8888", "--", "true")
    stopped = campaign.lastro("stop")

    found = json.loads(looked.stdout.splitlines()[-1])
    assert found["names"]["SLURM_JOB_ID"] == number
    assert found["names"]["LASTRO_MACHINE"].startswith("slurm-")
    assert found["names"]["HF_HOME"] == str(campaign.disk.absolute() / "cache/huggingface")
    here = Path(found["here"]).parts
    assert here[here.index("scratch") + 1] == "work"
    assert (failed.returncode, code) == (7, 3) and "terminal" in shown
    assert forwarded.returncode == 7 and "lets nobody in by ssh" in forwarded.stderr
    assert stopped.returncode == 0 and home.wait(90) == 11

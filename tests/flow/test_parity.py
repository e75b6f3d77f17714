"""The same campaign on machines of this box, over ssh and in a cluster: the same journal, the same bytes."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.flow.campaigns import SmallCampaign, small_campaign
from tests.flow.test_slurm import queued_campaign
from tests.flow.test_ssh import far_campaign
from tests.providers.slurm.cluster import Cluster, cluster
from tests.providers.ssh.sshd import Rented, rented

#: What depends on where a machine is: whether its disk outlives its home or is a second copy, and how often
#: home looks at it.
_OF_PLACES = {"caches.pointed", "copy.verified", "disk.attached", "stream.ingested"}


@pytest.fixture(scope="module")
def slurm(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    with cluster(Path(tmp_path_factory.mktemp("slurm"))) as made:
        yield made


@pytest.fixture(scope="module")
def machine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Rented]:
    with rented(tmp_path_factory.mktemp("rented") / "machine") as found:
        yield found


def events(campaign: SmallCampaign) -> Mapping[str, list[str]]:
    """Return the types of each stream's events in their order, by the stream's place in the campaign."""
    found = {}
    for path in sorted(campaign.disk.glob("campaigns/small/journal/*.jsonl")):
        name = "home" if path.stem.startswith("home-") else path.stem
        told = [json.loads(line)["type"] for line in path.read_text().splitlines()]
        found[name] = [one for one in told if one not in _OF_PLACES]
    return found


def outcome(campaign: SmallCampaign) -> dict[str, Any]:
    job = campaign.folder / "job.py"
    job.write_text("import random\nrandom.seed(7)\n" + job.read_text())
    done = campaign.json("run")
    assert done["exit_code"] == 0, done
    runs = sorted(campaign.disk.glob("campaigns/small/runs/*"))
    return {
        "decision": done["decision"],
        "runs": [(run["id"], run["status"], run["steps"], len(run["attempts"])) for run in done["runs"]],
        "outputs": {
            str(path.relative_to(run)): path.read_bytes()
            for run in runs
            for path in sorted((run / "outputs").glob("*.csv"))
        },
        "checkpoints": [
            (step.parent.parent.name, step.name, path.name, path.read_bytes())
            for run in runs
            for step in sorted((run / "checkpoints").iterdir())
            for path in sorted(step.iterdir())
            if path.name != "manifest.json"
        ],
        "events": events(campaign),
    }


def test_where_a_campaign_runs_changes_nothing_but_places_and_times(
    tmp_path: Path, slurm: Cluster, machine: Rented
) -> None:
    folders = [tmp_path / name for name in ("local", "ssh", "slurm")]
    for folder in folders:
        folder.mkdir()
    here = outcome(small_campaign(folders[0]))
    by_ssh = outcome(far_campaign(folders[1], machine))
    in_jobs = outcome(queued_campaign(folders[2], slurm))

    for name in here:
        assert by_ssh[name] == here[name], name
        assert in_jobs[name] == here[name], name
    assert len(here["checkpoints"]) > 0

"""Digits on machines of this box, over ssh and in a cluster: the same journal, the same bytes."""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from tests.flow.campaigns import SmallCampaign
from tests.providers.slurm.cluster import Cluster, cluster
from tests.providers.ssh.sshd import Rented, rented

DIGITS = Path(__file__).resolve().parents[2] / "examples" / "digits"
#: What depends on where a machine is: whether its disk outlives its home or is a second copy, and how often
#: home looks at it.
_OF_PLACES = {"caches.kept", "caches.pointed", "copy.verified", "disk.attached", "stream.ingested"}


@dataclass(frozen=True)
class Digits(SmallCampaign):
    """The example, short: two of its runs, two epochs each. `there`: its disk, where that lies elsewhere."""

    more: Mapping[str, str] = field(default_factory=dict)
    there: Path | None = None

    @property
    def environment(self) -> dict[str, str]:
        return {**super().environment, **self.more}

    @property
    def disk(self) -> Path:
        return self.there or super().disk


def digits(
    folder: Path, provider: str, more: Mapping[str, str] | None = None, there: Path | None = None
) -> Digits:
    work = folder / "work"
    shutil.copytree(DIGITS, work, ignore=shutil.ignore_patterns("disk", "export", "__pycache__", "*.lock"))
    made = Digits(work, folder / "home", more or {}, there)
    made.edit("provider: local", f"provider: {provider}")
    made.edit("epochs: 12}", "epochs: 2}")
    made.edit("  wide: {changes: {width: 256}, priority: useful}\n", "")
    if there is not None:
        made.edit("disk: ./disk", f"disk: {there}")
    offers = work / "offers.yaml"
    offers.write_text(offers.read_text().replace("provider: local", f"provider: {provider}"))
    return made


@pytest.fixture(scope="module")
def slurm(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    with cluster(Path(tmp_path_factory.mktemp("slurm"))) as made:
        yield made


@pytest.fixture(scope="module")
def machine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Rented]:
    with rented(tmp_path_factory.mktemp("rented") / "machine") as found:
        python = Path(sys.executable).parent  # the packages of the job are there, as after a set-up
        (found.home / ".profile").write_text(f'export PATH="{python}:$PATH"\n')
        yield found


def events(campaign: SmallCampaign) -> Mapping[str, list[str]]:
    """Return the types of each stream's events in their order, by the stream's place in the campaign."""
    found = {}
    for path in sorted(campaign.disk.glob("campaigns/digits/journal/*.jsonl")):
        name = "home" if path.stem.startswith("home-") else path.stem
        told = [json.loads(line)["type"] for line in path.read_text().splitlines()]
        found[name] = [one for one in told if one not in _OF_PLACES]
    return found


def outcome(campaign: SmallCampaign) -> dict[str, Any]:
    done = campaign.json("run")
    assert done["exit_code"] == 0, done
    runs = sorted(campaign.disk.glob("campaigns/digits/runs/*"))
    return {
        "decision": done["decision"],
        "runs": [(run["id"], run["status"], run["steps"], len(run["attempts"])) for run in done["runs"]],
        "outputs": {
            str(path.relative_to(run.parent)): path.read_bytes()
            for run in runs
            for path in sorted((run / "outputs").rglob("*"))
            if path.suffix in (".csv", ".safetensors")
        },
        "checkpoints": [
            (step.parent.parent.name, step.name, path.name, path.read_bytes())
            for run in runs
            for step in sorted((run / "checkpoints").iterdir())
            for path in sorted(step.iterdir())
            if path.suffix == ".safetensors"  # in the rest is the state of Python's own generator
        ],
        "events": events(campaign),
    }


def test_where_digits_runs_changes_nothing_but_places_and_times(
    tmp_path: Path, slurm: Cluster, machine: Rented
) -> None:
    """The same run ids, decision, weights and predictions bit for bit, and events in the same order."""
    by_ssh = {"LASTRO_SSH_CONFIG": str(machine.config)}
    here = outcome(digits(tmp_path / "local", "local"))
    far = outcome(digits(tmp_path / "ssh", machine.spec, by_ssh, machine.home / "disk"))
    queued = outcome(digits(tmp_path / "slurm", "slurm", slurm.environment))

    for name in here:
        assert far[name] == here[name], name
        assert queued[name] == here[name], name
    assert len(here["checkpoints"]) > 0 and len(here["outputs"]) == 4

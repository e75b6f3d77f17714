"""Campaigns on two machines that are reached by ssh, each with a disk, a boot and a machine id of its own."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from lastro.paths import CampaignFolder, Disk
from lastro.procs.identity import table
from tests.flow.campaigns import DEADLINE_SECONDS, SmallCampaign, small_campaign, wait_for
from tests.providers.ssh.sshd import Rented, rented

SUM_TO_40 = 40 * 41 // 2


@dataclass(frozen=True)
class FarCampaign(SmallCampaign):
    """A small campaign on hosts `one` and `two`."""

    hosts: Mapping[str, Rented] = field(default_factory=dict)

    @property
    def environment(self) -> dict[str, str]:
        return {**super().environment, "LASTRO_SSH_CONFIG": str(self.folder.parent / "ssh_config")}

    @property
    def disk(self) -> Path:
        """Home's copy."""
        return next(self.home.glob("replicas/*"))

    def there(self, host: str) -> CampaignFolder:
        return Disk(self.hosts[host].home / "disk").campaign("small")

    def lives(self) -> list[tuple[str, int, str]]:
        """Return every attempt: its run, number and place."""
        told = self.json("status")
        places = {one["id"]: one["provider"] for one in told["machines"]}
        return [
            (run["name"], life["number"], places[life["machine"]].rpartition("@")[2])
            for run in told["runs"]
            for life in run["attempts"]
        ]

    def name(self, event: Mapping[str, Any]) -> str:
        """Return the name of the run that an event is about."""
        config = self.disk / "campaigns/small/runs" / event["run"] / "config.json"
        return str(json.loads(config.read_text())["name"])

    def events(self, kind: str) -> list[Mapping[str, Any]]:
        found = []
        for path in sorted(self.home.glob("campaigns/*/journal/*.jsonl")):
            lines = [json.loads(line) for line in path.read_text().splitlines()]
            found += [one for one in lines if one["type"] == kind]
        return found


@pytest.fixture
def campaign(tmp_path: Path) -> Iterator[FarCampaign]:
    with rented(tmp_path / "one", apart=True) as one, rented(tmp_path / "two", apart=True) as two:
        made = small_campaign(tmp_path)
        hosts = {"one": one, "two": two}
        campaign = FarCampaign(made.folder, made.home, hosts)
        config = [
            f"Host {name}\nHostName 127.0.0.1\nPort {host.port}\n{host.config.read_text()}"
            for name, host in hosts.items()
        ]
        (tmp_path / "ssh_config").write_text("\n".join(config))
        campaign.edit("provider: local", "hosts: [root@one, root@two]")
        campaign.edit("disk: ./disk", "disk: disk\nsilence: 4s")
        offers = campaign.folder / "offers.yaml"
        offers.write_text(offers.read_text().replace("provider: local", "provider: somebody"))
        try:
            yield campaign
        finally:
            for host in hosts.values():
                if host.process.poll() is not None:
                    host.up()
            made.lastro("stop", "--release", timeout=60, env=campaign.environment)


def processes_of(host: Rented) -> list[int]:
    """Return what lives on a host beside its sshd: everything that names its folder."""
    found = []
    for pid in table():
        try:
            environment = Path(f"/proc/{pid}/environ").read_bytes()
        except OSError:
            continue
        if f"HOME={host.home}\0".encode() in environment and pid != os.getpid():
            found.append(pid)
    return found


def command_of(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode()
    except OSError:
        return ""


def die(host: Rented) -> None:
    """Take a host away as a power cut does: nothing of it lives, nobody answers."""
    host.down()
    for pid in processes_of(host):
        os.kill(pid, signal.SIGKILL)


def test_runs_are_spread_over_hosts_and_close_at_home(campaign: FarCampaign) -> None:
    """Each host's machine is billed at that host's own price."""
    campaign.edit("pace: 0.02", "pace: 0.05")
    (campaign.folder / "offers.yaml").write_text(
        "offers:\n"
        "  - {name: first, kind: hourly, price: 1 USD, provider: root@one}\n"
        "  - {name: second, kind: hourly, price: 3 USD, provider: root@two}\n"
    )

    done = campaign.json("run")

    leases = {one["provider"].rpartition("@")[2]: one["lease"] for one in done["machines"]}
    assert {host: (lease["offer"], lease["price"]["amount"]) for host, lease in leases.items()} == {
        "one": ("first", "1.00"),
        "two": ("second", "3.00"),
    }

    assert done["exit_code"] == 0, done
    assert done["decision"]["verdict"] == "adopt"
    assert campaign.totals() == {"control": SUM_TO_40, "better": SUM_TO_40}
    assert sorted(campaign.lives()) == [("better", 1, "two"), ("control", 1, "one")]
    # Each disk has the run that worked there, and what home wrote of the other.
    held = {
        host: [run.name for run in campaign.there(host).runs.glob("*") if (run / "outputs").exists()]
        for host in campaign.hosts
    }
    assert [len(runs) for runs in held.values()] == [1, 1] and held["one"] != held["two"]
    assert all((campaign.there(host).close / "manifest.json").exists() for host in campaign.hosts)
    assert done["closing"]["state"] == "closed"
    assert campaign.lastro("journal", "verify").returncode == 0


@pytest.mark.parametrize(
    "take",
    [
        pytest.param(die, id="dies"),
        pytest.param(Rented.down, id="is cut off", marks=pytest.mark.long),
    ],
)
def test_a_run_whose_host_is_lost_goes_on_at_another_from_homes_copy(
    campaign: FarCampaign, take: Callable[[Rented], None]
) -> None:
    """It comes back: what was cut off has worked on meanwhile, is ended, and changes nothing that is here."""
    campaign.edit("pace: 0.02", "pace: 0.25")
    told = campaign.folder.parent / "told"
    with told.open("w") as out:
        home = campaign.start("run", stdout=out)
        wait_for(lambda: {"control"} & {campaign.name(one) for one in campaign.events("checkpoint.copied")})
        take(campaign.hosts["one"])
        wait_for(lambda: "control: attempt 2 on" in told.read_text())
        campaign.hosts["one"].up()
        assert home.wait(DEADLINE_SECONDS) == 0, told.read_text()

    assert campaign.totals() == {"control": SUM_TO_40, "better": SUM_TO_40}, told.read_text()
    moved = [one for one in campaign.lives() if one[0] == "control"]
    assert moved == [("control", 1, "one"), ("control", 2, "two")], told.read_text()
    started = [one for one in campaign.events("attempt.started") if one["attempt"] == 2]
    assert started[0]["committed_step"] >= 10
    assert not [pid for pid in processes_of(campaign.hosts["one"]) if "lastro.run" in command_of(pid)]
    assert campaign.lastro("journal", "verify").returncode == 0

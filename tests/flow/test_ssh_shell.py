"""`lastro shell` over ssh: a terminal there, ports that lead to it, cables that break."""

from __future__ import annotations

import http.client
import json
import re
import socket
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from lastro.procs.killtree import members
from tests.flow.campaigns import wait_for
from tests.flow.terminal import terminal
from tests.flow.test_shell import LOOK
from tests.flow.test_ssh import FarCampaign, far_campaign
from tests.providers.ssh.sshd import Rented, free_port, rented


@pytest.fixture(scope="module")
def machine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Rented]:
    """Its shell greets everybody, and its file for terminals puts another folder in front of PATH."""
    with rented(tmp_path_factory.mktemp("rented") / "machine") as found:
        (found.home / ".profile").write_text("echo Welcome\nexport FROM_PROFILE=yes\n")
        (found.home / ".bashrc").write_text("PATH=/nowhere:$PATH\n")
        yield found


@pytest.fixture(scope="module")
def campaign(tmp_path_factory: pytest.TempPathFactory, machine: Rented) -> Iterator[FarCampaign]:
    """One run is at work there, and no home drives it any more."""
    made = far_campaign(tmp_path_factory.mktemp("campaign"), machine)
    made.edit("provider: ssh", "silence: 4s\nprovider: ssh")
    made.edit("steps: 40", "steps: 40000")
    home = made.start("run")
    try:
        wait_for(lambda: made.there.root.exists() and made.step() > 3)
        home.kill()
        home.wait()
        yield made
    finally:
        home.kill()
        made.lastro("stop", "--release", timeout=60)


def ended(campaign: FarCampaign) -> Mapping[str, Any]:
    """Return how the last shell has ended, as the machine has recorded it."""
    streams = list(campaign.there.journal.glob("shell-*.jsonl"))
    events = [json.loads(line) for path in streams for line in path.read_text().splitlines()]
    return max((one for one in events if one["type"] == "shell.ended"), key=lambda one: str(one["at"]))


def in_shells(campaign: FarCampaign) -> bool:
    """Tell whether anything that a shell has started is alive on the machine."""
    tokens = [path.stem.removeprefix("shell-") for path in campaign.there.journal.glob("shell-*.jsonl")]
    return any(members(("LASTRO_SHELL", token)).all for token in tokens)


def test_a_terminal_there_is_the_campaigns_and_a_port_leads_to_it(campaign: FarCampaign) -> None:
    there, here = free_port(), free_port()
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        refused = campaign.lastro("shell", "--forward", f"{taken.getsockname()[1]}:{there}", "--", "true")
    with terminal(campaign, "shell", "--forward", f"{here}:{there}") as typed:
        wait_for(lambda: f"http://127.0.0.1:{here} leads to port {there} of ssh-" in typed.shown)
        typed.type(f'python -c "{LOOK}"')
        wait_for(lambda: '"here"' in typed.shown and typed.shown.count("}}") > 0)
        found = json.loads(re.search(r"\{\"here\".*\}\}", typed.shown.replace("\r\n", "")).group())  # type: ignore[union-attr]
        typed.type(f"python -m http.server {there} --bind 127.0.0.1 &")
        page = wait_for(lambda: _get(here))
        typed.type("kill %1; exit 5")
        code = typed.process.wait(60)

    assert (page, code, refused.returncode) == (200, 5, 2)
    assert "is taken" in refused.stderr and "another one: --forward" in refused.stderr
    names = found["names"]
    assert names["FROM_PROFILE"] == "yes"
    assert names["HF_HOME"] == f"{campaign.disk}/cache/huggingface"
    assert names["LASTRO_DISK"] == str(campaign.disk)
    assert names["PATH"].split(":")[0] == str(Path(found["python"]).parent) != "/nowhere"
    assert (Path(found["here"]) / "job.py").exists()
    assert ended(campaign)["code"] == 5
    # What happened there is in home's copy of the journal, after the next look.
    assert campaign.lastro("status").returncode == 0
    assert list(campaign.home.rglob("journal/shell-*.jsonl"))


def _get(port: int) -> int | None:
    try:
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=2)
        connection.request("GET", "/")
        return connection.getresponse().status
    except OSError:
        return None


@pytest.mark.long
def test_a_cable_that_breaks_is_told_and_the_command_there_is_ended_within_the_silence(
    campaign: FarCampaign,
) -> None:
    assert campaign.machine is not None
    told = campaign.folder.parent / "told"
    with told.open("wb") as out:
        typed = subprocess.Popen(
            [sys.executable, "-m", "lastro.cli", "shell", "--", "sleep", "600"],
            cwd=campaign.folder,
            env=campaign.environment,
            stdin=subprocess.PIPE,
            stderr=out,
            start_new_session=True,
        )
        wait_for(lambda: in_shells(campaign))
        campaign.machine.down()
        code = typed.wait(60)
        wait_for(lambda: not in_shells(campaign))
        away = campaign.lastro("shell", "--", "true")
        campaign.machine.up()

    assert code == 7
    assert "the connection to ssh-" in told.read_text() and "is ended within 4 s" in told.read_text()
    assert away.returncode == 7 and "does not answer" in away.stderr
    assert ended(campaign)["ended_by"] == "silence"
    # The code of a command that ends like a broken connection is the command's.
    assert campaign.lastro("shell", "--", "sh", "-c", "exit 255").returncode == 255


def test_a_command_that_is_told_to_end_ends_what_runs_there_without_waiting_for_any_silence(
    campaign: FarCampaign,
) -> None:
    typed = campaign.start("shell", "--", "sleep", "600")
    wait_for(lambda: in_shells(campaign))

    typed.terminate()

    assert typed.wait(60) != 0
    wait_for(lambda: not in_shells(campaign))
    assert ended(campaign)["why"] == "its terminal was left"

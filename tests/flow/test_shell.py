"""`lastro shell` on machines of the local provider: its environment, what it holds, and what ends it."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from lastro.clock import SystemClock
from lastro.paths import Home
from lastro.procs.killtree import members
from lastro.providers import jail
from lastro.providers.base import MachineState
from lastro.providers.local import Local
from tests.flow.campaigns import SmallCampaign, wait_for
from tests.flow.terminal import terminal

#: Tells what a program in a shell finds, as JSON.
LOOK = (
    "import json, os, sys; print(json.dumps("
    "{'here': os.getcwd(), 'python': sys.executable, 'names': dict(os.environ)}))"
)


def at_work(campaign: SmallCampaign) -> bool:
    """Tell whether a run is at work on its machine."""
    return any(campaign.disk.glob("campaigns/small/runs/*/attempts/1/process.json"))


def shells(campaign: SmallCampaign, kind: str) -> list[Mapping[str, Any]]:
    streams = sorted(campaign.disk.glob("campaigns/small/journal/shell-*.jsonl"))
    events = [json.loads(line) for path in streams for line in path.read_text().splitlines()]
    return [one for one in events if one["type"] == kind]


def machine_of(campaign: SmallCampaign) -> str:
    (machine,) = Local(Home(campaign.home), SystemClock()).machines()
    return machine.id


def state_of(campaign: SmallCampaign) -> MachineState:
    (machine,) = Local(Home(campaign.home), SystemClock()).machines()
    return machine.state


def only_control(campaign: SmallCampaign, steps: int) -> None:
    campaign.edit("{steps: 40, pace: 0.02, score: 6}", f"{{steps: {steps}, pace: 0.02, score: 6}}")
    campaign.edit("  better: {changes: {score: 8}, priority: required}", "  better: {changes: {score: 8}}")


def test_a_command_has_the_campaigns_environment_and_its_code_and_time_are_kept(
    campaign: SmallCampaign,
) -> None:
    only_control(campaign, 4000)
    campaign.start("run")
    wait_for(lambda: at_work(campaign))

    looked = campaign.lastro("shell", "--", "python", "-c", LOOK)
    failed = campaign.lastro("shell", "--json", "--", "sh", "-c", "echo heard; kill -9 $$")
    absent = campaign.lastro("shell", "--", "no-such-program")
    campaign.lastro("stop", "--release")

    found = json.loads(looked.stdout)
    machine = machine_of(campaign)
    scratch = Home(campaign.home).local_machine(machine).scratch
    assert (looked.returncode, absent.returncode) == (0, 127), looked.stderr
    assert Path(found["here"]).parent == scratch / "work"  # the folder that the run's code is in
    names = found["names"]
    assert names["LASTRO_MACHINE"] == machine
    assert names["HF_HOME"] == str(campaign.disk.absolute() / "cache/huggingface")
    assert names["HOME"] == str(scratch / "home")
    assert names["PATH"].split(os.pathsep)[0] == str(Path(found["python"]).parent)
    assert "LASTRO_ATTEMPT" not in names  # it is no life of a run, and publishes nothing as one
    told = json.loads(failed.stdout)
    assert (told["code"], told["exit_code"], told["machine"]) == (137, 137, machine)
    assert "heard" in failed.stderr and "share of the budget is used up in" in failed.stderr
    assert [one["code"] for one in shells(campaign, "shell.ended")].count(137) == 1
    assert all(one["seconds"] >= 0 for one in shells(campaign, "shell.ended"))
    assert "not let go" in shells(campaign, "shell.opened")[0]["why"]
    assert campaign.lastro("journal", "verify").returncode == 0


def test_an_open_shell_holds_its_machine_and_what_it_wrote_is_on_the_disk_when_the_machine_goes(
    campaign: SmallCampaign,
) -> None:
    only_control(campaign, 40)
    told = campaign.folder.parent / "told"
    with told.open("w") as out:
        home = campaign.start("run", stdout=out)
        wait_for(lambda: at_work(campaign))
        with terminal(campaign, "shell") as typed:
            wait_for(lambda: shells(campaign, "shell.opened"))
            typed.type("echo what was learned > ~/notes.txt; test -t 0 && echo ter''minal")
            wait_for(lambda: "terminal" in typed.shown)
            wait_for(lambda: "control: attempt 1 ended" in told.read_text())
            wait_for(lambda: "a shell is open on" in told.read_text())
            assert home.poll() is None and state_of(campaign) is MachineState.RUNNING
            typed.type("exit 5")
            assert typed.process.wait(30) == 5
        assert home.wait(90) == 0, told.read_text()

    assert state_of(campaign) is MachineState.GONE
    assert campaign.lastro("close", "--audit", "disk/campaigns/small").returncode == 0
    (kept,) = (campaign.disk / "rescued").rglob("notes.txt")
    assert kept.read_text() == "what was learned\n"


def test_with_home_off_and_its_terminal_killed_a_shell_holds_its_machine_for_the_silence_only(
    campaign: SmallCampaign,
) -> None:
    campaign.edit("provider: local", "provider: local\nsilence: 4s\nidle: 2s")
    only_control(campaign, 40)
    home = campaign.start("run")
    wait_for(lambda: at_work(campaign))
    typed = campaign.start("shell", "--", "sleep", "600")
    wait_for(lambda: shells(campaign, "shell.opened"))
    os.killpg(home.pid, signal.SIGKILL)
    home.wait()
    wait_for(lambda: any(campaign.disk.glob("campaigns/small/runs/*/attempts/1/exit.json")))
    # Nobody sends it work, and for longer than it waits: but somebody is there.
    wait_for(lambda: shells_have_beaten_for(campaign, 6.0))
    assert state_of(campaign) is MachineState.RUNNING
    typed.kill()  # no word to anybody
    typed.wait()

    wait_for(lambda: state_of(campaign) is MachineState.GONE)

    (ended,) = shells(campaign, "shell.ended")
    assert ended["ended_by"] == "silence" and "nobody was heard at home" in ended["why"]
    assert not members(("LASTRO_MACHINE", machine_of(campaign))).all


def shells_have_beaten_for(campaign: SmallCampaign, seconds: float) -> bool:
    """Tell whether the open shell is older than that, by its own sign."""
    (sign,) = campaign.disk.glob("campaigns/small/shells/*/sign")
    return sign.stat().st_mtime - sign.parent.joinpath("order.json").stat().st_mtime > seconds


@pytest.mark.long
@pytest.mark.skipif(jail.why_not() is not None or os.geteuid() != 0, reason=str(jail.why_not()))
def test_the_shell_of_a_jailed_machine_is_in_its_jail(
    campaign: SmallCampaign, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(jail.LEVEL, jail.JAILED)
    only_control(campaign, 4000)
    campaign.start("run")
    wait_for(lambda: at_work(campaign))

    words = "hostname; touch /usr/mark || echo kept; tail -n +3 /proc/net/dev | cut -d: -f1 | tr -d ' '"
    looked = campaign.lastro("shell", "--", "sh", "-c", words)
    forwarded = campaign.lastro("shell", "--forward", "8888", "--", "true")
    node = campaign.json("status")["machines"][0]["node"]
    campaign.lastro("stop", "--release")

    assert looked.stdout.splitlines() == [node, "kept", "lo"], looked.stderr
    assert forwarded.returncode == 7 and "a network of its own" in forwarded.stderr

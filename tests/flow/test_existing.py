"""What `lastro status` says of what exists at the providers, of what nobody knows and of the unknown."""

from __future__ import annotations

import socket
from dataclasses import replace
from datetime import datetime, timezone
from pathlib import Path

from lastro.clock import SystemClock
from lastro.flow.existing import Existing, existing, look_at, told
from lastro.paths import Home
from lastro.providers.base import Machine, MachineRequest, MachineState, Trace
from lastro.providers.local import Local
from tests.flow.campaigns import SmallCampaign, wait_for

MACHINE = Machine(
    id="local-1",
    node="n",
    tag="small-1-1-a",
    state=MachineState.RUNNING,
    workdir=Path(),
    created_at=datetime(2026, 11, 30, tzinfo=timezone.utc),
)


def test_what_is_there_has_its_tag_and_campaign_and_what_has_none_is_told_too() -> None:
    """Known and alive; of no campaign; gone; gone and alive; of another home."""
    machines = [
        MACHINE,
        replace(MACHINE, id="local-2", tag="lost"),
        replace(MACHINE, id="local-3", state=MachineState.GONE),
        replace(MACHINE, id="local-4", state=MachineState.GONE),
    ]
    traces = [Trace(machine=name, what="process 7") for name in ("local-1", "local-4", "local-5")]

    found = list(existing(machines, traces, {MACHINE.tag: "small"}.get))

    assert found[:2] == [
        Existing(machine="local-1", tag=MACHINE.tag, state="running", campaign="small", what="process 7"),
        Existing(machine="local-2", tag="lost", state="running", campaign=None, what=None),
    ]
    assert [(one.machine, one.state, one.tag) for one in found[2:]] == [
        ("local-4", "gone", MACHINE.tag),
        ("local-5", None, None),
    ]


def test_who_does_not_answer_in_time_is_unknown_and_the_others_are_told(tmp_path: Path) -> None:
    """It takes the connection, and says nothing; another name is no provider's."""
    with socket.create_server(("127.0.0.1", 0)) as mute:
        spec = f"ssh://nobody@127.0.0.1:{mute.getsockname()[1]}"
        looked = look_at(
            {spec, "here", "nowhere"}, Home(tmp_path), SystemClock(), lambda _tag: None, seconds=1.0
        )

    by_name = {one.provider: one for one in looked}
    assert by_name[spec].trouble == "no answer within 1 s"
    assert "no provider" in str(by_name["nowhere"].trouble)
    assert by_name["here"].trouble is None
    assert [line for line in told(looked) if spec in line] == [
        f"at {spec}: what exists there is unknown: no answer within 1 s"
    ]


def test_status_names_a_machine_that_is_in_no_journal(campaign: SmallCampaign) -> None:
    assert campaign.lastro("run", "--only", "control").returncode == 0
    local = Local(Home(campaign.home), SystemClock())
    stray = local.create(MachineRequest(tag="stray", campaign="small", disk=campaign.disk, lease=None))
    wait_for(lambda: local.describe(stray.id).state is MachineState.RUNNING)

    (provider,) = campaign.json("status")["providers"]
    shown = campaign.lastro("status").stdout

    mine = [one for one in provider["found"] if one["machine"] == stray.id]
    assert [(one["tag"], one["state"], one["campaign"]) for one in mine] == [("stray", "running", None)]
    assert f"at local: {stray.id} is running, tag stray, which no campaign of this home knows" in shown

"""What a home remembers of machines, over campaigns that really ran, and that it says so in time."""

from __future__ import annotations

from pathlib import Path

import pytest

from lastro.clock import SystemClock
from lastro.errors import UsageError
from lastro.flow.machine_memory import bad_record, remember, write_note
from lastro.paths import Home
from lastro.providers.here import host_node
from lastro.stack import node_id
from tests.flow.campaigns import SmallCampaign


def test_a_campaign_that_ran_is_remembered_from_the_wish_to_the_first_step(campaign: SmallCampaign) -> None:
    campaign.edit("steps: 40", "steps: 4")
    assert campaign.lastro("run").returncode == 0

    memory = remember(Home(campaign.home), SystemClock())

    (one,) = memory.provisions
    assert (one.provider, one.offer, one.given_up) == ("local", "box", None)
    times = [one.request, one.boot, one.reachable, one.canary, one.first_step]
    assert all(seconds is not None and seconds >= 0 for seconds in times)
    (node,) = memory.nodes
    assert {one.node, node_id()[0]} <= set(node.names)
    assert node.hours is not None and node.faults == () and node.high is not None


def test_a_machine_with_a_note_is_named_before_it_is_used_again(campaign: SmallCampaign) -> None:
    """Of this box: it is known by its provider's name before, and by its own after, the preflight."""
    campaign.edit("provider: local", "provider: here")
    campaign.edit("steps: 40", "steps: 4")
    noted = campaign.lastro("preflight", "--note", host_node(), "its disk is loud")
    assert noted.returncode == 0

    done = campaign.lastro("run")

    assert done.returncode == 0, done.stderr
    (line,) = [line for line in done.stdout.splitlines() if "its disk is loud" in line]
    assert "careful" in line and host_node() in line
    streams = [path.read_text() for path in campaign.disk.glob("campaigns/small/journal/home-*.jsonl")]
    lines = [line for line in streams[0].splitlines() if '"machine.recalled"' in line]
    assert len(lines) == 1 and '"notes":1' in lines[0].replace(" ", "")
    assert lines[0] in streams[0].partition('"run.dispatched"')[0]


def test_notes_are_found_under_every_name_and_nothing_speaks_against_the_rest(tmp_path: Path) -> None:
    home, clock = Home(tmp_path), SystemClock()
    write_note(home, clock, "node-1", " two lines\nof it ")

    record = bad_record(home, clock, "node-1")

    assert record is not None and record.bad == "note: two lines\nof it"
    assert bad_record(home, clock, "node-2") is None


@pytest.mark.parametrize(
    ("node", "text"), [("../up", "x"), ("", "x"), ("node-1", "  "), ("node-1", "x" * 501)]
)
def test_what_is_no_note_is_refused_and_nothing_is_written(tmp_path: Path, node: str, text: str) -> None:
    with pytest.raises(UsageError):
        write_note(Home(tmp_path), SystemClock(), node, text)

    assert list(tmp_path.iterdir()) == []


def test_a_journal_that_cannot_be_believed_is_named_and_hides_no_other(campaign: SmallCampaign) -> None:
    home, clock = Home(campaign.home), SystemClock()
    write_note(home, clock, "node-1", "still here")
    home.probes.parent.mkdir(parents=True)
    home.probes.write_text('{"seq": 9}\n')

    memory = remember(home, clock)

    assert len(memory.unread) == 1 and memory.of("node-1") is not None

"""What home does when its own folder, or the disk, is not what it was."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.flow.campaigns import SmallCampaign


def _stream_at_home(campaign: SmallCampaign) -> Path:
    (stream,) = (campaign.home / "campaigns").glob("*/journal/home-*.jsonl")
    return stream


def _stream_on_disk(campaign: SmallCampaign) -> Path:
    (stream,) = campaign.disk.glob("campaigns/small/journal/home-*.jsonl")
    return stream


@pytest.mark.parametrize("kept", [0, 2000])
def test_what_home_has_lost_of_its_stream_comes_back_from_the_disk(
    campaign: SmallCampaign, kept: int
) -> None:
    campaign.lastro("plan", "--freeze")
    before = _stream_on_disk(campaign).read_bytes()
    if kept:
        _stream_at_home(campaign).write_bytes(before[:kept])
    else:
        _stream_at_home(campaign).unlink()

    again = campaign.lastro("plan", "--freeze")

    assert again.returncode == 0
    assert _stream_at_home(campaign).read_bytes() == before == _stream_on_disk(campaign).read_bytes()


def test_two_stories_of_one_stream_are_not_mixed(campaign: SmallCampaign) -> None:
    campaign.lastro("plan", "--freeze")
    story = _stream_on_disk(campaign).read_bytes()
    _stream_on_disk(campaign).write_bytes(story.replace(b"stream.opened", b"stream.openEd"))

    refused = campaign.lastro("plan", "--freeze")

    assert refused.returncode == 8
    assert "different stories" in refused.stderr
    assert _stream_at_home(campaign).read_bytes() == story


def test_without_its_disk_a_campaign_is_not_closed(campaign: SmallCampaign) -> None:
    campaign.lastro("run", "--only", "control")
    aside = campaign.folder / "unmounted"
    campaign.disk.rename(aside)

    refused = campaign.lastro("close")
    aside.rename(campaign.disk)
    result = campaign.json("close")

    assert refused.returncode == 8
    assert str(campaign.disk) in refused.stderr
    assert result["decision"]["verdict"] == "undecided"
    assert result["deliverables"][0]["status"] == "accepted"


@pytest.mark.parametrize(
    ("root", "record", "command"),
    [
        ("home", "home.json", ("plan", "--freeze")),
        ("home", "campaigns/*/campaign.json", ("status",)),
        ("work", "disk/.lastro/disk.json", ("plan", "--freeze")),
    ],
)
def test_a_record_that_is_not_what_lastro_writes_is_named(
    campaign: SmallCampaign, root: str, record: str, command: tuple[str, ...]
) -> None:
    campaign.lastro("plan", "--freeze")
    (path,) = (campaign.home.parent / root).glob(record)
    path.write_text("{}")

    done = campaign.lastro(*command)

    assert done.returncode == 8
    assert str(path) in done.stderr
    assert "Traceback" not in done.stderr

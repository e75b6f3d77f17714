"""Whose part of a shared copy a file is."""

from __future__ import annotations

from pathlib import Path

import pytest

from lastro import atomic, strictjson
from lastro.paths import CampaignFolder, RunFolder
from lastro.providers.ssh.share import Part, last_attempt, place_of_run, writer_of

#: `m-1` is on host one, `m-2` on host two; nobody knows others.
PLACES = {"m-1": "one", "m-2": "two"}


def claim(path: Path, machine: str) -> None:
    atomic.make_folder(path.parent)
    path.write_text(strictjson.pretty({"machine": machine}))


@pytest.fixture
def campaign(tmp_path: Path) -> CampaignFolder:
    """Run `r`: attempt 1 on host one, which was given up by a home; attempt 2 on host two."""
    campaign = CampaignFolder(tmp_path)
    run = campaign.run("r")
    claim(run.claim(1), "m-1")
    claim(run.claim(2), "m-2")
    claim(run.seat(1), "m-1")
    claim(run.seat(2), "home-abc")
    claim(run.seat(3), "m-2")
    return campaign


@pytest.mark.parametrize(
    ("name", "writer"),
    [
        ("journal/r-1.jsonl", "one"),
        ("journal/r-2.jsonl", "two"),
        ("journal/r-3.jsonl", None),
        ("journal/home-abc.jsonl", None),
        ("runs/r/attempts/1/log.txt", "one"),
        ("runs/r/attempts/2/log.txt", "two"),
        ("runs/r/claims/1.json", "one"),
        ("runs/r/supervisor.beat", "two"),
        ("runs/r/outputs/items.jsonl", "two"),
        ("runs/r/seats/3.json", None),
        ("plan.json", None),
        ("owners/1.json", None),
        ("runs/other/supervisor.log", None),
    ],
)
def test_a_file_is_written_where_its_attempt_or_the_last_supervisor_was(
    campaign: CampaignFolder, name: str, writer: str | None
) -> None:
    assert writer_of(campaign, name, PLACES.get) == writer


def test_a_seat_that_a_home_has_taken_away_is_still_of_who_sat_there(campaign: CampaignFolder) -> None:
    run = RunFolder(campaign.runs / "r")
    run.seat(3).unlink()

    assert place_of_run(run, PLACES.get) == "one"
    assert last_attempt(run) == 2


def test_what_a_host_says_of_an_attempt_elsewhere_is_not_taken(
    campaign: CampaignFolder, tmp_path: Path
) -> None:
    one = Part(tmp_path / "marker", "one", PLACES.get)

    def takes(path: str) -> bool:
        return one.takes(campaign, {"path": path, "offset": 0, "length": 10})

    assert takes("journal/r-1.jsonl") and takes("runs/r/attempts/1/log.txt") and takes("journal/r-3.jsonl")
    assert not takes("journal/r-2.jsonl") and not takes("runs/r/supervisor.beat")


def test_an_older_copy_of_a_homes_stream_is_not_taken(campaign: CampaignFolder, tmp_path: Path) -> None:
    stream = campaign.stream("home-abc")
    atomic.make_folder(stream.parent)
    stream.write_bytes(b"x" * 100)
    part = Part(tmp_path / "marker", "one", PLACES.get)

    def takes(offset: int, length: int) -> bool:
        return part.takes(campaign, {"path": "journal/home-abc.jsonl", "offset": offset, "length": length})

    assert not takes(0, 90) and not takes(90, 10)
    assert takes(0, 101) and takes(100, 1)

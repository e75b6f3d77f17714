"""docs/recipes.md, tried over a real sshd against machines that are laid out in the same way."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from tests.flow.campaigns import SmallCampaign, small_campaign, wait_for
from tests.flow.layouts import LAYOUTS, Layout, Place, machine_of

SUM_TO_40 = 40 * 41 // 2


@dataclass(frozen=True)
class Recipe(SmallCampaign):
    """A small campaign on a machine of a layout."""

    config: Path = Path()

    @property
    def environment(self) -> dict[str, str]:
        return {**super().environment, "LASTRO_SSH_CONFIG": str(self.config)}


def recipe(folder: Path, place: Place) -> Recipe:
    made = small_campaign(folder)
    campaign = Recipe(made.folder, made.home, place.machine.config)
    campaign.edit("provider: local", f"provider: {place.machine.spec}")
    campaign.edit("disk: ./disk", f"disk: {place.layout.disk}")
    campaign.edit("pace: 0.02", "pace: 0.1")
    offers = campaign.folder / "offers.yaml"
    offers.write_text(offers.read_text().replace("provider: local", f"provider: {place.machine.spec}"))
    return campaign


def steps(place: Place) -> int:
    logs = place.at(place.layout.disk).glob("campaigns/small/runs/*/attempts/*/log.txt")
    return max((path.read_text().count("step") for path in logs), default=0)


def totals(place: Place) -> list[int]:
    found = place.at(place.layout.disk).glob("campaigns/small/runs/*/outputs/total.json")
    return [json.loads(path.read_text())["total"] for path in found]


@contextmanager
def at_work(layout: Layout, folder: Path) -> Iterator[tuple[Recipe, Place]]:
    """Give a campaign that has saved a checkpoint on a machine."""
    folder.mkdir(exist_ok=True)
    with machine_of(layout, folder / "machine") as place:
        campaign = recipe(folder, place)
        yield campaign, place


STOPPED = [name for name, layout in LAYOUTS.items() if layout.stop_keeps is not None]


@pytest.mark.long
@pytest.mark.parametrize("name", STOPPED)
def test_after_a_stop_and_a_start_it_goes_on_from_what_the_provider_has_kept(
    name: str, tmp_path: Path
) -> None:
    with at_work(LAYOUTS[name], tmp_path) as (campaign, place):
        home = campaign.start("run")
        wait_for(lambda: steps(place) > 12)
        place.stop_and_start()

        assert home.wait(120) == 0
        assert totals(place) == [SUM_TO_40, SUM_TO_40]
        attempts = campaign.json("status")["runs"][0]["attempts"]
        assert [one["number"] for one in attempts] == [1, 2]
        assert attempts[1]["resumed_step"] >= 10


def move(campaign: Recipe, old: Place, new: Place) -> Recipe:
    """Write another machine's address into the campaign's files, as its renter does."""
    for name in ("campaign.yaml", "offers.yaml"):
        path = campaign.folder / name
        path.write_text(path.read_text().replace(old.machine.spec, new.machine.spec))
    return replace(campaign, config=new.machine.config)


@pytest.mark.long
@pytest.mark.parametrize("name", LAYOUTS)
def test_after_a_delete_the_next_machine_goes_on_from_the_disk_or_says_what_was_lost(
    name: str, tmp_path: Path
) -> None:
    with at_work(LAYOUTS[name], tmp_path) as (campaign, place):
        home = campaign.start("run")
        wait_for(lambda: steps(place) > 12)
        os.killpg(home.pid, signal.SIGKILL)
        home.wait()
        place.halt()

        unknown = campaign.lastro("stop", "--release")
        away = campaign.json("status")
        (rented,) = away["machines"]
        gone = campaign.lastro("stop", "--gone", rented["id"], "--why", "terminated on its page")

        assert unknown.returncode == 7, (unknown.stdout, unknown.stderr)
        assert "lastro stop --gone MACHINE" in unknown.stderr
        assert [("does not answer" in one["trouble"], one["found"]) for one in away["providers"]] == [
            (True, [])
        ]
        assert gone.returncode == 0 and "terminated on its page" in gone.stdout, gone.stderr
        with machine_of(place.layout, tmp_path / "next", place) as second:
            moved = move(campaign, place, second)
            done = moved.lastro("run")
            assert done.returncode == 0, done.stdout + done.stderr
            assert totals(second) == [SUM_TO_40, SUM_TO_40]
            status = moved.json("status")
            machines, lives = [one["state"] for one in status["machines"]], status["runs"][0]["attempts"]
            if place.layout.disk in place.layout.delete_keeps:
                assert machines == ["gone", "gone"]
                assert [one["end"] for one in lives][:1] == ["lost"] and lives[1]["resumed_step"] >= 10
            else:
                assert "begun on another disk" in done.stdout and "here it begins anew" in done.stdout
                assert [one["number"] for one in lives] == [1]

"""Clocks that are set in the middle of a campaign: machine time, budget and order of use do not notice."""

from __future__ import annotations

import os
from dataclasses import replace
from datetime import timedelta
from decimal import Decimal
from pathlib import Path

import pytest

from lastro import strictjson
from lastro.clock import ManualClock, Stamp, SystemClock, elapsed, iso
from lastro.flow.limits import limits_of
from lastro.flow.session import Facts, Session, known_sessions
from lastro.journal.events import EventType
from lastro.journal.projections import project
from lastro.paths import Home
from lastro.providers.base import MachineRequest
from lastro.providers.here import Here
from lastro.rules import judge_limits
from tests.flow.test_policy_money import plan_of
from tests.view.story import HOURLY, START, Story

YEAR = timedelta(days=365)


@pytest.mark.parametrize(
    ("since", "until", "seconds"),
    [
        (Stamp(START, "a", 5.0), Stamp(START + YEAR, "a", 65.0), 60.0),
        (Stamp(START, "a", 5.0), Stamp(START - YEAR, "a", 65.0), 60.0),
        (Stamp(START, "a", 5.0), Stamp(START + timedelta(seconds=90), "b", 3.0), 90.0),  # a reboot
        (Stamp(START), Stamp(START + timedelta(seconds=90)), 90.0),  # no boot is known
        (Stamp(START, "a", 5.0), Stamp(START - YEAR, "b", 3.0), None),
    ],
)
def test_time_is_measured_within_a_boot_and_unknown_where_the_wall_clock_went_back(
    since: Stamp, until: Stamp, seconds: float | None
) -> None:
    assert elapsed(since, until) == seconds


@pytest.mark.parametrize("step", [YEAR, -YEAR])
def test_a_provider_measures_the_use_of_a_machine_over_a_step_of_the_clock(
    tmp_path: Path, step: timedelta
) -> None:
    clock = ManualClock()
    here = Here(Home(tmp_path / "home"), clock)
    request = MachineRequest(tag="t", campaign="c", disk=tmp_path, lease=None, workdir=tmp_path)
    machine = here.create(request)

    clock.sleep(60)
    clock.set(clock.now() + step)
    living = here.describe(machine.id).used_seconds
    clock.sleep(30)
    here.delete(machine.id)
    clock.sleep(600)

    assert living == 60.0
    assert here.describe(machine.id).used_seconds == 90.0


def _rented(boot: str = "a") -> Story:
    story = Story()
    story.machine("m-1", 0, HOURLY)
    (created,) = [e for e in story.streams["home-1"] if e.type is EventType.MACHINE_CREATED]
    born = replace(created, facts={**created.facts, "born": Stamp(START, boot, 100.0).as_json()})
    story.streams["home-1"] = [born if e is created else e for e in story.streams["home-1"]]
    return story


@pytest.mark.parametrize("step", [YEAR, -YEAR])
def test_a_step_of_home_s_clock_neither_bills_nor_ends_a_budget(step: timedelta) -> None:
    now = Stamp(START + timedelta(minutes=30) + step, "a", 100.0 + 1800.0)

    view = project(_rented().streams, now.at, now)
    (machine,) = view.machines
    limits = limits_of(plan_of(), view, machine)

    assert machine.seconds == 1800.0
    assert view.cost.total is not None and view.cost.total.amount == Decimal("0.30")
    assert limits.billed_since == iso(now.at - timedelta(minutes=30))
    assert judge_limits(limits, now.at, leaving=30.0) is None


def test_use_across_a_clock_that_went_back_is_unknown_and_not_free() -> None:
    now = START - YEAR

    view = project(_rented().streams, now, Stamp(now, "b", 7.0))

    assert [machine.seconds for machine in view.machines] == [None]
    assert view.cost.total is None
    assert view.cost.reason is not None and "a clock was set back" in view.cost.reason


def test_the_campaign_that_was_used_last_is_counted_and_not_read_from_file_times(tmp_path: Path) -> None:
    home = Home(tmp_path / "home")
    for name in ("zebra", "ant", "zebra", "mule"):
        facts = Facts(name, str(tmp_path / f"{name}.yaml"), str(tmp_path / "disk"), "here", f"{name}-1")
        with Session(home, facts, SystemClock()).owned() as writer:
            assert writer is not None
    for age, path in enumerate(sorted(home.campaigns.glob("*/campaign.json"))):
        os.utime(path, (1000.0 - age, 1000.0 - age))

    names = [session.facts.name for session in known_sessions(home, SystemClock())]

    assert names == ["ant", "zebra", "mule"]
    assert strictjson.read(home.campaign("mule-1").facts)["used"] == 4

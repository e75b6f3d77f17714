"""Limits on the machine, with real processes and nobody at home."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime, timedelta, timezone, tzinfo
from decimal import Decimal
from pathlib import Path

import pytest

from lastro import strictjson
from lastro.billing import Lease, LeaseKind
from lastro.clock import SystemClock, iso
from lastro.journal.events import EventType
from lastro.journal.signals import Heartbeat
from lastro.journal.streams import StreamWriter
from lastro.paths import CampaignFolder, RunFolder, stream_of_attempt
from lastro.procs.killtree import end_tree
from lastro.rules import Cause, End, Limits
from lastro.run import limits as run_limits
from lastro.run.limits import LimitWatch, release_after, releases
from lastro.run.seen import Seen
from lastro.units import Money
from tests.run.jobs import events_of, order_for, start_supervisor, write_order

SAVES_ON_TERM = """
import os, signal, sys, time
def leave(*_):
    open(os.environ["LASTRO_OUTPUTS"] + "/saved", "w").write("x")
    sys.exit(85)
signal.signal(signal.SIGTERM, leave)
time.sleep(600)
"""


@pytest.fixture(autouse=True)
def _nothing_stays_alive(tmp_path: Path) -> Iterator[None]:
    yield
    for folder in tmp_path.glob("disk/campaigns/*/runs/*/attempts/*"):
        end_tree(("LASTRO_ATTEMPT", str(folder)))
    end_tree(("LASTRO_RELEASE", str(tmp_path / "release.json")))  # what keeps vigil on a machine


def soon(seconds: float) -> str:
    return iso(datetime.now(timezone.utc) + timedelta(seconds=seconds))


def supervised(tmp_path: Path, limits: Limits, script: str = SAVES_ON_TERM, **environment: str) -> RunFolder:
    """Let a supervisor carry out a run with these limits to its end. Nobody has measured a save: 0.5 s."""
    folder, order = order_for(tmp_path, sys.executable, "-c", script)
    write_order(folder, order, limits=limits, grace_seconds=0.5)
    start_supervisor(folder, **environment).wait(60)
    return folder


def test_before_the_lease_ends_the_job_saves_and_the_run_goes_on_elsewhere(tmp_path: Path) -> None:
    folder = supervised(tmp_path, Limits(lease_end_at=soon(7.5)))

    reached = next(event for event in events_of(folder, 1) if event.type is EventType.LIMIT_REACHED)
    assert reached.facts["limit"] == "lease_end"
    assert (folder.outputs / "saved").exists()
    assert events_of(folder, 1)[-1].facts["verdict"] == "interrupted"


def test_a_budget_pauses_the_run_and_the_machine_is_asked_to_go(tmp_path: Path) -> None:
    """0.36 USD an hour are 0.0001 a second: 0.0008 USD last eight seconds."""
    hourly = Lease(offer="box", kind=LeaseKind.HOURLY, price=Money(Decimal("0.36"), "USD"))
    limits = Limits(budget=Money(Decimal("0.0008"), "USD"), lease=hourly, billed_since=soon(0))
    release = tmp_path / "release.json"

    folder = supervised(tmp_path, limits, LASTRO_RELEASE=str(release))

    ended = events_of(folder, 1)[-1].facts
    assert ended["verdict"] == "paused"
    assert "budget" in ended["why"]
    assert strictjson.read(release) == {"why": "budget"}


def test_a_window_that_is_over_ends_a_job_that_ignores_everything(tmp_path: Path) -> None:
    script = "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); time.sleep(600)"

    folder = supervised(tmp_path, Limits(deadline_at=soon(-1)), script)

    ended = events_of(folder, 1)[-1].facts
    assert ended["verdict"] == "paused"
    assert "deadline" in ended["why"] and "grace" in ended["why"]


def test_a_job_that_does_nothing_at_all_is_paused(tmp_path: Path) -> None:
    folder = supervised(tmp_path, Limits(idle_seconds=1.0))

    assert "idle" in events_of(folder, 1)[-1].facts["why"]
    assert (folder.outputs / "saved").exists()


@pytest.mark.parametrize(
    "work",
    [
        "(Path('got').open('ab').write(b'x' * 4096), time.sleep(0.05))",  # bytes that come in
        "sum(range(200000))",  # processors
        "(print('.', flush=True), time.sleep(0.1))",  # output
    ],
)
def test_what_takes_long_and_does_something_is_not_idle(tmp_path: Path, work: str) -> None:
    """Five times the limit without a step or a save."""
    script = (
        "import time; from pathlib import Path\n"
        f"end = time.monotonic() + 5\nwhile time.monotonic() < end:\n    {work}"
    )

    folder = supervised(tmp_path, Limits(idle_seconds=1.0), script)

    assert events_of(folder, 1)[-1].facts["verdict"] == "completed"


def test_a_job_is_not_idle_while_somebody_has_a_shell_on_its_machine(tmp_path: Path) -> None:
    """The shell gives signs for four seconds; the limit is one."""
    folder, order = order_for(tmp_path, sys.executable, "-c", SAVES_ON_TERM)
    write_order(folder, order, limits=Limits(idle_seconds=1.0), grace_seconds=0.5)
    shell = CampaignFolder(Path(order.campaign_folder)).shell("t")
    shell.root.mkdir(parents=True)
    shell.order.write_text(strictjson.dumps({"machine": order.machine, "silence_seconds": 2.0}))
    sign = Heartbeat(shell.sign)
    supervisor = start_supervisor(folder)
    for _second in range(8):
        sign.beat(1)
        time.sleep(0.5)
    sign.beat(0)
    left_at = iso(datetime.now(timezone.utc))
    supervisor.wait(60)

    reached = next(event for event in events_of(folder, 1) if event.type is EventType.LIMIT_REACHED)
    assert reached.facts["limit"] == "idle" and reached.at > left_at


def test_a_pilot_that_is_over_leaves_the_machine_to_who_has_a_shell_there() -> None:
    pilot = Cause(end=End.LIMIT, why="the pilot is over", limit="pilot")

    assert releases(pilot) and not releases(pilot, held=True)
    assert releases(Cause(end=End.LIMIT, why="because", limit="budget"), held=True)


def test_only_a_limit_lets_the_machine_go(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    release = tmp_path / "release.json"
    monkeypatch.setenv("LASTRO_RELEASE", str(release))

    release_after(Cause(end=End.ASKED, why="lunch"))
    assert not release.exists()
    release_after(Cause(end=End.LIMIT, why="because", limit="lease_end"))
    assert strictjson.read(release) == {"why": "lease end"}


def test_a_lot_stays_while_a_person_decides_after_a_pilot(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    release = tmp_path / "release.json"
    monkeypatch.setenv("LASTRO_RELEASE", str(release))
    over = Cause(end=End.LIMIT, why="the pilot is over", limit="pilot")

    release_after(over, Lease(offer="box", kind=LeaseKind.LOT, price=None, term_seconds=3600))
    assert not release.exists()
    release_after(over, Lease(offer="box", kind=LeaseKind.HOURLY, price=None))
    assert strictjson.read(release) == {"why": "pilot"}


def test_a_pilot_that_is_over_saves_and_pauses_its_run(tmp_path: Path) -> None:
    folder = supervised(tmp_path, Limits(work_seconds=1.0))

    assert events_of(folder, 1)[-1].facts["verdict"] == "paused"
    assert "the pilot is over" in events_of(folder, 1)[-1].facts["why"]
    assert (folder.outputs / "saved").exists()


def test_a_pilot_counts_what_earlier_attempts_have_worked(tmp_path: Path) -> None:
    """90 s before and 9 s now are no more than 99; with one second less the pilot is over."""
    folder, order = order_for(tmp_path, "true")
    campaign = CampaignFolder(Path(order.campaign_folder))
    earlier = StreamWriter(campaign.stream(stream_of_attempt(order.run, 1)), SystemClock(), {})
    earlier.append(EventType.ATTEMPT_STARTED, run=order.run, attempt=1)
    earlier.append(EventType.ATTEMPT_ENDED, cause={}, seconds=90.0)
    earlier.close()
    folder.attempt(2).root.mkdir(parents=True)
    stream = StreamWriter(tmp_path / "s-2.jsonl", SystemClock(), {})

    told = [
        LimitWatch(folder.attempt(2), replace(order, limits=Limits(work_seconds=limit)), stream).look(
            Seen(now=9.0, started=0.0, step=lambda: 1, job=1)
        )
        for limit in (99.5, 98.5)
    ]

    assert told[0] is None
    assert told[1] is not None and told[1].limit == "pilot"


class _StepsAYear(datetime):
    """The wall clock, which is a year later at each look."""

    years = 0

    @classmethod
    def now(cls, tz: tzinfo | None = None) -> _StepsAYear:
        cls.years += 1
        moment = datetime.now(tz) + timedelta(days=365 * (cls.years - 1))
        return cls.fromtimestamp(moment.timestamp(), tz)


def test_a_clock_that_steps_between_two_attempts_of_a_supervisor_ends_none_of_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    limits = Limits(deadline_at=iso(datetime.now(timezone.utc) + timedelta(hours=1)))
    folder, order = order_for(tmp_path, "true")
    order = replace(order, limits=limits)
    stream = StreamWriter(tmp_path / "s-1.jsonl", SystemClock(), {})
    folder.attempt(1).root.mkdir(parents=True)
    monkeypatch.setattr("lastro.run.limits.datetime", _StepsAYear)
    run_limits._beginning.cache_clear()

    told = [
        LimitWatch(folder.attempt(1), order, stream).look(Seen(now=1.0, started=0.0, step=lambda: 1, job=1))
        for _attempt in range(2)
    ]
    run_limits._beginning.cache_clear()

    assert told == [None, None]

"""Jobs and orders for the supervisor's tests: real processes that speak the signal files by hand."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from lastro import atomic, strictjson
from lastro.journal.events import EventType
from lastro.journal.streams import Event, read_stream
from lastro.paths import CampaignFolder, RunFolder, stream_of_attempt
from lastro.rules import CheckpointPolicy, Order

RUN = "0123456789abcdef"
DEADLINE_SECONDS = 60.0


def order_for(tmp_path: Path, *command: str) -> tuple[RunFolder, Order]:
    """Write the order of a run of `command` and return both."""
    campaign = CampaignFolder(tmp_path / "disk" / "campaigns" / "c")
    workdir = tmp_path / "work"
    workdir.mkdir(exist_ok=True)
    order = Order(
        campaign="c",
        run=RUN,
        name="control",
        command=command,
        config={},
        seed=0,
        resume="training",
        workdir=str(workdir),
        campaign_folder=str(campaign.root),
        machine="m-1",
        node="n-1",
        home_stream="home-1",
        home_head="00",
        checkpoint=CheckpointPolicy(every_steps=10),
        grace_seconds=5.0,
    )
    folder = campaign.run(RUN)
    write_order(folder, order)
    return folder, order


def write_order(folder: RunFolder, order: Order, **changes: object) -> None:
    atomic.make_folder(folder.root)
    atomic.write_text(folder.order, strictjson.pretty(replace(order, **changes).as_json()))  # type: ignore[arg-type]


def start_supervisor(folder: RunFolder, **environment: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-m", "lastro.run", str(folder.root)],
        env={**os.environ, **environment},
        start_new_session=True,
        stdin=subprocess.DEVNULL,
    )


def events_of(folder: RunFolder, number: int) -> tuple[Event, ...]:
    campaign = CampaignFolder(folder.root.parent.parent)
    return read_stream(campaign.stream(stream_of_attempt(RUN, number))).events


def kinds_of(folder: RunFolder, number: int) -> list[EventType]:
    return [event.type for event in events_of(folder, number)]


def wait_for(condition: Callable[[], bool]) -> None:
    """Wait for what must come; a deadline that is far away keeps a hanging test from hanging for ever."""
    deadline = time.monotonic() + DEADLINE_SECONDS
    while not condition():
        assert time.monotonic() < deadline, "it never came"
        time.sleep(0.02)

"""A job is ended whole whatever it did to hide, and the journal says how."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from lastro import atomic, strictjson
from lastro.journal.events import EventType
from lastro.procs.identity import is_alive
from lastro.procs.killtree import end_tree
from tests.procs.real import SLEEPER, who_wrote
from tests.run.jobs import events_of, kinds_of, order_for, start_supervisor, wait_for, write_order


@pytest.fixture(autouse=True)
def _nothing_stays_alive(tmp_path: Path) -> Iterator[None]:
    yield
    for folder in tmp_path.glob("disk/campaigns/*/runs/*/attempts/*"):
        end_tree(("LASTRO_ATTEMPT", str(folder)))


_CLEARS_AND_IGNORES = """
import os, signal, sys
signal.signal(signal.SIGTERM, signal.SIG_IGN)
if "again" not in sys.argv:
    os.execve(sys.executable, [*sys.orig_argv, "again"], {})
"""


def test_a_job_that_clears_its_environment_and_ignores_term_is_ended_after_the_grace(tmp_path: Path) -> None:
    pid = tmp_path / "pid"
    folder, order = order_for(tmp_path, sys.executable, "-c", _CLEARS_AND_IGNORES + SLEEPER, str(pid))
    write_order(folder, order, grace_seconds=0.3)
    supervisor = start_supervisor(folder)
    job = who_wrote(pid)

    atomic.write_text(folder.stop_request, strictjson.pretty({"why": "now"}))
    supervisor.wait(60)

    assert not is_alive(job)
    ended = next(e for e in events_of(folder, 1) if e.type is EventType.ATTEMPT_ENDED).facts
    assert ended["ended_by"] == "1 ended, found by descent"


@pytest.mark.parametrize(
    ("script", "how"),
    [
        ("true", "by itself; nothing was left"),
        ("sleep 600 & true", "1 left behind, ended by the job's parent"),
    ],
)
def test_how_it_ended_is_told_in_words(tmp_path: Path, script: str, how: str) -> None:
    folder, _order = order_for(tmp_path, "sh", "-c", script)

    start_supervisor(folder).wait(60)

    wait_for(lambda: EventType.RUN_ENDED in kinds_of(folder, 1))
    ended = next(e for e in events_of(folder, 1) if e.type is EventType.ATTEMPT_ENDED).facts
    assert ended["ended_by"] == how

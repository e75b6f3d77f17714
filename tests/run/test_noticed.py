"""A supervisor and its job when the machine announces its end: asked, ended at once, or kept after all."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from lastro.journal.events import EventType
from lastro.paths import RunFolder
from lastro.procs.identity import ProcessId, is_alive
from lastro.procs.killtree import end_tree
from lastro.providers.metadata import MetadataService
from tests.run.jobs import events_of, kinds_of, order_for, start_supervisor, wait_for
from tests.run.test_notices import _announce, _serving


@pytest.fixture(autouse=True)
def _nothing_stays_alive(tmp_path: Path) -> Iterator[None]:
    yield
    for folder in tmp_path.glob("disk/campaigns/*/runs/*/attempts/*"):
        end_tree(("LASTRO_ATTEMPT", str(folder)))


#: Says what it does with TERM: saves and leaves, or stays until it may go; the first time, to be run again.
_JOB = """
import os, signal, sys, time
def told(*_):
    open(os.environ["LASTRO_OUTPUTS"] + "/told", "w").close()
    if sys.argv[1] == "leaves":
        sys.exit(85)
signal.signal(signal.SIGTERM, told)
print("ready", flush=True)
while not os.path.exists(os.environ["LASTRO_OUTPUTS"] + "/go"):
    time.sleep(0.02)
if os.environ["LASTRO_ATTEMPT"].endswith("/1"):
    sys.exit(85)
"""


def _running(tmp_path: Path, manner: str, **environment: str) -> RunFolder:
    folder, _order = order_for(tmp_path, sys.executable, "-c", _JOB, manner)
    start_supervisor(folder, **environment)
    wait_for(lambda: folder.attempt(1).log.exists() and "ready" in folder.attempt(1).log.read_text())
    return folder


def _ended(folder: RunFolder) -> dict[str, object]:
    wait_for(lambda: EventType.RUN_ENDED in kinds_of(folder, 1))
    return dict(next(e for e in events_of(folder, 1) if e.type is EventType.ATTEMPT_ENDED).facts["cause"])


@pytest.mark.parametrize(("seconds", "asked"), [(0.0, False), (5.0, True)])
def test_a_job_is_asked_when_there_is_time_and_ended_at_once_when_there_is_none(
    tmp_path: Path, seconds: float, asked: bool
) -> None:
    notice = tmp_path / "notice.json"
    folder = _running(tmp_path, "leaves", LASTRO_NOTICE=str(notice))

    _announce(notice, seconds)

    cause = _ended(folder)
    assert cause["end"] == "notice"
    assert (folder.outputs / "told").exists() is asked
    received = next(e for e in events_of(folder, 1) if e.type is EventType.NOTICE_RECEIVED).facts
    assert received["save"] is asked
    assert received["loss_bound_seconds"] > 0  # nothing was saved yet, and how long it takes is not known


@pytest.mark.parametrize("job", ["import sys; signal.signal(15, lambda *_: sys.exit(85))", "pass"])
def test_what_left_with_term_is_not_taken_for_a_failure_when_its_notice_comes_a_moment_later(
    tmp_path: Path, job: str
) -> None:
    """A batch system sends TERM to all processes of a job at once; the machine says why just afterwards."""
    notice = tmp_path / "notice.json"
    code = f"import signal, time; {job}\nprint('ready', flush=True)\ntime.sleep(600)"
    folder, _order = order_for(tmp_path, sys.executable, "-c", code)
    start_supervisor(folder, LASTRO_NOTICE=str(notice))
    wait_for(lambda: folder.attempt(1).log.exists() and "ready" in folder.attempt(1).log.read_text())
    launched = next(e for e in events_of(folder, 1) if e.type is EventType.ATTEMPT_LAUNCHED)
    process = ProcessId.from_json(launched.facts["job"])

    os.kill(process.pid, signal.SIGTERM)
    wait_for(lambda: not is_alive(process))
    _announce(notice, 5.0)

    assert _ended(folder)["end"] == "notice"


def test_a_notice_of_the_metadata_service_reaches_the_job(tmp_path: Path) -> None:
    notice = tmp_path / "notice.json"
    with _serving(MetadataService(notice, "m", ("127.0.0.1", 0))) as url:
        folder = _running(tmp_path, "leaves", LASTRO_NOTICES="aws", LASTRO_METADATA_URL=url)
        _announce(notice, 60.0)
        cause = _ended(folder)

    assert (cause["end"], cause["exit_code"]) == ("notice", 85)
    assert "aws: terminate" in str(cause["why"])


def test_a_notice_that_is_taken_back_lets_the_job_stay(tmp_path: Path) -> None:
    notice = tmp_path / "notice.json"
    with _serving(MetadataService(notice, "m", ("127.0.0.1", 0))) as url:
        folder = _running(tmp_path, "stays", LASTRO_NOTICES="azure", LASTRO_METADATA_URL=url)
        _announce(notice, 60.0)
        wait_for((folder.outputs / "told").exists)
        notice.unlink()
        wait_for(lambda: EventType.NOTICE_WITHDRAWN in kinds_of(folder, 1))
        (folder.outputs / "go").touch()
        wait_for(lambda: EventType.RUN_ENDED in kinds_of(folder, 2))

    # It left in the end, but not for the notice: so it is started again here, and not elsewhere.
    ended = next(event for event in events_of(folder, 1) if event.type is EventType.ATTEMPT_ENDED)
    assert ended.facts["cause"]["end"] == "saved"
    assert events_of(folder, 2)[-1].facts["verdict"] == "completed"

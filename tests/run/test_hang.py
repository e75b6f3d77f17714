"""Jobs that really hang, in a call that no Python code can leave; thresholds of a second."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from lastro.journal.events import EventType
from lastro.paths import RunFolder
from lastro.procs.killtree import end_tree
from lastro.rules import CheckpointPolicy, HangPolicy, Order
from tests.run.jobs import events_of, kinds_of, order_for, start_supervisor, write_order

_SOON = HangPolicy(least=1.0, factor=2.0, first=600.0, busy=600.0)

_TRAINS = """
import ctypes, time
import lastro
attempt = lastro.attach()
for step, batch in attempt.steps(list(range(30)), epochs=1):
    time.sleep(0.02)
    if step.number == 17 and attempt.number == 1:
        library = ctypes.PyDLL(None)  # PyDLL: the interpreter's lock is held meanwhile
        mutex = ctypes.create_string_buffer(64)
        library.pthread_mutex_lock(mutex)
        library.pthread_mutex_lock(mutex)  # never returns, whatever signal comes
"""


@pytest.fixture(autouse=True)
def _nothing_stays_alive(tmp_path: Path) -> Iterator[None]:
    yield
    for folder in tmp_path.glob("disk/campaigns/*/runs/*/attempts/*"):
        end_tree(("LASTRO_ATTEMPT", str(folder)))


def training(tmp_path: Path, script: str, hang: HangPolicy = _SOON) -> tuple[RunFolder, Order]:
    path = tmp_path / "train.py"
    path.write_text(script)
    folder, order = order_for(tmp_path, sys.executable, str(path))
    write_order(
        folder, order, hang=hang, grace_seconds=0.3, checkpoint=CheckpointPolicy(every_steps=5, keep=2)
    )
    return folder, order


def hung(folder: RunFolder) -> dict[str, object]:
    return dict(next(e for e in events_of(folder, 1) if e.type is EventType.ATTEMPT_HUNG).facts)


def test_a_job_that_hangs_leaves_its_stacks_and_goes_on_from_its_last_checkpoint(tmp_path: Path) -> None:
    folder, _order = training(tmp_path, _TRAINS)

    assert start_supervisor(folder, PATH="/usr/bin:/bin").wait(100) == 0

    told = hung(folder)
    assert (told["stacks"], told["step"]) == ("faulthandler", 16)
    cause = next(e for e in events_of(folder, 1) if e.type is EventType.ATTEMPT_ENDED).facts["cause"]
    assert cause["end"] == "hung"
    assert "no sign of life for" in cause["why"]
    log = folder.attempt(1).log.read_text()
    assert "the job hangs" in log and 'train.py", line 11 in <module>' in log
    assert "waits_in=" in log
    resumed = next(e for e in events_of(folder, 2) if e.type is EventType.ATTEMPT_RESUMED)
    assert resumed.facts["step"] == 15
    assert events_of(folder, 2)[-1].facts["verdict"] == "completed"


def test_py_spy_is_asked_first_where_it_is_installed(tmp_path: Path) -> None:
    folder, _order = training(tmp_path, _TRAINS)
    programs = tmp_path / "bin"
    programs.mkdir()
    spy = programs / "py-spy"
    spy.write_text('#!/bin/sh\necho "asked: $@"\n')
    spy.chmod(0o755)

    start_supervisor(folder, PATH=f"{programs}:/usr/bin:/bin").wait(100)

    launched = next(e for e in events_of(folder, 1) if e.type is EventType.ATTEMPT_LAUNCHED)
    assert hung(folder)["stacks"] == "py_spy"
    assert f"asked: dump --pid {launched.facts['job']['pid']}\n" in folder.attempt(1).log.read_text()


_WORKS_WITHOUT_A_WORD = """
import time
import lastro
attempt = lastro.attach()
for step, batch in attempt.steps(list(range(6)), epochs=1):
    ends = time.monotonic() + (3.0 if step.number == 5 else 0.05)
    while time.monotonic() < ends:
        pass
"""


def test_a_job_that_works_without_a_word_is_slow_and_not_hung(tmp_path: Path) -> None:
    folder, _order = training(tmp_path, _WORKS_WITHOUT_A_WORD)

    start_supervisor(folder).wait(100)

    assert EventType.ATTEMPT_HUNG not in kinds_of(folder, 1)
    assert events_of(folder, 1)[-1].facts["verdict"] == "completed"


def test_one_that_only_spins_is_hung_after_the_longer_time(tmp_path: Path) -> None:
    forever = "600 if step.number == 5 and attempt.number == 1"
    spins = _WORKS_WITHOUT_A_WORD.replace("3.0 if step.number == 5", forever)
    folder, _order = training(tmp_path, spins, HangPolicy(least=1.0, factor=2.0, first=600.0, busy=3.0))

    start_supervisor(folder).wait(100)

    assert "although it works" in str(hung(folder)["why"])


def test_a_foreign_job_that_neither_works_nor_prints_is_hung_after_the_first_limit(tmp_path: Path) -> None:
    folder, order = order_for(tmp_path, "sh", "-c", 'echo begun; [ -e "$LASTRO_ATTEMPT/../2" ] || sleep 600')
    write_order(folder, order, hang=HangPolicy(least=1.0, first=1.5), grace_seconds=0.3)

    start_supervisor(folder).wait(100)

    assert hung(folder)["stacks"] == "kernel"
    assert "pid=" in folder.attempt(1).log.read_text()
    assert events_of(folder, 2)[-1].facts["verdict"] == "completed"


def test_switched_off_a_silent_job_is_left_alone(tmp_path: Path) -> None:
    folder, order = order_for(tmp_path, "sleep", "2.5")
    write_order(folder, order, hang=HangPolicy(least=None, first=0.1))

    start_supervisor(folder).wait(100)

    assert EventType.ATTEMPT_HUNG not in kinds_of(folder, 1)


def test_the_signal_for_stacks_ends_no_process_that_has_no_handler_for_it(tmp_path: Path) -> None:
    child = (
        "import subprocess, sys; subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(600)'])\n"
    )
    folder, _order = training(tmp_path, child + _TRAINS)

    start_supervisor(folder, PATH=os.environ["PATH"]).wait(100)

    log = folder.attempt(1).log.read_text()
    assert log.count("waits_in=") == 2, "the child was there, and alive, when the kernel was asked"

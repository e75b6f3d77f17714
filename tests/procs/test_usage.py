from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from lastro.procs import usage
from lastro.procs.usage import TreeUse, tree_use

_WORKS = """
import os, subprocess, sys, time
kept = bytearray(os.urandom(1 << 20) * 48)
with open(sys.argv[1], "wb") as file:
    file.write(kept)
    os.fsync(file.fileno())
ends = time.process_time() + 0.4
while time.process_time() < ends:
    pass
print("ready", flush=True)
sys.stdin.readline()
"""


def test_a_tree_counts_its_children_the_living_and_those_that_were_waited_for(tmp_path: Path) -> None:
    before = tree_use((os.getpid(),))
    child = subprocess.Popen(
        [sys.executable, "-c", _WORKS, str(tmp_path / "big")],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    assert child.stdout is not None
    child.stdout.readline()
    living = tree_use((os.getpid(),))
    alone = tree_use((child.pid,))
    child.communicate(b"\n")
    after = tree_use((os.getpid(),))

    assert living.processes == before.processes + 1
    assert alone.processes == 1 and alone.resident > 48 << 20
    assert alone.cpu >= 0.4 and (alone.written or 0) >= 48 << 20
    for use in (living, after):
        assert use.cpu - before.cpu >= 0.4
        assert (use.written or 0) - (before.written or 0) >= 48 << 20


def test_strangers_are_not_asked_again_and_new_ones_of_the_tree_are_found() -> None:
    strangers: set[int] = set()
    alone = tree_use((os.getpid(),), strangers)
    known = set(strangers)
    child = subprocess.Popen(
        ["sh", "-c", "sleep 60 & echo ready; wait"], stdout=subprocess.PIPE, start_new_session=True
    )
    assert child.stdout is not None
    child.stdout.readline()
    with_child = tree_use((os.getpid(),), strangers)
    os.killpg(child.pid, signal.SIGKILL)
    child.communicate()

    assert os.getppid() in known and os.getpid() not in known
    assert with_child.processes == alone.processes + 2
    assert child.pid not in strangers


def test_one_whose_parent_has_just_gone_is_no_stranger_yet(monkeypatch: pytest.MonkeyPatch) -> None:
    told = {1: (0, 0.0, 0), 10: (1, 0.0, 0), 12: (11, 0.0, 0)}  # 11 ended between the list and the look at it
    monkeypatch.setattr("os.listdir", lambda _path: ["1", "10", "11", "12"])
    monkeypatch.setattr(usage, "_use_of", told.get)
    strangers: set[int] = set()

    tree_use((10,), strangers)

    assert strangers == {1}


def test_a_process_that_has_gone_uses_nothing() -> None:
    child = subprocess.Popen(["true"])
    child.wait()
    time.sleep(0.01)

    assert tree_use((child.pid,)) == TreeUse(pids=frozenset(), cpu=0, resident=0, read=None, written=None)

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

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


def test_a_process_that_has_gone_uses_nothing() -> None:
    child = subprocess.Popen(["true"])
    child.wait()
    time.sleep(0.01)

    assert tree_use((child.pid,)) == TreeUse(processes=0, cpu=0, resident=0, read=None, written=None)

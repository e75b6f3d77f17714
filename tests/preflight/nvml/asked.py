"""Asks the real nvidia-ml-py, on the stand-in, for one state of a machine after the other, in one process."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from lastro.stack.driver import Driver, understood

_MANY = """
import sys
from lastro.stack import nvml
import pynvml
place = sys.argv[1]
for state in sys.stdin.read().split("\\0"):
    with open(place, "w") as file:
        file.write(state)
    nvml.main([])
    print('{"next": true}', flush=True)
    try:
        pynvml.nvmlShutdown()
    except pynvml.NVMLError:
        pass
"""


def environment(library: Path, state: Path) -> Mapping[str, str]:
    """The environment in which a process finds the stand-in, and its state."""
    return {**os.environ, "LD_LIBRARY_PATH": str(library), "STAND_IN_STATE": str(state)}


def answers(library: Path, folder: Path, states: Sequence[str]) -> list[Driver]:
    """What the driver says in each state."""
    state = folder / "state"
    done = subprocess.run(
        [sys.executable, "-c", _MANY, str(state)],
        input="\0".join(states),
        env=environment(library, state),
        capture_output=True,
        text=True,
        check=True,
    )
    found = []
    for part in done.stdout.split('{"next": true}\n')[:-1]:
        lines = [json.loads(line) for line in part.splitlines()]
        told = [line for line in lines if "asking" not in line]
        asking = [line["asking"] for line in lines if "asking" in line]
        found.append(understood(told[-1] if told else None, asking[-1] if asking else None, 0.1))
    return found

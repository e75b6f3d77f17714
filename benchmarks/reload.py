"""What a jail adds to a reload: the same work in a plain process, a fresh one and in a jail, in turns."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from benchmarks.result import Result, median
from lastro.closeout.reload.level import FRESH, JAILED, level_for
from lastro.closeout.reload.place import Place

ROUNDS = 15
TARGET_SECONDS = 0.3
PLAIN = "plain process"
#: What a reload does at least: a Python that reads an output and writes another.
_WORK = "import os, json; json.dump([1], open(os.environ['LASTRO_OUTPUTS'] + '/p.json', 'w'))"


def run() -> Result:
    level, why = level_for({})
    levels = (FRESH, JAILED) if level == JAILED else (FRESH,)
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        (root / "weights").write_bytes(bytes(1 << 20))
        rounds = [_round(root / str(number), root / "weights", levels) for number in range(ROUNDS + 1)]
    # In the first round the Python is asked where its parts lie, which happens once in a closing.
    first, rest = rounds[0], rounds[1:]
    asked = first[FRESH] - first[PLAIN]
    notes = [
        f"{ROUNDS} rounds in turns; asking the Python for its parts, once, took about {asked:.2f} s more"
    ]
    if level != JAILED:
        notes.append(f"no jail could be had here: {why}")
    return Result(
        measures=(
            *(
                median(
                    f"a reload, {level}, over a {PLAIN}",
                    [one[level] - one[PLAIN] for one in rest],
                    "s",
                    TARGET_SECONDS if level == JAILED else None,
                )
                for level in levels
            ),
            median(f"a {PLAIN}", [one[PLAIN] for one in rest], "s"),
        ),
        notes=tuple(notes),
    )


def _round(room: Path, weights: Path, levels: tuple[str, ...]) -> dict[str, float]:
    room.mkdir()
    began = time.monotonic()
    _plain(room)
    taken = {PLAIN: time.monotonic() - began}
    for level in levels:
        began = time.monotonic()
        _placed(Place(level=level, room=room / level, environment=os.environ, given={"weights": weights}))
        taken[level] = time.monotonic() - began
    return taken


def _plain(room: Path) -> None:
    environment = {**os.environ, "LASTRO_OUTPUTS": str(room)}
    subprocess.run([sys.executable, "-c", _WORK], env=environment, cwd=room, check=True)


def _placed(place: Place) -> None:
    place.prepare()
    command = [sys.executable, "-c", _WORK]
    done = place.run(command, place.python_of(command), 60)
    assert done.code == 0, done.err

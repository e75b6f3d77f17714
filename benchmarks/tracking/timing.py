"""What each job of this comparison does alike. Standard library only: it runs in other environments too."""

from __future__ import annotations

import json
import random
import resource
import sys
import time
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

METRICS = 6

#: log ROOT NUMBER STEPS | fill ROOT POINTS | read ROOT POINTS | report ROOT PROCESSES STEPS
Action = Callable[..., Mapping[str, float]]


def values(step: int, chance: random.Random) -> dict[str, float]:
    """Return what is logged of one step: six numbers with all their digits."""
    return {"loss": 1.0 / step, **{f"metric-{number}": chance.random() for number in range(1, METRICS)}}


def spent() -> float:
    """Return the seconds of processors that this process, all its threads and its ended children have had."""
    used = [resource.getrusage(whose) for whose in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(each.ru_utime + each.ru_stime for each in used)


def each_step(
    log: Callable[[dict[str, float], int], object], number: int, steps: Iterable[int]
) -> dict[str, float]:
    """Log each step; return the microseconds for which a call stood in the way, and the CPU spent before."""
    chance, blocked = random.Random(number), []
    began = spent()
    for step in steps:
        told = values(step, chance)
        before = time.perf_counter_ns()
        log(told, step)
        blocked.append(time.perf_counter_ns() - before)
    blocked.sort()
    half, most = (blocked[int(len(blocked) * part)] / 1e3 for part in (0.5, 0.99))
    return {"p50": half, "p99": most, "began": began}


def main(actions: Mapping[str, Action]) -> None:
    """Carry out `ACTION ROOT NUMBER...` of the command line, and print what it has measured as JSON."""
    name, root, *numbers = sys.argv[1:]
    print(json.dumps(actions[name](Path(root), *map(int, numbers))))

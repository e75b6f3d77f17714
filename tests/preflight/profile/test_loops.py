"""Loops of one process, with threads for workers: the law foretells their pace, whatever varies in them.

The same loops through PyTorch, twenty of them, take minutes: `tests/flow/test_profiling.py`.
"""

from __future__ import annotations

import itertools
import json
import queue
import random
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from lastro.preflight.profile.result import Profile, profile_of
from lastro.probe.loop_watch import Feed, LoopWatch, Told

PREFETCH = 2
Times = Callable[[int], float]


def even(seconds: float) -> Times:
    return lambda _number: seconds


def jitter(seconds: float) -> Times:
    return lambda number: seconds * random.Random(number).uniform(0.5, 1.5)


def stalls(seconds: float) -> Times:
    """One in ten takes six times as long as the others."""
    return lambda number: seconds * (6 if number % 10 == 7 else 1) / 1.5


def loaded(load: Times, workers: int) -> Iterator[int]:
    """Batches in order, each worker with every n-th of them, as PyTorch's loader hands them out."""
    if workers == 0:
        for number in itertools.count():
            time.sleep(load(number))
            yield number
    lines: list[queue.Queue[int]] = [queue.Queue(PREFETCH - 1) for _worker in range(workers)]

    def work(worker: int) -> None:
        for number in itertools.count(worker, workers):
            time.sleep(load(number))
            lines[worker].put(number)

    for worker in range(workers):
        threading.Thread(target=work, args=(worker,), daemon=True).start()
    for number in itertools.count():
        yield lines[number % workers].get()


def profiled(folder: Path, load: Times, compute: Times, workers: int) -> Profile:
    class Over(Exception):
        pass

    def over() -> None:
        raise Over

    source = loaded(load, workers)
    feed = Feed(
        draw=lambda: next(source),
        fresh=lambda _workers: loaded(load, workers),
        facts={"kind": "threads", "workers": workers, "prefetch": PREFETCH if workers else 0},
    )
    folder.mkdir()
    watch = LoopWatch(Told(out=str(folder / "seen.json"), batches=20, most=60, seconds=2.0), end=over)
    with pytest.raises(Over):
        for made in itertools.count():
            watch.take(1, feed)
            time.sleep(compute(made))
            watch.trained()
    return profile_of(json.loads((folder / "seen.json").read_text()), None)


@pytest.mark.parametrize(
    ("load", "compute", "workers"),
    [
        (stalls(0.02), jitter(0.02), 0),
        (even(0.02), even(0.02), 1),
        (jitter(0.03), jitter(0.02), 1),
        (stalls(0.06), even(0.02), 4),
    ],
)
def test_the_pace_of_a_made_loop_is_foretold_within_15_percent(
    tmp_path: Path, load: Times, compute: Times, workers: int
) -> None:
    off = []
    for number in range(3):  # a neighbour that takes the processor in one part of a profile is not the law's
        profile = profiled(tmp_path / str(number), load, compute, workers)
        assert profile.seen is not None and profile.seen.paces is not None and profile.predicted is not None
        off.append(profile.predicted / profile.seen.paces.real - 1)
        if abs(off[-1]) <= 0.15:
            return
    pytest.fail(f"off by {off}")

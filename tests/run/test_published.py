"""Published items are progress: the supervisor counts them, restarts while they grow, and stops when not."""

from __future__ import annotations

import json
import os
import signal
import sys
from pathlib import Path

from lastro.journal.events import EventType
from lastro.paths import RunFolder
from lastro.run.published import PublishedItems
from lastro.run.seat import highest
from tests.run.jobs import events_of, kinds_of, order_for, start_supervisor, wait_for

_MAKER = Path(__file__).resolve().parents[1] / "job" / "maker.py"


def counts(folder: RunFolder, number: int) -> list[tuple[int, int | None]]:
    return [
        (event.facts["done"], event.facts["total"])
        for event in events_of(folder, number)
        if event.type is EventType.ITEMS_PUBLISHED
    ]


def supervise(folder: RunFolder, **wish: object) -> None:
    assert start_supervisor(folder, MAKER=json.dumps(wish)).wait(60) == 0


def test_a_job_that_crashes_goes_on_while_its_items_grow_and_no_longer(tmp_path: Path) -> None:
    """It dies in front of every third item that is missing, and for good in front of the last one."""
    script = tmp_path / "job.py"
    script.write_text(
        "import lastro, os, random\n"
        "attempt = lastro.attach()\n"
        "for count, item in enumerate(attempt.items(range(10))):\n"
        "    if count == 3 or item.id == '9':\n"
        "        raise RuntimeError(f'no {random.random()}')\n"
        "    item.path.write_text('x')\n"
    )
    folder, _order = order_for(tmp_path, sys.executable, str(script))

    supervise(folder)

    assert [counts(folder, number)[-1] for number in (1, 2, 3)] == [(3, 10), (6, 10), (9, 10)]
    last = highest(folder.claims)
    assert last == 5  # two starts in a row that brought nothing
    ended = events_of(folder, last)[-1]
    assert (
        ended.facts["verdict"] == "failed"
        and "without a new verified checkpoint or item" in ended.facts["why"]
    )


def test_what_was_published_right_before_a_kill_counts(tmp_path: Path) -> None:
    folder, _order = order_for(tmp_path, sys.executable, str(_MAKER))

    supervise(folder, ids=["a", "b", "c", "d"], kill_at="c")

    assert counts(folder, 1)[-1] == (2, 4)
    ended = next(event for event in events_of(folder, 1) if event.type is EventType.ATTEMPT_ENDED)
    assert ended.facts["step"] == 3  # the one in hand is what is lost
    assert EventType.ATTEMPT_STEPPED in kinds_of(folder, 1)


def test_a_supervisor_that_takes_over_counts_on(tmp_path: Path) -> None:
    until = tmp_path / "until"
    folder, _order = order_for(tmp_path, sys.executable, str(_MAKER))
    wish = json.dumps({"ids": ["a", "b", "c"], "linger_at": "b", "until": str(until)})
    first = start_supervisor(folder, MAKER=wish)
    wait_for(lambda: folder.items_index.exists() and b'"a"' in folder.items_index.read_bytes())
    wait_for(lambda: len(counts(folder, 1)) > 0)
    os.kill(first.pid, signal.SIGKILL)
    first.wait(60)
    until.touch()
    wait_for(lambda: b'"c"' in folder.items_index.read_bytes())

    assert start_supervisor(folder).wait(60) == 0

    assert counts(folder, 1)[-1] == (3, 3)
    assert events_of(folder, 1)[-1].facts["verdict"] == "completed"


def test_a_job_is_not_believed_to_have_more_than_the_index(tmp_path: Path) -> None:
    index = tmp_path / "items.jsonl"
    index.write_text("one\ntwo\n")
    items = PublishedItems(index)

    items.begin({"done": 1000, "total": 2000, "offset": 10**6})
    with index.open("a") as file:
        file.write("three\nto")
    items.look()

    assert (items.before, items.done) == (2, 3)

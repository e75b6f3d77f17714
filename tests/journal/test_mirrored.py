"""Where a disk goes with its machine, only what has left it is progress."""

from __future__ import annotations

from typing import Any

from lastro.journal.events import EventType
from lastro.journal.projections import attempt_view
from lastro.journal.streams import Event
from lastro.run.history import life_of

STARTED = {
    "run": "r",
    "name": "r",
    "attempt": 1,
    "machine": "m",
    "node": "n",
    "token": "t",
    "committed_step": None,
}
OPENED = {"place": "s3://b/m", "bytes_per_second": 10, "why_not": None}


def event(kind: EventType, **facts: Any) -> Event:
    return Event(stream="r-1", seq=1, at="2026-11-30T00:00:00.000000Z", type=kind, facts=facts)


def saved(step: int, healthy: bool | None = None) -> Event:
    facts = {
        "step": step,
        "folder": f"{step}-a1",
        "bytes": 1,
        "seconds": 0.1,
        "why": "due",
        "healthy": healthy,
    }
    return event(EventType.CHECKPOINT_COMMITTED, **facts)


def mirrored(step: int) -> Event:
    return event(EventType.CHECKPOINT_MIRRORED, step=step, folder=f"{step}-a1", bytes=1, seconds=0.1)


def counted(*events: Event) -> tuple[int | None, int | None]:
    """Return what home and what the next supervisor take to be saved."""
    stream = [event(EventType.ATTEMPT_STARTED, **STARTED), *events]
    view, life = attempt_view(stream, {}), life_of(stream)
    assert view is not None
    assert life is not None
    return view.committed_step, life.progress_after


def test_with_a_mirror_progress_counts_from_what_has_arrived_there() -> None:
    opened = event(EventType.MIRROR_OPENED, **OPENED)

    assert counted(saved(10), saved(20)) == (20, 20)
    assert counted(opened, saved(10), saved(20)) == (None, None)
    assert counted(opened, saved(10), mirrored(10), saved(20)) == (10, 10)
    assert counted(opened, saved(10), saved(20), mirrored(20), mirrored(10)) == (20, 20)


def test_a_save_whose_values_are_lost_is_no_progress_elsewhere_either() -> None:
    opened = event(EventType.MIRROR_OPENED, **OPENED)

    assert counted(opened, saved(10, healthy=False), mirrored(10)) == (None, None)

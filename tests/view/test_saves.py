"""Checkpoints of each run: what was written, what was needed again, what was refused."""

from __future__ import annotations

from lastro.journal.events import EventType as E
from lastro.view.model import page_of
from lastro.view.saves import save_rows
from tests.view.story import Story, adopted, planned


def test_checkpoints_are_counted_over_all_lives() -> None:
    """The control was saved once, and went on from there; a second one at 250 held no number."""
    story = adopted()
    facts = {"step": 250, "folder": "250-a2", "bytes": 4000, "seconds": 0.4, "why": "due", "healthy": False}
    story._add("id-control-2", 18, E.CHECKPOINT_COMMITTED, facts)
    story._add(
        "id-control-2", 18, E.CHECKPOINT_PASSED_OVER, {"folder": "90-a1", "why": "its bytes have changed"}
    )

    control, wide = save_rows(page_of(story.view()).runs)

    assert (control.written, control.last_step, control.largest, control.unhealthy) == (2, 250, 4000, 1)
    assert round(control.stalled, 6) == 0.5
    assert control.reloaded == (100,)
    assert control.passed_over == ("its bytes have changed",)
    assert (wide.written, wide.reloaded) == (1, ())


def test_a_run_without_any_has_no_row() -> None:
    assert save_rows(page_of(Story(planned("wide")).view()).runs) == ()

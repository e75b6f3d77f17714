"""What is seen of living attempts beside the journal: their step, and their last sign of life."""

from __future__ import annotations

from collections.abc import Mapping

from lastro.flow.session import Session
from lastro.job.item_index import count_lines
from lastro.journal.signals import read_beat
from lastro.journal.views import AttemptView, CampaignView
from lastro.paths import RunFolder
from lastro.view.parts import Live
from lastro.view.telemetry import last_sample


def live_of(session: Session, view: CampaignView, mono: float) -> Mapping[str, Live]:
    """Return what is seen of each run that has a living attempt. `mono`: this machine's monotonic seconds."""
    seen = {}
    for run in view.runs:
        if run.attempts and run.attempts[-1].alive:
            folder = session.on_disk.run(run.id)
            beat = read_beat(folder.attempt(run.attempts[-1].number).heartbeat)
            supervisor = read_beat(folder.supervisor_beat)
            signs = [sign.mono for sign in (beat, supervisor) if sign is not None and sign.mono <= mono]
            seen[run.id] = Live(
                step=beat.step if beat else None,
                silent_seconds=mono - max(signs) if signs else None,
                items_done=items_by_now(folder, run.attempts[-1]),
                sample=last_sample(folder, run.attempts[-1].number),
            )
    return seen


def items_by_now(folder: RunFolder, life: AttemptView) -> int | None:
    """Return how many items an attempt's run has published; None when the attempt makes none.

    The journal tells it every few seconds; the index, which is the truth, has what came since.
    """
    if life.items_done is None:
        return None
    return life.items_done + count_lines(folder.items_index, life.items_offset)[0]

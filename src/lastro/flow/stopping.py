"""Asking runs to save and end."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from lastro import atomic, strictjson
from lastro.checkpoint.store import verify
from lastro.clock import Clock
from lastro.errors import ProviderError
from lastro.flow.logs import pick_run
from lastro.flow.session import Session
from lastro.journal.views import RunView
from lastro.locale import _

#: Beyond a job's own grace: for the last look, the end of what ignores TERM, and a busy machine.
_PATIENCE_SECONDS = 120.0
_LOOK_SECONDS = 0.1


@dataclass(frozen=True)
class Stopped:
    """A run that has ended on request. `saved`: step of its last checkpoint; None when it has none.

    `damage`: what was wrong with that checkpoint when every byte of it was read again; empty when nothing.
    """

    run: RunView
    saved: int | None
    damage: tuple[str, ...]


def request_stop(session: Session, name: str | None, why: str) -> list[RunView]:
    """Ask the living runs (or the one named) to save and end; return those that were asked."""
    view = session.view()
    runs = [pick_run(view, name)] if name is not None else list(view.runs)
    alive = [run for run in runs if run.status == "running"]
    for run in alive:
        atomic.write_text(session.on_disk.run(run.id).stop_request, strictjson.pretty({"why": why}))
    return alive


def wait_for_stop(session: Session, asked: Sequence[RunView], clock: Clock) -> list[Stopped]:
    """Wait until each of these runs has ended; return them with their last checkpoint read again.

    Raises:
        ProviderError: one still runs after its grace and two minutes more.
    """
    deadline = clock.monotonic() + _PATIENCE_SECONDS
    while True:
        view = session.view()
        now = [view.run(run.id) for run in asked]
        if all(run.status != "running" for run in now):
            return [_stopped(session, run) for run in now]
        if clock.monotonic() > deadline:
            names = ", ".join(run.name for run in now if run.status == "running")
            raise ProviderError(
                _("{names} did not end; the request stands").format(names=names),
                hint=_("look at `lastro status`; the machine may be gone"),
            )
        clock.sleep(_LOOK_SECONDS)


def _stopped(session: Session, run: RunView) -> Stopped:
    life = run.attempts[-1]
    folders = [saved.folder for attempt in run.attempts for saved in attempt.checkpoints]
    if not folders or life.committed_step is None:
        return Stopped(run, None, ())
    return Stopped(run, life.committed_step, verify(session.on_disk.run(run.id).checkpoints / folders[-1]))

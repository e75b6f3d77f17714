"""What a run has printed, over all its attempts, each under a line that names it."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from lastro.clock import Clock
from lastro.errors import UsageError
from lastro.flow.session import Session
from lastro.journal.views import AttemptView, CampaignView, RunView
from lastro.locale import _

_LOOK_SECONDS = 0.2
#: A log is read in pieces of so many bytes.
CHUNK_BYTES = 2**20


def pick_run(view: CampaignView, name: str | None) -> RunView:
    """Return the run of that name or id; without a name the living one, else the one that started last.

    Raises:
        UsageError: there is none.
    """
    if name is not None:
        for run in view.runs:
            if run.name == name or (len(name) >= 4 and run.id.startswith(name)):
                return run
        raise UsageError(
            _("{name!r} is not a run of this campaign").format(name=name),
            hint=_("its runs are: {names}").format(names=", ".join(run.name for run in view.runs)),
        )
    begun = [run for run in view.runs if run.attempts]
    if not begun:
        raise UsageError(_("no run has begun yet"), hint=_("start them with `lastro run`"))
    return max(begun, key=lambda run: (run.attempts[-1].alive, run.attempts[-1].started_at))


def read_log(session: Session, run: RunView) -> Iterator[bytes]:
    """Give everything that was printed so far."""
    for life in run.attempts:
        yield _title(life)
        yield from _from(session, run, life, 0)


def follow_log(session: Session, run: RunView, clock: Clock) -> Iterator[bytes]:
    """Give everything that was printed, and go on until the run has ended for good."""
    shown: dict[int, int] = {}
    while True:
        run = session.view().run(run.id)
        for life in run.attempts:
            if life.number not in shown:
                shown[life.number] = 0
                yield _title(life)
            for chunk in _from(session, run, life, shown[life.number]):
                shown[life.number] += len(chunk)
                yield chunk
        if run.status in ("completed", "stopped", "failed", "paused", "superseded"):
            return
        clock.sleep(_LOOK_SECONDS)


def _title(life: AttemptView) -> bytes:
    text = _("--- attempt {number} on {machine}, {at}").format(
        number=life.number, machine=life.machine, at=life.started_at
    )
    return text.encode() + b"\n"


def _from(session: Session, run: RunView, life: AttemptView, offset: int) -> Iterator[bytes]:
    """Give what a log holds now from an offset on, in pieces: it may be larger than memory."""
    log = session.on_disk.run(run.id).attempt(life.number).log
    with contextlib.suppress(FileNotFoundError), log.open("rb") as file:
        file.seek(offset)
        while chunk := file.read(CHUNK_BYTES):
            yield chunk

"""What a run has printed, over all its attempts, each under a line that names it."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator

from lastro.clock import Clock
from lastro.errors import UsageError
from lastro.flow.session import Session
from lastro.journal.views import AttemptView, CampaignView, RunView
from lastro.locale import _

_LOOK_SECONDS = 0.2
#: What another process fetches has arrived so long after the first of it has: two exchanges.
_ARRIVES_SECONDS = 2.0
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


def follow_log(session: Session, run: RunView, clock: Clock, tell: Callable[[str], None]) -> Iterator[bytes]:
    """Give everything that was printed, and go on until the run has ended for good.

    Of a machine on another computer a living `lastro run` brings it here; where none lives, it is asked for.

    Raises:
        ProviderError: that computer will not have us any more.
        StorageError: its disk is away, or is another one.
    """
    shown: dict[int, int] = {}
    there = _There(session, tell)
    while True:
        complete = there.look()
        run = session.view().run(run.id)
        for life in run.attempts:
            if life.number not in shown:
                shown[life.number] = 0
                yield _title(life)
            for chunk in _from(session, run, life, shown[life.number]):
                shown[life.number] += len(chunk)
                yield chunk
        if run.status in ("completed", "stopped", "failed", "paused", "superseded"):
            if complete:
                return
            clock.sleep(_ARRIVES_SECONDS)  # its last lines may be behind the word of its end
            for life in run.attempts:
                yield from _from(session, run, life, shown[life.number])
            return
        clock.sleep(_LOOK_SECONDS)


class _There:
    """The other computer that a run works on, if it does: asked for what is new, and told when it is away."""

    def __init__(self, session: Session, tell: Callable[[str], None]) -> None:
        self._session, self._tell = session, tell
        self._away: str | None = None

    def look(self) -> bool:
        """Bring here what is new; True when all that was printed until now is here."""
        link = self._session.link
        if link is None:
            return True
        if self._session.is_driven():
            return False
        self._session.exchange(reading=True)
        if (link.trouble is None) != (self._away is None):
            self._tell(
                _("{name} answers again").format(name=self._session.facts.provider)
                if link.trouble is None
                else _("{why}; what runs there goes on, and it is asked again").format(why=link.trouble)
            )
        self._away = link.trouble
        return link.trouble is None


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

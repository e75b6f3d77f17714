"""Asking runs to save and end, and whatever drives them to start nothing more."""

from __future__ import annotations

from collections.abc import Sequence

from lastro import atomic, strictjson
from lastro.checkpoint.store import verify
from lastro.clock import Clock
from lastro.errors import ProviderError
from lastro.flow.halting import request_halt
from lastro.flow.logs import pick_run
from lastro.flow.ownership import out_of_reach
from lastro.flow.refresh import refresh
from lastro.flow.session import Session
from lastro.journal.views import CampaignView, RunView
from lastro.locale import _
from lastro.records import dataclass

#: Beyond a job's own grace: for the last look, the end of what ignores TERM, and a busy machine.
_PATIENCE_SECONDS = 120.0
_LOOK_SECONDS = 0.1
#: How long a computer elsewhere may not answer: a cut cable is mended by then, or it is not mended soon.
_AWAY_SECONDS = 10.0
_OVER = ("completed", "stopped", "failed", "superseded")


@dataclass(frozen=True, kw_only=True)
class Asked:
    """Who was asked. `alive`: runs that were alive. `driven`: a command that lives was asked to halt too.

    `names`: ids of all runs that were meant; `paused`: of those, with their attempts, that had paused before.
    """

    alive: tuple[RunView, ...]
    driven: bool
    names: frozenset[str]
    paused: frozenset[tuple[str, int]]


@dataclass(frozen=True)
class Stopped:
    """A run that has ended on request. `saved`: step of its last checkpoint; None when it has none.

    `damage`: what was wrong with that checkpoint when every byte of it was read again; empty when nothing.
    """

    run: RunView
    saved: int | None
    damage: tuple[str, ...]


def request_stop(session: Session, name: str | None, why: str, *, releasing: bool) -> Asked:
    """Ask the living runs (or the one named) to save and end, and that nothing more is started.

    Args:
        session: the campaign.
        name: of one run; None: all.
        why: for the journal.
        releasing: machines are let go afterwards, also where nobody can be asked any more.

    Raises:
        Fenced: another home drives this campaign.
        StorageError: its disk is not there.
    """
    refresh(session)
    if (barred := out_of_reach(session)) is not None:
        if not releasing:
            raise barred
        return Asked(alive=(), driven=False, names=frozenset(), paused=frozenset())
    view = session.view()
    only = pick_run(view, name) if name is not None else None
    meant = [run for run in ([only] if only else view.runs) if run.status not in _OVER]
    driven = bool(meant) and session.is_driven()
    if meant or (releasing and session.is_driven()):
        # Before the runs are asked: what drives them must not start one that ends too soon for the request.
        request_halt(session, why, only.id if only else None)
    alive = tuple(run for run in meant if run.status == "running")
    for run in alive:
        atomic.write_text(session.on_disk.run(run.id).stop_request, strictjson.pretty({"why": why}))
    refresh(session)
    return Asked(
        alive=alive,
        driven=driven and only is None,
        names=frozenset(run.id for run in meant),
        paused=_paused(view),
    )


def wait_for_stop(session: Session, asked: Asked, clock: Clock) -> list[Stopped]:
    """Wait until everything that was asked has ended; return the runs with their last checkpoint read again.

    Raises:
        ProviderError: something still runs after its grace and two minutes more, or nobody answers there.
    """
    deadline, heard = clock.monotonic() + _PATIENCE_SECONDS, clock.monotonic()
    while True:
        # Asked before the runs are looked at: once nothing drives, no run begins that was not seen.
        driven = asked.driven and session.is_driven()
        away = refresh(session, now=False)
        if away is None or driven:
            heard = clock.monotonic()
        elif clock.monotonic() > heard + _AWAY_SECONDS:
            raise ProviderError(
                _("{why}; the request is brought there by the next command that reaches it").format(why=away),
                hint=_(
                    "a machine that is gone on its provider's page: `lastro stop --gone MACHINE --why TEXT`"
                ),
            )
        view = session.view()
        alive = [run.name for run in view.runs if run.id in asked.names and run.status == "running"]
        if not alive and not driven:
            return [_stopped(session, run) for run in _ended(view, asked)]
        if clock.monotonic() > deadline:
            raise _still_there(alive)
        clock.sleep(_LOOK_SECONDS)


def _still_there(alive: Sequence[str]) -> ProviderError:
    if not alive:
        return ProviderError(
            _("the `lastro run` that drives this campaign has not ended; the request stands"),
            hint=_("look at what it prints; it starts nothing more, and Ctrl-C ends it"),
        )
    return ProviderError(
        _("{names} did not end; the request stands").format(names=", ".join(alive)),
        hint=_("look at `lastro status`; the machine may be gone"),
    )


def _paused(view: CampaignView) -> frozenset[tuple[str, int]]:
    return frozenset((run.id, len(run.attempts)) for run in view.runs if run.status == "paused")


def _ended(view: CampaignView, asked: Asked) -> list[RunView]:
    """Return the runs that were alive when they were asked, and those that came to life in between."""
    alive = {run.id for run in asked.alive}
    late = {run for run, _attempts in _paused(view) - asked.paused} & asked.names
    return [run for run in view.runs if run.id in alive | late]


def _stopped(session: Session, run: RunView) -> Stopped:
    life = run.attempts[-1]
    folders = [saved.folder for attempt in run.attempts for saved in attempt.checkpoints]
    if not folders or life.committed_step is None:
        return Stopped(run, None, ())
    if session.link is not None:  # it stays on the machine, which has read it again before it was announced
        return Stopped(run, life.committed_step, ())
    return Stopped(run, life.committed_step, verify(session.on_disk.run(run.id).checkpoints / folders[-1]))

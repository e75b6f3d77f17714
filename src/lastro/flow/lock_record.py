"""The journal tells which lock a campaign's machines were compared with, and why it was made anew."""

from __future__ import annotations

import contextlib

from lastro.clock import Clock
from lastro.errors import LastroError
from lastro.flow.session import Session, known_sessions
from lastro.journal.events import EventType
from lastro.journal.streams import StreamWriter
from lastro.paths import Home
from lastro.preflight.lock import Lock, State, read_lock
from lastro.spec.load import LoadedCampaign


def record_lock(session: Session, writer: StreamWriter, loaded: LoadedCampaign) -> None:
    """Write into the journal which lock lies beside the campaign file, where it is not known yet."""
    reading = read_lock(loaded.folder, loaded.spec.campaign)
    if reading.state is State.READ and reading.lock is not None:
        _record(session, writer, reading.lock)


def record_lock_by_hand(home: Home, clock: Clock, loaded: LoadedCampaign, lock: Lock) -> None:
    """Do the same after `lastro preflight`; of a campaign that has not begun, the first `lastro run` does it.

    So does the next one where another command drives the campaign now: the lock itself holds the reason.
    """
    for session in known_sessions(home, clock):
        if session.facts.campaign_file != str(loaded.path):
            continue
        with contextlib.suppress(LastroError), session.owned() as writer:
            if writer is not None:
                _record(session, writer, lock)
                session.mirror()


def _record(session: Session, writer: StreamWriter, lock: Lock) -> None:
    known = [one["digest"] for one in session.view().locks]
    if known[-1:] == [lock.digest]:
        return
    writer.append(
        EventType.LOCK_WRITTEN,
        digest=lock.digest,
        why=lock.relock.why if lock.relock else None,
        replaces=lock.relock.replaces if lock.relock else None,
    )

"""A request that stands at home: nothing more of a campaign is to be started, until the next `lastro run`.

Runs that are alive have a request of their own on the disk, which their supervisors heed with no home at all.
This one is for the command that drives: it may be between two runs, or waiting for a machine.
"""

from __future__ import annotations

import secrets
from dataclasses import asdict

from lastro import atomic, strictjson
from lastro.flow.session import Session
from lastro.journal.events import EventType
from lastro.journal.streams import StreamWriter
from lastro.records import dataclass
from lastro.storage.home import read_record


@dataclass(frozen=True, kw_only=True)
class HaltRequest:
    """What a person wants. `only`: id of the run that they named; None: whatever is alive ends too.

    `token` tells a request from one that came later.
    """

    token: str
    why: str
    only: str | None


def request_halt(session: Session, why: str, only: str | None) -> None:
    """Ask whatever drives this campaign, now or in a moment, to start nothing more."""
    atomic.make_folder(session.at_home.root)
    request = HaltRequest(token=secrets.token_hex(8), why=why, only=only)
    atomic.write_text(session.at_home.halt, strictjson.pretty(asdict(request)))


def standing_halt(session: Session) -> HaltRequest | None:
    """Return the request that stands; None when there is none."""
    if not session.at_home.halt.exists():
        return None
    try:
        return HaltRequest(**read_record(session.at_home.halt, "token", "why", "only"))
    except FileNotFoundError:  # lifted in between
        return None


def lift(session: Session, writer: StreamWriter, known: HaltRequest | None) -> None:
    """Go on after a request that was known when this command was typed; one that came later stands.

    Requests to runs that nobody had heeded by then are over with it.
    """
    if known is None or standing_halt(session) != known:
        return
    for run in session.view().runs:
        if run.status != "running":
            session.on_disk.run(run.id).stop_request.unlink(missing_ok=True)
    writer.append(EventType.CAMPAIGN_RESUMED, why=known.why)
    session.at_home.halt.unlink(missing_ok=True)

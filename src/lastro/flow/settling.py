"""Home tells the digests of what it has put beside the runs, so that it can be checked without a closing."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from lastro.flow.session import Session
from lastro.journal.events import EventType
from lastro.journal.settled import settled_facts, settled_files
from lastro.journal.streams import StreamWriter


def settle(session: Session, writer: StreamWriter, paths: Iterable[Path]) -> None:
    """Tell of each file that home has not told of as it is now; nothing is told where nothing is new.

    Args:
        session: the campaign.
        writer: of home's stream.
        paths: of files below the campaign's folder that are not written again, or not without this.
    """
    told = settled_files(session.events())
    facts = settled_facts(session.on_disk.root, paths)
    new = [one for one in facts if one not in [vars(known) for known in told.get(one["path"], ())]]
    if new:
        writer.append(EventType.FILES_SETTLED, files=new)


def settle_once(session: Session, writer: StreamWriter, paths: Iterable[Path]) -> None:
    """Do the same for files that are never written again: those that were told are not read."""
    told = settled_files(session.events())
    root = session.on_disk.root
    settle(session, writer, [path for path in paths if path.relative_to(root).as_posix() not in told])

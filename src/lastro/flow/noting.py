"""The right to write what a person says of a campaign into home's journal, also after it was closed."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from lastro.errors import UsageError
from lastro.flow.ownership import require_owner
from lastro.flow.session import Session
from lastro.journal.streams import StreamWriter
from lastro.locale import _


@contextlib.contextmanager
def noting(session: Session) -> Iterator[StreamWriter]:
    """Give the writer of home's stream; what was written is copied to the disk afterwards.

    Raises:
        UsageError: a living `lastro run` owns the campaign.
        StorageError: its disk is not there.
        Fenced: another home drives it.
    """
    session.require_disk()
    require_owner(session)
    with session.owned() as writer:
        if writer is None:
            raise UsageError(
                _("campaign {name} is being run; nothing can be added now").format(name=session.facts.name),
                hint=_("end the command first (Ctrl-C leaves the runs running), add it, and run again"),
            )
        yield writer
        session.mirror()

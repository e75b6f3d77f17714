"""What home knows of a disk on another computer, brought up to date."""

from __future__ import annotations

from lastro.errors import LastroError
from lastro.flow.session import Session


def refresh(session: Session, *, now: bool = True, reading: bool = False) -> str | None:
    """Bring the copy of a disk on another computer up to date, unless a living `lastro run` does that.

    Args:
        session: the campaign.
        now: do not wait for the next time that it is due.
        reading: nothing that home has written is brought there.

    Returns:
        Why it could not be: then what is known is as old as the copy. None when it is up to date.
    """
    if session.link is None or session.is_driven():
        return None
    try:
        session.exchange(now=now, reading=reading)
    except LastroError as error:
        return error.message
    return session.link.trouble

"""What to do with the time that a notice leaves: pure, with its reason and what may be lost."""

from __future__ import annotations

from lastro.locale import _
from lastro.records import dataclass

#: Part of a notice that is kept to end what the save has left alive.
RESERVE_SECONDS = 0.3
#: A save may take this much longer than the last one did: the disk is busiest when everybody leaves.
SLOWER = 1.5
#: The longest notice that any spot market gives. Of a longer one the time before it is used for work.
LEAVE_WITHIN_SECONDS = 120.0


@dataclass(frozen=True, kw_only=True)
class NoticePlan:
    """What to do about a notice. All times are seconds from now.

    save: whether the job is asked to save; when not, it is ended without.
    ask_in: when it is asked. until: when whatever is left of it is ended.
    loss_bound_seconds: the most work that may be lost, given that the machine keeps its word.
    """

    save: bool
    ask_in: float
    until: float
    loss_bound_seconds: float
    why: str


def decide(
    notice_seconds: float, *, save_seconds: float | None, save_in_flight: bool, since_save: float
) -> NoticePlan:
    """Decide how to use a notice: finish the save in flight, start none that cannot end.

    Args:
        notice_seconds: from now until the machine goes.
        save_seconds: how long the last save took; None when none was measured.
        save_in_flight: one is being written now.
        since_save: seconds of work since the last checkpoint.
    """
    room = notice_seconds - RESERVE_SECONDS
    if room <= 0:
        return _end_now(since_save, _("the notice leaves no time to save"))
    if save_in_flight:
        may_fail = save_seconds is None or save_seconds * SLOWER > room
        return NoticePlan(
            save=True,
            ask_in=0.0,
            until=room,
            loss_bound_seconds=since_save if may_fail else 0.0,
            why=_("a save is being written; it is the last one"),
        )
    if save_seconds is None:
        return NoticePlan(
            save=True,
            ask_in=0.0,
            until=room,
            loss_bound_seconds=since_save,
            why=_("how long a save takes is not known yet; it is tried"),
        )
    if save_seconds > room:
        return _end_now(
            since_save,
            _("a save takes {save:.1f} s and the notice leaves {room:.1f} s: none is begun").format(
                save=save_seconds, room=room
            ),
        )
    return NoticePlan(
        save=True,
        ask_in=max(0.0, room - LEAVE_WITHIN_SECONDS - save_seconds * SLOWER),
        until=room,
        loss_bound_seconds=since_save if save_seconds * SLOWER > room else 0.0,
        why=_("a save takes {save:.1f} s, and there are {room:.1f} s").format(save=save_seconds, room=room),
    )


def _end_now(since_save: float, why: str) -> NoticePlan:
    """End the job at once: what cannot be saved is not made more, and the next machine begins sooner."""
    return NoticePlan(save=False, ask_in=0.0, until=0.0, loss_bound_seconds=since_save, why=why)

"""When an offer is left for the next one: the campaign's own rules, as the plan keeps them."""

from __future__ import annotations

from lastro.records import dataclass

#: What is done when no offer of the plan is left.
STOP, ASK, WAIT = "stop", "ask", "wait"


@dataclass(frozen=True, kw_only=True)
class MoveOn:
    """See `spec.move_on`.

    `spot_losses` None: spot is left by what it costs alone. `queue_seconds` None: a machine may wait for its
    turn for ever. Eight refusals, with the pauses between them, are two minutes: shortages that are shorter
    are common.
    """

    refusals: int = 8
    boot_seconds: float = 600.0
    queue_seconds: float | None = None
    boxes: int = 2
    spot_losses: int | None = None
    ask_every_seconds: float = 300.0
    when_none_left: str = STOP

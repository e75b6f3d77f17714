"""When an offer is left for the next one of the plan, and what is done when none is left."""

from __future__ import annotations

from datetime import timedelta
from typing import Annotated, Literal

from pydantic import Field

from lastro.rules import MoveOn
from lastro.spec.base import Duration, Strict

Times = Annotated[int, Field(ge=1, le=1000)]


class MoveOnSpec(Strict):
    """How much an offer may fail before the next one is taken.

    `refusals`: in a row. `boot`: what has not come up by then is let go. `queue`: what waits longer for its
    turn is let go where another offer is left; None: it waits for ever. `boxes`: machines of one offer that
    were let go before any work, each for itself. `spot_losses`: of one spot offer; None: by money alone.
    `ask_every`: the longest pause between two asks.
    """

    refusals: Times = 8
    boot: Duration = timedelta(minutes=10)
    queue: Duration | None = None
    boxes: Times = 2
    spot_losses: Times | None = None
    ask_every: Duration = timedelta(minutes=5)
    when_none_left: Literal["stop", "ask", "wait"] = "stop"

    def rules(self) -> MoveOn:
        """Return it as home reads it."""
        return MoveOn(
            refusals=self.refusals,
            boot_seconds=self.boot.total_seconds(),
            queue_seconds=self.queue.total_seconds() if self.queue is not None else None,
            boxes=self.boxes,
            spot_losses=self.spot_losses,
            ask_every_seconds=self.ask_every.total_seconds(),
            when_none_left=self.when_none_left,
        )

"""What the risk of a calendar is drawn from: intervals in a fixed order on fixed lanes, and their bills."""

from __future__ import annotations

import math
from enum import Enum

from lastro.billing import Lease, LeaseKind
from lastro.errors import UsageError
from lastro.locale import _
from lastro.plan.parts import Span
from lastro.records import dataclass
from lastro.units import Money


class Held(str, Enum):
    """From when until when a machine is paid: each interval by itself, first to last, or first to the end."""

    INTERVAL = "interval"
    WHOLE = "whole"
    END = "end"


@dataclass(frozen=True, kw_only=True)
class DrawnInterval:
    """One stage on the calendar.

    `hours` None: nobody knows. `lanes`: what it holds (GPUs, a person); none: it holds nothing. `after`: the
    places in the order of what has to have ended. `wait_hours`: fixed, from then until it may begin; no lane
    is held meanwhile. Intervals with the same `together` are long together and short together (all runs on
    one class of GPU, say); None: it has its own luck.
    """

    name: str
    hours: Span | None
    lanes: tuple[int, ...] = ()
    after: tuple[int, ...] = ()
    wait_hours: float = 0.0
    together: str | None = None

    @property
    def luck(self) -> str:
        """The name of its random numbers: what has the same name has the same luck in every plan."""
        return self.together if self.together is not None else self.name


@dataclass(frozen=True, kw_only=True)
class Machine:
    """What is paid for while something is on its lanes.

    A lot is paid by terms, with its price once for all its lanes; `renewal` is the price of each further
    term, None for the same. By the hour its held time is billed as `lastro.billing` does. The time until it
    has booted is paid for each time that it is taken, and is no part of the calendar.
    """

    lease: Lease
    lanes: tuple[int, ...]
    boot_seconds: float = 0.0
    held: Held = Held.INTERVAL
    renewal: Money | None = None

    @property
    def is_lot(self) -> bool:
        """Say whether it is paid by terms; a lot without a term cannot be reckoned with."""
        return self.lease.kind is LeaseKind.LOT


@dataclass(frozen=True, kw_only=True)
class Draws:
    """A calendar as planned. The order is that of `intervals`, on each lane too; it stays in every draw.

    `other`: what is paid whatever happens, such as a disk. Raises UsageError when it cannot be laid out.
    """

    intervals: tuple[DrawnInterval, ...]
    machines: tuple[Machine, ...] = ()
    other: Money | None = None

    def __post_init__(self) -> None:
        names = [interval.name for interval in self.intervals]
        for place, interval in enumerate(self.intervals):
            if interval.name in names[:place]:
                raise UsageError(_("two intervals are named {name}").format(name=interval.name))
            _check_interval(interval, place)
        for machine in self.machines:
            _check_machine(machine)


def _check_interval(interval: DrawnInterval, place: int) -> None:
    if any(not 0 <= other < place for other in interval.after):
        raise UsageError(
            _("{name} waits for an interval that is not before it").format(name=interval.name),
            hint=_("list the intervals so that each stands below all that it waits for"),
        )
    span = interval.hours
    hours = [interval.wait_hours, *((span.low, span.likely, span.high) if span else ())]
    if not all(math.isfinite(hour) and hour >= 0 for hour in hours) or hours[1:] != sorted(hours[1:]):
        raise UsageError(
            _("the hours of {name} have to be numbers with 0 <= low <= likely <= high").format(
                name=interval.name
            )
        )


def _check_machine(machine: Machine) -> None:
    if machine.is_lot and not machine.lease.term_seconds:
        raise UsageError(_("the lot {offer} has no term").format(offer=machine.lease.offer))
    if machine.held is Held.INTERVAL and (machine.is_lot or len(machine.lanes) > 1):
        raise UsageError(
            _("{offer} is a lot or has several lanes, so it is not paid interval by interval").format(
                offer=machine.lease.offer
            ),
            hint=_("say that it is held from its first interval to its last, or until the end"),
        )

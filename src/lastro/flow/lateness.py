"""Machines that are late: they do not come up, or do not have their turn, by their deadline."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import timedelta

from lastro.flow.next_offer import BOOT, QUEUE
from lastro.locale import _
from lastro.providers.base import Machine, MachineState
from lastro.records import dataclass
from lastro.rules import MoveOn
from lastro.units import show_duration


@dataclass(frozen=True, kw_only=True)
class Late:
    """Why a machine is not waited for. `what`: the code of the reason, see `next_offer`."""

    what: str
    why: str


class Lateness:
    """For how long each machine boots or waits for its turn, by a clock that nobody sets."""

    def __init__(self, rules: MoveOn) -> None:
        self._rules = rules
        self._since: dict[tuple[str, bool], float] = {}

    def look(self, machines: Iterable[Machine], now: float, *, has_other: bool) -> Mapping[str, Late]:
        """Return the machines that are late, by id.

        Args:
            machines: as their provider tells them.
            now: seconds, of a clock that is not set.
            has_other: another offer is left. Where none is, nobody gives up a place in a queue.
        """
        late = {}
        for machine in machines:
            if machine.state is not MachineState.BOOTING:
                continue
            queued = machine.queued is not None
            waited = now - self._since.setdefault((machine.id, queued), now)
            most = self._rules.queue_seconds if queued else self._rules.boot_seconds
            if most is not None and waited > most and (has_other or not queued):
                late[machine.id] = _late(machine, waited)
        return late


def _late(machine: Machine, waited: float) -> Late:
    time = show_duration(timedelta(seconds=waited))
    if machine.queued is None:
        text = _("machine {id} had not booted after {time}")
        return Late(what=BOOT, why=text.format(id=machine.id, time=time))
    text = _("machine {id} had not begun after {time}: {why}")
    return Late(what=QUEUE, why=text.format(id=machine.id, time=time, why=machine.queued))

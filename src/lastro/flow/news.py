"""What people are told while a campaign is driven: each thing once."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from lastro.flow.driven import Tell
from lastro.journal.views import AttemptView, CampaignView, RunView
from lastro.locale import _
from lastro.providers.base import Machine, MachineState
from lastro.units import show_bytes


class News:
    """Says what is new of runs and machines since it looked last."""

    def __init__(self, tell: Tell) -> None:
        self._tell = tell
        self._attempts: set[tuple[str, int]] = set()
        self._waits: dict[tuple[str, int], tuple[int, bool]] = {}
        self._risks: dict[tuple[str, int], Mapping[str, object]] = {}
        self._ends: set[tuple[str, int]] = set()
        self._queues: dict[str, str] = {}
        self._absent: set[str] = set()

    def look(self, view: CampaignView) -> None:
        for run in view.runs:
            for life in run.attempts:
                key = (run.id, life.number)
                if key not in self._attempts:
                    self._attempts.add(key)
                    self._tell(
                        _("{run}: attempt {number} on {machine}").format(
                            run=run.name, number=life.number, machine=life.machine
                        )
                    )
                if not life.alive and key not in self._ends:
                    self._ends.add(key)
                    self._tell(_ending(run, life.number))
                if life.at_risk is not None and life.at_risk != self._risks.get(key):
                    self._risks[key] = life.at_risk
                    self._tell(_at_risk(run, life.at_risk))
                waits = (life.waits, life.no_room is not None)
                if waits != self._waits.setdefault(key, (0, False)):
                    self._waits[key] = waits
                    self._tell(_wait_for_room(run, life))

    def tell_absence(self, machine: Machine) -> None:
        """Say that one of several computers does not answer, and that it does again; once for each."""
        absent = machine.state is MachineState.UNKNOWN
        if absent and machine.id not in self._absent:
            self._absent.add(machine.id)
            told = _("machine {id}: {why}; what runs there goes on, and it is asked again")
            self._tell(told.format(id=machine.id, why=machine.cause))
        elif not absent and machine.id in self._absent:
            self._absent.discard(machine.id)
            self._tell(_("machine {id} answers again").format(id=machine.id))

    def tell_queue(self, machine: Machine) -> None:
        """Say why a machine waits, once for each reason. However long it does, it is not late."""
        if self._queues.get(machine.id) != machine.queued:
            self._queues[machine.id] = str(machine.queued)
            self._tell(_("machine {id}: {why}").format(id=machine.id, why=machine.queued))


def _at_risk(run: RunView, facts: Mapping[str, Any]) -> str:
    text = _("{run}: {count} files of value ({bytes}) lie where they go with the machine: {names}")
    names = ", ".join(facts["what"][:3])
    return text.format(run=run.name, count=facts["files"], bytes=show_bytes(facts["bytes"]), names=names)


def _wait_for_room(run: RunView, life: AttemptView) -> str:
    if life.no_room is None:
        return _("{run}: there is room on the disk again; it goes on").format(run=run.name)
    return _("{run}: the disk is full; it waits for room: {what}").format(run=run.name, what=life.no_room)


def _ending(run: RunView, number: int) -> str:
    life = next(life for life in run.attempts if life.number == number)
    text = _("{run}: attempt {number} ended at step {step}: {why}").format(
        run=run.name, number=number, step=life.last_step, why=life.why
    )
    if life.last_step is None:  # a program that knows nothing of lastro tells its saves at most
        text = _("{run}: attempt {number} ended: {why}; last save: {step}").format(
            run=run.name,
            number=number,
            step=life.committed_step if life.committed_step is not None else _("none"),
            why=life.why,
        )
    if life.lost_steps and life.end not in ("done", "stop_rule"):
        text += _("; {count} steps to be done again").format(count=life.lost_steps)
    return text

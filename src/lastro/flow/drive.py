"""Drives a campaign from home: looks, asks the policy what is next, does it, until nothing is left.

Everything here can be killed at any line: each effect is preceded by its intent in the journal, and the
next `lastro run` begins with a look.
"""

from __future__ import annotations

import contextlib
import secrets
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import field, replace
from datetime import timedelta
from pathlib import Path
from typing import Any

from lastro import atomic, strictjson
from lastro.billing import Lease
from lastro.checkpoint.store import committed, names
from lastro.clock import Clock, iso
from lastro.disk.facts import read_disk
from lastro.disk.reserve import keep_reserve
from lastro.errors import CapacityRefused, PreflightFailed, ProviderError
from lastro.flow import policy
from lastro.flow.attaching import note_attached
from lastro.flow.deciding import Standing, measured, standing_of, work_limit
from lastro.flow.echo import Echo
from lastro.flow.guarding import Guarding, before_deletion, rescue_what_can_be
from lastro.flow.halting import HaltRequest, standing_halt
from lastro.flow.inherited import Inherited
from lastro.flow.lateness import Lateness
from lastro.flow.lease_choice import lease_at
from lastro.flow.limits import last_save_seconds, limits_by_machine, limits_of_new
from lastro.flow.live import items_by_now
from lastro.flow.measured_saves import expected_save
from lastro.flow.money import may_bill
from lastro.flow.moot import Foreseen, moot_runs
from lastro.flow.moving_on import Moving, boot_of, despair, place_in
from lastro.flow.orders import (
    Place,
    code_of,
    config_record,
    corpus_on_disk,
    make_order,
    unattended_seconds,
)
from lastro.flow.ownership import require_owner
from lastro.flow.placing import bound_runs
from lastro.flow.presence import is_supervised
from lastro.flow.refusals import Refusals
from lastro.flow.session import Session
from lastro.flow.settling import settle_once
from lastro.flow.silence import Pulse, may_be_silent, told_after
from lastro.flow.whose_fault import Whose, whose_fault
from lastro.journal.events import EventType
from lastro.journal.nodes import NodeRecord
from lastro.journal.signals import read_beat
from lastro.journal.streams import StreamWriter
from lastro.journal.views import AttemptView, CampaignView, RunView
from lastro.locale import _
from lastro.paths import Disk, RunFolder
from lastro.plan.model import Plan, PlannedRun
from lastro.providers.base import Fault, Machine, MachineRequest, MachineState, Provider
from lastro.providers.shell_signs import ShellSigns
from lastro.records import dataclass
from lastro.rules import End, Limits
from lastro.run.seat import take_seat_away
from lastro.run.workdir import changed_in_place
from lastro.units import show_bytes, show_duration

#: Seconds between two looks while nothing is to be done.
LOOK_SECONDS = 0.1
#: Seconds between two signs of life, and copies of home's stream, on the disk while nothing else happens.
MIRROR_SECONDS = 5.0
#: Nothing is started on a machine for so long after it has announced its end: the longest notice, and a bit.
NOTICE_HOLDS_SECONDS = 150.0

Tell = Callable[[str], None]
Preflight = Callable[[Machine], Mapping[str, object]]
"""Checks a machine; returns the facts of the event `preflight.done`, `verdict` among them."""


@dataclass
class Told:
    """What people were told and what was recorded already, so that each fact is told once."""

    attempts: set[tuple[str, int]] = field(default_factory=set)
    waits: dict[tuple[str, int], tuple[int, bool]] = field(default_factory=dict)
    risks: dict[tuple[str, int], Mapping[str, object]] = field(default_factory=dict)
    ends: set[tuple[str, int]] = field(default_factory=set)
    fired: set[str] = field(default_factory=set)
    silent: set[str] = field(default_factory=set)
    recalled: set[str] = field(default_factory=set)
    moot: set[str] = field(default_factory=set)
    queues: dict[str, str] = field(default_factory=dict)
    shells: set[str] = field(default_factory=set)
    absent: set[str] = field(default_factory=set)
    away: str | None = None


@dataclass(frozen=True, kw_only=True)
class Drive:
    """What is to be driven. `only`: ids of runs to carry out; None: required and useful ones.

    `resumable`: paused or failed runs that are to go on, with the attempts that they had when this was asked.
    `recall`: what is known against a machine of that name; None: nothing.
    `echo`: shows a line that a job has printed; None where nobody wants to see it. `deciding`: decision
    points and open shells are heeded; not where machines are only let go. `guarding`: what is done when
    something of value lies on a machine that is let go.
    """

    session: Session
    writer: StreamWriter
    provider: Provider
    plan: Plan
    clock: Clock
    preflight: Preflight
    tell: Tell
    faults: Sequence[Fault] = ()
    only: frozenset[str] | None = None
    resumable: Mapping[str, int] = field(default_factory=dict)
    echo: Callable[[str], None] | None = None
    deciding: bool = True
    recall: Callable[[str], NodeRecord | None] = lambda _node: None
    guarding: Guarding = Guarding.RESCUE


class Driver:
    """Carries out the policy's actions until it says Finish or Halt."""

    def __init__(self, drive: Drive) -> None:
        self._d = drive
        self._folder = drive.session.on_disk
        self._foreseen = Foreseen(drive.session, drive.plan)
        self._starts: dict[str, tuple[int, int, int]] = {}
        self._told = Told()
        self._retiring: set[str] = set()
        self._told.fired.update(str(facts.get("key")) for facts in drive.session.view().faults)
        self._mirrored = 0.0
        self._lateness = Lateness(drive.plan.move_on)
        self._inherited = Inherited(drive.session, drive.provider, drive.clock)
        self._noticed: dict[tuple[str, int], float] = {}
        self._gone: frozenset[str | None] = frozenset()
        self._pulse = Pulse(drive.session.on_disk)
        self._shells = ShellSigns(drive.session.on_disk)
        self._moving = Moving(drive.plan, drive.provider, drive.writer, drive.tell)
        self._ask_again_at = 0.0
        self._refusals = Refusals()
        self._echo = Echo(drive.session.on_disk, drive.echo) if drive.echo is not None else None
        if self._echo is not None:
            self._echo.pass_over(drive.session.view())
        self._acts: Mapping[type[policy.Action], Callable[[CampaignView, policy.Action], None]] = {
            policy.Recover: self._recover,
            policy.NoteReady: self._note_ready,
            policy.NoteGone: self._note_gone,
            policy.NoteLost: self._note_lost,
            policy.Abandon: self._abandon,
            policy.Check: self._check,
            policy.Dispatch: self._dispatch,
            policy.Await: self._await,
            policy.Retire: self._retire,
            policy.GiveUp: self._give_up,
            policy.Rent: self._rent,
            policy.Reject: self._reject,
            policy.LetGo: self._let_go,
            policy.LeaveOffer: self._leave_offer,
            policy.NoteSpent: self._note_spent,
            policy.Despair: self._despair,
            policy.Release: self._release,
            policy.Wait: self._wait,
        }

    def run(self) -> policy.Finish | policy.Halt:
        """Drive to the end and say how it ended.

        Raises:
            ProviderError: machines could not be had, or could not be let go.
            PreflightFailed: a machine is not what the campaign wants; it was let go.
        """
        while True:
            now = self._look()
            action = policy.next_action(now)
            if isinstance(action, (policy.Finish, policy.Halt)):
                self._d.session.mirror()
                self._d.session.fetch()
                return action
            self._acts[type(action)](now.view, action)

    # --- looking --------------------------------------------------------------------------------------

    def _look(self) -> policy.Situation:
        """Take in what machines and provider say.

        Supervisors are looked at before streams are read: one that has ended has said everything.
        """
        self._d.session.require_disk()
        require_owner(self._d.session)
        supervised = self._supervised()
        for source, head in self._d.session.ingest().items():
            self._d.writer.append(EventType.STREAM_INGESTED, source=source, events=head.seq, head=head.digest)
        self._note_copies()
        self._note_faults()
        halt = self._heed()
        view = self._d.session.view()
        if self._echo is not None:
            self._echo.look(view)
        self._tell_news(view)
        machines = self._ask_provider(view)
        self._gone = frozenset(one.id for one in view.machines if one.state == "gone") | frozenset(
            one.id for one in machines.values() if one.state is MachineState.GONE
        )
        self._mirror()
        choice, places = self._moving.choose(view), self._d.provider.places
        return policy.Situation(
            view=view,
            machines=machines,
            supervised=supervised,
            wanted=self._wanted(view),
            max_machines=self._d.plan.machines,
            resumable=frozenset(
                run.id for run in view.runs if self._d.resumable.get(run.id) == len(run.attempts)
            ),
            budget=self._d.plan.budget,
            silent_starts={run: self._barren(run) for run in self._starts},
            checked=frozenset(
                str(facts["machine"])
                for facts in view.preflights
                if facts.get("trusted", facts["verdict"] != "fail")
            ),
            retiring=frozenset(self._retiring),
            silences=self._silences(view, supervised),
            max_silence=self._d.plan.silence_seconds,
            others=self._inherited.machines,
            leaving=self._leaving(view),
            limits=limits_by_machine(self._d.plan, view),
            fresh=limits_of_new(self._d.plan, view, choice.lease),
            max_weather=self._d.plan.max_weather,
            halt=halt,
            code_changed=self._code_changed(),
            standing=standing_of(self._d.plan, view) if self._d.deciding else Standing(),
            away=self._away() is not None,
            refusals=self._refusals.fewest(places) if places else self._moving.refusals,
            retry_in=self._retry_in(),
            shells=self._open_shells(),
            overdue=self._lateness.look(
                machines.values(), self._d.clock.monotonic(), has_other=choice.has_other
            ),
            choice=choice,
            places=places,
            shut=self._refusals.shut(self._d.clock.monotonic()),
            barred=self._refusals.barred,
            bound=bound_runs(self._d.plan, view, self._folder) if places else {},
        )

    def _open_shells(self) -> frozenset[str]:
        """Return the machines on which somebody has a shell open, and tell it once of each."""
        if not self._d.deciding:
            return frozenset()
        held = self._shells.held(self._d.clock.monotonic())
        for machine in sorted(held - self._told.shells):
            self._d.tell(_("a shell is open on {id}, which is not let go as idle").format(id=machine))
        self._told.shells = set(held)
        return held

    def _retry_in(self) -> float:
        """Return the seconds until it is worth asking for a machine again."""
        now, places = self._d.clock.monotonic(), self._d.provider.places
        return self._refusals.wait(places, now) if places else max(0.0, self._ask_again_at - now)

    def _count_refusal(self, place: str) -> tuple[int, float]:
        """Count a refusal; return how many that makes in a row, and the seconds until the next question."""
        now = self._d.clock.monotonic()
        if self._d.provider.places:
            return self._refusals.note(place, now)
        wait = self._moving.refused()
        self._ask_again_at = now + wait
        return self._moving.refusals, wait

    def _away(self) -> str | None:
        """Return why the computer that everything runs on does not answer now; that and its end are told."""
        link = self._d.session.link
        why = link.trouble if link is not None else None
        if (why is None) != (self._told.away is None):
            self._d.tell(
                _("{name} answers again").format(name=self._d.provider.name)
                if why is None
                else _("{why}; what runs there goes on, and it is asked again").format(why=why)
            )
            self._told.away = why
        return why

    def _heed(self) -> HaltRequest | None:
        """Return a person's request to halt, and record it the first time that it is seen."""
        halt = standing_halt(self._d.session)
        if halt is not None and self._d.session.view().halted is None:
            self._d.writer.append(EventType.CAMPAIGN_HALTED, why=halt.why, only=halt.only)
            self._d.tell(_("asked to start nothing more: {why}").format(why=halt.why))
        return halt

    def _code_changed(self) -> str | None:
        """Say why starts fail in the user's own folder, if it is because other code lies there."""
        if self._d.provider.traits.own_workdir or not any(map(self._barren, self._starts)):
            return None
        return changed_in_place(Path(self._d.session.facts.campaign_file).parent, code_of(self._d.plan))

    def _silences(self, view: CampaignView, supervised: frozenset[str]) -> Mapping[str, float]:
        """Return how long each living attempt's supervisor has been silent; tell it once when it is long."""
        living = [run for run in view.runs if run.id in supervised and may_be_silent(run)]
        if self._away() is not None:
            living = []  # who cannot be heard is not silent
        silences = self._pulse.silences([run.id for run in living], self._d.clock.monotonic())
        for run in living:
            if silences[run.id] < told_after(self._d.plan.silence_seconds):
                self._told.silent.discard(run.id)
            elif run.id not in self._told.silent:
                self._told.silent.add(run.id)
                machine, seconds = run.attempts[-1].machine, round(silences[run.id], 3)
                self._d.writer.append(EventType.MACHINE_SILENT, machine=machine, run=run.id, seconds=seconds)
                self._d.tell(
                    _("{run}: no sign of life from {machine} for {seconds:.0f} s").format(
                        run=run.name, machine=machine, seconds=seconds
                    )
                )
        return silences

    def _leaving(self, view: CampaignView) -> frozenset[str]:
        """Return the machines whose notice was heard a short while ago; one that stays is used again."""
        now = self._d.clock.monotonic()
        noticed = [
            (run.id, life) for run in view.runs for life in run.attempts if life.end == End.NOTICE.value
        ]
        heard = {life.machine: self._noticed.setdefault((run, life.number), now) for run, life in noticed}
        return frozenset(machine for machine, since in heard.items() if now - since < NOTICE_HOLDS_SECONDS)

    def _supervised(self) -> frozenset[str]:
        """Return every run on the disk whose supervisor lives, also one that the plan no longer has."""
        runs = self._folder.runs
        alive = set()
        for root in runs.iterdir() if runs.is_dir() else ():
            if is_supervised(RunFolder(root), self._gone, self._d.session.link):
                alive.add(root.name)
        return frozenset(alive)

    def _ask_provider(self, view: CampaignView) -> dict[str, Machine]:
        known = [
            machine.id for machine in view.machines if machine.id is not None and machine.state != "gone"
        ]
        machines = {machine_id: self._describe(machine_id) for machine_id in known}
        for machine in machines.values():
            if self._d.provider.places:
                self._tell_absence(machine)
            if machine.queued is not None:
                self._tell_queue(machine)
        return machines

    def _tell_absence(self, machine: Machine) -> None:
        """Say that one of several computers does not answer, and that it does again; once for each."""
        absent = machine.state is MachineState.UNKNOWN
        if absent and machine.id not in self._told.absent:
            self._told.absent.add(machine.id)
            told = _("machine {id}: {why}; what runs there goes on, and it is asked again")
            self._d.tell(told.format(id=machine.id, why=machine.cause))
        elif not absent and machine.id in self._told.absent:
            self._told.absent.discard(machine.id)
            self._d.tell(_("machine {id} answers again").format(id=machine.id))

    def _tell_queue(self, machine: Machine) -> None:
        """Say why a machine waits, once for each reason. However long it does, it is not late."""
        if self._told.queues.get(machine.id) != machine.queued:
            self._told.queues[machine.id] = str(machine.queued)
            self._d.tell(_("machine {id}: {why}").format(id=machine.id, why=machine.queued))

    def _describe(self, machine_id: str) -> Machine:
        """Ask the provider; of another home's machine it may know nothing here, which is not "gone"."""
        try:
            return self._d.provider.describe(machine_id)
        except ProviderError as error:
            return self._inherited.describe(machine_id, error)

    def _wanted(self, view: CampaignView) -> tuple[str, ...]:
        order = {"required": 0, "useful": 1, "exploratory": 2}
        runs = sorted(self._d.plan.runs, key=lambda run: order[run.priority])
        if self._d.only is not None:
            return tuple(run.id for run in runs if run.id in self._d.only)
        moot = moot_runs(self._foreseen.rule, view, self._foreseen.metric_of)
        for run, why in moot.items():
            if run not in self._told.moot and view.run(run).why != why:
                self._d.writer.append(EventType.RUN_MOOT, run=run, why=why)
                self._d.tell(_("{run} is not started: {why}").format(run=view.run(run).name, why=why))
            self._told.moot.add(run)
        return tuple(run.id for run in runs if run.priority != "exploratory" and run.id not in moot)

    def _note_faults(self) -> None:
        if not self._d.faults:
            return
        fired = self._d.provider.fired(self._d.session.disk.root, self._d.plan.campaign)
        for fault in self._d.faults:
            if fault.key in fired and fault.key not in self._told.fired:
                self._told.fired.add(fault.key)
                self._d.writer.append(
                    EventType.FAULT_FIRED,
                    index=fault.index,
                    key=fault.key,
                    run=fault.run,
                    step=fault.step,
                    notice_seconds=fault.notice_seconds,
                    create=fault.create,
                    silent=fault.silent,
                    offer=fault.offer,
                    never_up=fault.never_up,
                    finding=fault.finding,
                )

    def _note_copies(self) -> None:
        """Record the checkpoints that have come home from computers whose disks go with them."""
        link = self._d.session.link
        for copy in link.arrived() if link is not None else ():
            step, _mark, attempt = copy.name.partition("-a")
            self._d.writer.append(
                EventType.CHECKPOINT_COPIED,
                run=copy.run,
                attempt=int(attempt),
                step=int(step),
                bytes=copy.bytes,
                seconds=round(copy.seconds, 3),
            )

    def _mirror(self) -> None:
        now = self._d.clock.monotonic()
        if now - self._mirrored >= min(MIRROR_SECONDS, unattended_seconds(self._d.plan) / 5):
            self._mirrored = now
            self._mirror_if_there_is_room()
            with contextlib.suppress(OSError):  # a sign of life; what has to be kept tells of a broken disk
                self._folder.home_beat.touch()

    def _mirror_if_there_is_room(self) -> None:
        """The copy on the disk can wait for room as the runs there do: home's own stream has everything."""
        try:
            self._d.session.mirror()
        except OSError as error:
            if not atomic.is_full(error):
                raise

    # --- machines -------------------------------------------------------------------------------------

    def _rent(self, view: CampaignView, action: policy.Action) -> None:
        assert isinstance(action, policy.Rent)
        tag = f"{self._d.session.facts.key}-{len(view.machines) + 1}-{secrets.token_hex(3)}"
        place = action.place or self._d.provider.name
        lease = self._moving.choose(view).lease
        if action.place is not None:
            lease = lease_at(self._d.plan, view, place, lease)
        self._d.writer.append(
            EventType.MACHINE_INTENDED,
            tag=tag,
            provider=place,
            lease=lease.as_json() if lease else None,
            why=action.why,
        )
        self._create(tag, lease, place)

    def _recover(self, view: CampaignView, action: policy.Action) -> None:
        assert isinstance(action, policy.Recover)
        intended = next(machine for machine in view.machines if machine.tag == action.tag)
        if (theirs := self._inherited.recover(action.tag)) is not None:
            self._note_created(action.tag, theirs, intended.provider)
        else:
            self._create(action.tag, intended.lease, intended.provider)

    def _create(self, tag: str, lease: Lease | None, place: str) -> None:
        """Make the machine of an intent; called again with the same tag it finds the one that was made."""
        self._d.session.mirror()
        request = MachineRequest(
            tag=tag,
            campaign=self._d.plan.campaign,
            disk=self._d.session.disk.root,
            lease=lease,
            boot_seconds=boot_of(self._d.plan, lease),
            faults=self._d.faults,
            workdir=Path(self._d.session.facts.campaign_file).parent,
            unattended_seconds=unattended_seconds(self._d.plan, lease),
            sbatch=self._d.plan.sbatch,
            place=place if self._d.provider.places else self._place_of(lease),
        )
        try:
            machine = self._d.provider.create(request)
        except CapacityRefused as error:
            self._refused(tag, place, error)
            return
        self._moving.had()
        self._refusals.forget(place)
        self._note_created(tag, machine, request.place or place)

    def _place_of(self, lease: Lease | None) -> str | None:
        """Return where a machine of a lease is asked for, where that goes by its offer."""
        return place_in(self._d.plan, lease) if self._d.provider.traits.takes_places else None

    def _note_created(self, tag: str, machine: Machine, place: str) -> None:
        self._d.writer.append(
            EventType.MACHINE_CREATED,
            tag=tag,
            machine=machine.id,
            node=machine.node,
            requested_at=iso(machine.created_at),
            level=machine.level,
            level_why=machine.level_why,
            born=machine.born.as_json() if machine.born else None,
            queued=machine.queued,
        )
        self._d.tell(_("machine {id} was taken from '{provider}'").format(id=machine.id, provider=place))
        self._recall(machine.id, machine.node, avoid=True)

    def _recall(self, machine: str, node: str, *, avoid: bool = False) -> None:
        """Name a machine that something speaks against, before it is used again.

        With `avoid` it is let go where the plan has another offer to go to: this box is left to others.
        """
        record = self._d.recall(node)
        if record is None or machine in self._told.recalled:
            return
        self._told.recalled.add(machine)
        self._d.writer.append(
            EventType.MACHINE_RECALLED,
            machine=machine,
            node=record.node,
            why=record.bad,
            faults=len(record.faults),
            hours=record.hours,
            notes=len(record.notes),
        )
        self._d.tell(
            _("careful: {id} is {node}, which this home knows: {why}").format(
                id=machine, node=record.node, why=record.bad
            )
        )
        if avoid and self._moving.choose(self._d.session.view()).has_other:
            why = _("machine {id} is {node}, which this home knows: {why}").format(
                id=machine, node=record.node, why=record.bad
            )
            self._reject_machine(machine, "node", why)

    def _refused(self, tag: str, place: str, error: CapacityRefused) -> None:
        """Record that nothing was made, and ask again later; the wait grows with each refusal in a row."""
        tries, wait = self._count_refusal(place)
        self._d.writer.append(
            EventType.MACHINE_REFUSED,
            tag=tag,
            why=error.message,
            tries=tries,
            wait_seconds=wait,
        )
        self._d.tell(
            _("{why}; asked again in {time}").format(
                why=error.message, time=show_duration(timedelta(seconds=wait))
            )
            + self._moving.while_waiting
        )

    def _despair(self, view: CampaignView, action: policy.Action) -> None:
        assert isinstance(action, policy.Despair)
        tries = self._refusals.fewest(self._d.provider.places) or self._moving.refusals
        raise despair(self._d.plan, action.end, self._d.provider.name, tries)

    def _reject(self, view: CampaignView, action: policy.Action) -> None:
        assert isinstance(action, policy.Reject)
        self._reject_machine(action.machine, action.what, action.why)

    def _reject_machine(self, machine: str, what: str, why: str, *, by_offer: bool = False) -> None:
        """Record that a machine is not used; one of several computers is not taken again by this command."""
        self._moving.reject(machine, what, why, by_offer=by_offer)
        if self._d.provider.places:
            view = self._d.session.view()
            self._refusals.bar(next(one.provider for one in view.machines if one.id == machine))

    def _let_go(self, view: CampaignView, action: policy.Action) -> None:
        assert isinstance(action, policy.LetGo)
        self._d.provider.delete(action.machine)

    def _leave_offer(self, view: CampaignView, action: policy.Action) -> None:
        assert isinstance(action, policy.LeaveOffer)
        self._moving.leave(action.move)
        self._ask_again_at = 0.0

    def _note_spent(self, view: CampaignView, action: policy.Action) -> None:
        self._moving.spent(self._moving.choose(view))

    def _note_ready(self, view: CampaignView, action: policy.Action) -> None:
        assert isinstance(action, policy.NoteReady)
        machine = self._d.provider.describe(action.machine)
        ready = machine.ready_at or self._d.clock.now()
        note_attached(self._d.session, self._d.writer, machine, self._d.clock, self._d.tell)
        if self._d.session.link is None:
            keep_reserve(self._d.session.disk)
        self._d.writer.append(
            EventType.MACHINE_READY,
            machine=machine.id,
            seconds=(ready - machine.created_at).total_seconds(),
            **self._of_its_turn(view, machine),
        )

    def _of_its_turn(self, view: CampaignView, machine: Machine) -> Mapping[str, object]:
        """Return what a machine that waited in a queue is known by only now: its node, and when it began."""
        if not self._d.provider.traits.allotted or machine.born is None:
            return {}
        self._recall(machine.id, machine.node, avoid=True)
        return {"node": machine.node, "born": machine.born.as_json()}

    def _note_gone(self, view: CampaignView, action: policy.Action) -> None:
        assert isinstance(action, policy.NoteGone)
        note_gone(self._d.writer, self._d.provider, action.machine, action.why, self._d.clock)
        self._d.tell(_("machine {id} is gone: {why}").format(id=action.machine, why=action.why))

    def _check(self, view: CampaignView, action: policy.Action) -> None:
        assert isinstance(action, policy.Check)
        machine = self._d.provider.describe(action.machine)
        facts = dict(self._d.preflight(machine))
        if facts.get("node_id") is not None:
            self._recall(machine.id, str(facts["node_id"]))
        self._d.writer.append(EventType.PREFLIGHT_DONE, machine=machine.id, **facts)
        self._d.tell(_("preflight of {id}: {verdict}").format(id=machine.id, verdict=facts["verdict"]))
        if facts.get("accepted"):
            self._d.tell(str(facts["trust_why"]))
        if not facts.get("trusted", facts["verdict"] != "fail"):
            self._distrust(machine.id, facts)
        else:
            self._moving.used()

    def _distrust(self, machine: str, facts: Mapping[str, Any]) -> None:
        """Record that a machine is not used; where no other machine mends it, let it go and end here."""
        why = _("machine {id} failed preflight: {findings}").format(
            id=machine, findings=facts.get("trust_why", facts.get("summary", ""))
        )
        whose = whose_fault(facts)
        if whose is not Whose.CAMPAIGN:
            self._reject_machine(machine, "preflight", why, by_offer=whose is Whose.OFFER)
            return
        self._d.provider.delete(machine)
        raise PreflightFailed(
            why,
            hint=_("`lastro preflight` shows all; known to be harmless: --accept-risk CODE --why REASON"),
        )

    def _release(self, view: CampaignView, action: policy.Action) -> None:
        assert isinstance(action, policy.Release)
        session, writer = self._d.session, self._d.writer
        before_deletion(session, writer, action.machine, self._d.guarding, self._d.clock, self._d.tell)
        try:
            self._d.provider.delete(action.machine)
        except ProviderError as error:
            if not self._d.provider.places:
                raise
            self._d.tell(error.message)  # one of several computers went away; it is asked again
            return
        rescued = session.disk.rescued(action.machine)
        if self._d.provider.traits.allotted and rescued.is_dir():
            self._d.tell(
                _("what of value lay on {machine} only is in {folder} now").format(
                    machine=action.machine, folder=rescued
                )
            )

    # --- runs -----------------------------------------------------------------------------------------

    def _dispatch(self, view: CampaignView, action: policy.Action) -> None:
        assert isinstance(action, policy.Dispatch)
        run = self._d.plan.run(action.run)
        machine = self._d.provider.describe(action.machine)
        if view.run(run.id).status == "paused":
            # Done with; one that nobody has heeded yet is for whoever takes the run up now.
            self._folder.run(run.id).stop_request.unlink(missing_ok=True)
        self._write_order(run, machine, self._limits(view, machine, view.run(run.id)))
        settle_once(self._d.session, self._d.writer, [self._folder.run(run.id).config])
        # An attempt's stream begins with the head of home's: the copy beside it holds that event.
        self._mirror_if_there_is_room()
        self._d.writer.append(EventType.RUN_DISPATCHED, run=run.id, machine=machine.id, why=action.why)
        folder = self._disk_of(machine).campaign(self._d.plan.campaign).run(run.id)
        self._count_start(run.id)
        try:
            self._carry(run.id, machine)
            self._d.provider.start(machine.id, [sys.executable, "-m", "lastro.run", str(folder.root)])
        except ProviderError as error:
            # It may be going at this very moment, which the next look tells; three such starts end the run.
            if self._d.provider.describe(machine.id).state is MachineState.RUNNING:
                self._d.tell(_("{run}: {error}").format(run=run.name, error=error.message))
            return
        self._await_seat(run.id)

    def _disk_of(self, machine: Machine) -> Disk:
        """Return the campaign's disk as the machine sees it."""
        return self._d.session.disk if machine.disk is None else Disk(machine.disk)

    def _carry(self, run: str, machine: Machine) -> None:
        """Bring code and corpus, and what the run goes on from, to a disk that lies on another computer."""
        link, plan = self._d.session.link, self._d.plan
        if link is not None:
            needed = [self._folder.run(run).code(plan.code_digest)]
            if plan.corpus is not None:
                needed.append(corpus_on_disk(self._d.session.disk, plan.corpus))
            link.carry(needed, machine.id)
            link.bring(self._folder.run(run), machine.id)

    def _limits(self, view: CampaignView, machine: Machine, run: RunView) -> Limits:
        limits = limits_by_machine(self._d.plan, view).get(machine.id, Limits())
        return replace(
            limits,
            save_seconds=last_save_seconds(run),
            work_seconds=work_limit(self._d.plan, view, run),
        )

    def _write_order(self, run: PlannedRun, machine: Machine, limits: Limits) -> None:
        folder = self._folder.run(run.id)
        place = Place(
            machine=machine,
            traits=self._d.provider.traits,
            disk=self._disk_of(machine),
            home_stream=self._d.session.stream_name,
            home_head=self._d.writer.head.digest,
            limits=limits,
            disk_uuid=self._uuid_of_disk(machine),
            committed_step=_committed(self._d.session.view().run(run.id)),
            expected_save=expected_save(self._d.session, self._d.session.view()),
        )
        order = make_order(self._d.plan, run, place)
        atomic.make_folder(folder.root)
        if not folder.config.exists():
            atomic.write_text(folder.config, strictjson.pretty(config_record(self._d.plan, run)))
        atomic.write_text(folder.order, strictjson.pretty(order.as_json()))

    def _uuid_of_disk(self, machine: Machine) -> str:
        """Return the id of the disk that a machine has: of several computers each has its own."""
        link = self._d.session.link
        return read_disk(self._d.session.disk).uuid if link is None else link.uuid(machine.id)

    def _await_seat(self, run: str) -> None:
        """Give a fresh supervisor a moment to take its seat, so that the next look sees it."""
        deadline = self._d.clock.monotonic() + 5.0
        while run not in self._supervised() and self._d.clock.monotonic() < deadline:
            self._d.clock.sleep(0.02)
            self._d.session.exchange()
            if self._size_of_streams(run) > self._starts[run][1]:
                return

    def _count_start(self, run: str) -> None:
        """Count a start; it is one in a row while the starts before it brought nothing."""
        self._starts[run] = (self._barren(run) + 1, self._size_of_streams(run), self._size_of_errors(run))

    def _barren(self, run: str) -> int:
        """Return how many starts in a row brought nothing to the run's streams, or ended in an error."""
        count, size, errors = self._starts.get(run, (0, 0, 0))
        brought = self._size_of_streams(run) > size and self._size_of_errors(run) == errors
        return 0 if brought else count

    def _size_of_errors(self, run: str) -> int:
        log = self._folder.run(run).supervisor_log
        return log.stat().st_size if log.exists() else 0

    def _size_of_streams(self, run: str) -> int:
        return sum(path.stat().st_size for path in self._folder.journal.glob(f"{run}-*.jsonl"))

    def _note_lost(self, view: CampaignView, action: policy.Action) -> None:
        """Record the loss. The machine is gone: nothing writes the records of its life any more."""
        assert isinstance(action, policy.NoteLost)
        self._tell_lost(view, action)
        if self._d.session.link is None:  # of a disk elsewhere home has a part only
            records = self._folder.run(action.run).attempt(action.attempt).records()
            settle_once(self._d.session, self._d.writer, records)

    def _tell_lost(self, view: CampaignView, action: policy.NoteLost) -> None:
        life = next(life for life in view.run(action.run).attempts if life.number == action.attempt)
        folder = self._folder.run(action.run)
        beat = read_beat(folder.attempt(action.attempt).heartbeat)
        self._d.writer.append(
            EventType.ATTEMPT_LOST,
            run=action.run,
            attempt=action.attempt,
            machine=life.machine,
            why=action.why,
            step=beat.step if beat else None,
            committed_step=_committed_on_disk(folder, life.committed_step),
            items=items_by_now(folder, life),
        )

    def _abandon(self, view: CampaignView, action: policy.Action) -> None:
        """Record the loss, fence the attempt, let its machine go; one that cannot be let go may bill on."""
        assert isinstance(action, policy.Abandon)
        if next(life for life in view.run(action.run).attempts if life.number == action.attempt).alive:
            self._tell_lost(view, policy.NoteLost(run=action.run, attempt=action.attempt, why=action.why))
        take_seat_away(self._folder.run(action.run), self._d.session.stream_name)
        rescue_what_can_be(self._d.session, self._d.writer, action.machine, self._d.clock, self._d.tell)
        try:
            self._d.provider.delete(action.machine)
        except ProviderError as error:
            machine = next(machine for machine in view.machines if machine.id == action.machine)
            self._d.tell(f"{may_bill(machine)} ({error.message})")

    def _await(self, view: CampaignView, action: policy.Action) -> None:
        assert isinstance(action, policy.Await)
        facts = measured(action.point, self._d.plan, view)
        self._d.writer.append(EventType.DECISION_AWAITED, **facts)
        self._d.tell(_("{stage} is over: a person decides").format(stage=action.point.stage))

    def _retire(self, view: CampaignView, action: policy.Action) -> None:
        assert isinstance(action, policy.Retire)
        self._retiring.add(action.run)
        atomic.write_text(self._folder.run(action.run).stop_request, strictjson.pretty({"why": action.why}))
        self._d.tell(
            _("{run}: asked to save and end: {why}").format(run=view.run(action.run).name, why=action.why)
        )

    def _give_up(self, view: CampaignView, action: policy.Action) -> None:
        assert isinstance(action, policy.GiveUp)
        log = self._folder.run(action.run).supervisor_log
        last = log.read_text(errors="replace").strip().splitlines()[-2:] if log.exists() else []
        why = action.why + (": " + " ".join(line.strip() for line in last) if last else "")
        self._d.writer.append(EventType.RUN_GIVEN_UP, run=action.run, why=why)

    def _wait(self, view: CampaignView, action: policy.Action) -> None:
        self._d.clock.sleep(LOOK_SECONDS)

    # --- telling --------------------------------------------------------------------------------------

    def _tell_news(self, view: CampaignView) -> None:
        for run in view.runs:
            for life in run.attempts:
                key = (run.id, life.number)
                if key not in self._told.attempts:
                    self._told.attempts.add(key)
                    self._d.tell(
                        _("{run}: attempt {number} on {machine}").format(
                            run=run.name, number=life.number, machine=life.machine
                        )
                    )
                if not life.alive and key not in self._told.ends:
                    self._told.ends.add(key)
                    self._d.tell(_ending(run, life.number))
                if life.at_risk is not None and life.at_risk != self._told.risks.get(key):
                    self._told.risks[key] = life.at_risk
                    self._d.tell(_at_risk(run, life.at_risk))
                waits = (life.waits, life.no_room is not None)
                if waits != self._told.waits.setdefault(key, (0, False)):
                    self._told.waits[key] = waits
                    self._d.tell(_wait_for_room(run, life))


def note_gone(writer: StreamWriter, provider: Provider, machine_id: str, why: str, clock: Clock) -> None:
    """Record the end of a machine, with the time that it was used by its provider's clock."""
    machine = provider.describe(machine_id)
    writer.append(EventType.MACHINE_GONE, machine=machine.id, cause=why, seconds=machine.used_seconds)


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


def _committed(run: RunView) -> int | None:
    """Return the highest step that any attempt of a run is known to have committed."""
    steps = [life.committed_step for life in run.attempts if life.committed_step is not None]
    return max(steps, default=None)


def _committed_on_disk(folder: RunFolder, recorded: int | None) -> int | None:
    """Return the highest step that is committed: the last one may have come too late to be recorded."""
    found = [committed(path) for path in names(folder.checkpoints)]
    steps = [manifest.step for manifest in found if not isinstance(manifest, str)]
    return max([*steps, *([] if recorded is None else [recorded])], default=None)

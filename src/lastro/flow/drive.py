"""Drives a campaign from home: looks, asks the policy what is next, does it, until nothing is left.

Everything here can be killed at any line: each effect is preceded by its intent in the journal, and the
next `lastro run` begins with a look.
"""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Mapping
from dataclasses import field, replace
from pathlib import Path
from typing import Any

from lastro import atomic, strictjson
from lastro.checkpoint.store import committed, names
from lastro.disk.facts import read_disk
from lastro.disk.reserve import keep_reserve
from lastro.errors import PreflightFailed, ProviderError
from lastro.flow import policy
from lastro.flow.attaching import note_attached
from lastro.flow.deciding import Standing, measured, standing_of, work_limit
from lastro.flow.driven import Drive
from lastro.flow.echo import Echo
from lastro.flow.guarding import before_deletion, rescue_what_can_be
from lastro.flow.halting import HaltRequest, standing_halt
from lastro.flow.inherited import Inherited
from lastro.flow.lateness import Lateness
from lastro.flow.limits import last_save_seconds, limits_by_machine, limits_of_new
from lastro.flow.live import items_by_now
from lastro.flow.machine_events import note_gone
from lastro.flow.measured_saves import expected_save
from lastro.flow.money import may_bill
from lastro.flow.moot import Foreseen, moot_runs
from lastro.flow.news import News
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
from lastro.flow.renting import Renting
from lastro.flow.settling import settle_once
from lastro.flow.silence import Pulse, may_be_silent, told_after
from lastro.flow.whose_fault import Whose, whose_fault
from lastro.journal.events import EventType
from lastro.journal.signals import read_beat
from lastro.journal.views import CampaignView, RunView
from lastro.locale import _
from lastro.paths import Disk, RunFolder
from lastro.plan.model import PlannedRun
from lastro.providers.base import Machine, MachineState
from lastro.providers.shell_signs import ShellSigns
from lastro.records import dataclass
from lastro.rules import End, Limits
from lastro.run.seat import take_seat_away
from lastro.run.workdir import changed_in_place

#: Seconds between two looks while nothing is to be done.
LOOK_SECONDS = 0.1
#: Seconds between two signs of life, and copies of home's stream, on the disk while nothing else happens.
MIRROR_SECONDS = 5.0
#: Nothing is started on a machine for so long after it has announced its end: the longest notice, and a bit.
NOTICE_HOLDS_SECONDS = 150.0


@dataclass
class Told:
    """What people were told and what was recorded already, so that each fact is told once."""

    fired: set[str] = field(default_factory=set)
    silent: set[str] = field(default_factory=set)
    moot: set[str] = field(default_factory=set)
    shells: set[str] = field(default_factory=set)
    away: str | None = None


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
        self._renting = Renting(drive, self._inherited)
        self._news = News(drive.tell)
        self._echo = Echo(drive.session.on_disk, drive.echo) if drive.echo is not None else None
        if self._echo is not None:
            self._echo.pass_over(drive.session.view())
        self._acts: Mapping[type[policy.Action], Callable[[CampaignView, policy.Action], None]] = {
            policy.Recover: self._renting.recover,
            policy.NoteReady: self._note_ready,
            policy.NoteGone: self._note_gone,
            policy.NoteLost: self._note_lost,
            policy.Abandon: self._abandon,
            policy.Check: self._check,
            policy.Dispatch: self._dispatch,
            policy.Await: self._await,
            policy.Retire: self._retire,
            policy.GiveUp: self._give_up,
            policy.Rent: self._renting.rent,
            policy.Reject: self._renting.reject,
            policy.LetGo: self._let_go,
            policy.LeaveOffer: self._renting.leave_offer,
            policy.NoteSpent: self._renting.note_spent,
            policy.Despair: self._renting.despair,
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
        self._news.look(view)
        machines = self._ask_provider(view)
        self._gone = frozenset(one.id for one in view.machines if one.state == "gone") | frozenset(
            one.id for one in machines.values() if one.state is MachineState.GONE
        )
        self._mirror()
        going = [one.id for one in machines.values() if one.state is MachineState.LEAVING]
        choice, places = self._renting.choose(view, going), self._d.provider.places
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
            refusals=self._renting.refusals,
            retry_in=self._renting.retry_in,
            shells=self._open_shells(),
            overdue=self._lateness.look(
                machines.values(), self._d.clock.monotonic(), has_other=choice.has_other
            ),
            choice=choice,
            places=places,
            shut=self._renting.shut,
            barred=self._renting.barred,
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
                self._news.tell_absence(machine)
            if machine.queued is not None:
                self._news.tell_queue(machine)
        return machines

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

    def _let_go(self, view: CampaignView, action: policy.Action) -> None:
        assert isinstance(action, policy.LetGo)
        self._d.provider.delete(action.machine)

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
        self._renting.recall(machine.id, machine.node, avoid=True)
        return {"node": machine.node, "born": machine.born.as_json()}

    def _note_gone(self, view: CampaignView, action: policy.Action) -> None:
        assert isinstance(action, policy.NoteGone)
        note_gone(self._d.writer, self._d.provider, action.machine, action.why)
        self._d.tell(_("machine {id} is gone: {why}").format(id=action.machine, why=action.why))

    def _check(self, view: CampaignView, action: policy.Action) -> None:
        assert isinstance(action, policy.Check)
        machine = self._d.provider.describe(action.machine)
        facts = dict(self._d.preflight(machine))
        if facts.get("node_id") is not None:
            self._renting.recall(machine.id, str(facts["node_id"]))
        self._d.writer.append(EventType.PREFLIGHT_DONE, machine=machine.id, **facts)
        self._d.tell(_("preflight of {id}: {verdict}").format(id=machine.id, verdict=facts["verdict"]))
        if facts.get("accepted"):
            self._d.tell(str(facts["trust_why"]))
        if not facts.get("trusted", facts["verdict"] != "fail"):
            self._distrust(machine.id, facts)
        else:
            self._renting.used()

    def _distrust(self, machine: str, facts: Mapping[str, Any]) -> None:
        """Record that a machine is not used; where no other machine mends it, let it go and end here."""
        why = _("machine {id} failed preflight: {findings}").format(
            id=machine, findings=facts.get("trust_why", facts.get("summary", ""))
        )
        whose = whose_fault(facts)
        if whose is not Whose.CAMPAIGN:
            self._renting.turn_away(machine, "preflight", why, by_offer=whose is Whose.OFFER)
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


def _committed(run: RunView) -> int | None:
    """Return the highest step that any attempt of a run is known to have committed."""
    steps = [life.committed_step for life in run.attempts if life.committed_step is not None]
    return max(steps, default=None)


def _committed_on_disk(folder: RunFolder, recorded: int | None) -> int | None:
    """Return the highest step that is committed: the last one may have come too late to be recorded."""
    found = [committed(path) for path in names(folder.checkpoints)]
    steps = [manifest.step for manifest in found if not isinstance(manifest, str)]
    return max([*steps, *([] if recorded is None else [recorded])], default=None)

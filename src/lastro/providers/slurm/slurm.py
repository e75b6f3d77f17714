"""Machines that are jobs of a Slurm cluster: an allocation in which lastro starts, watches and ends runs."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping, Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any

from lastro import atomic, strictjson
from lastro.clock import Clock, Stamp, from_iso, wait_until
from lastro.errors import ProviderError
from lastro.locale import _
from lastro.paths import Disk, Home, MachineFolder
from lastro.providers.base import Machine, MachineRequest, MachineState, Made, Trace, Traits
from lastro.providers.machine_ids import (
    checked,
    digest_of,
    digest_of_another,
    not_running,
    takes_no_faults,
    unknown_machine,
)
from lastro.providers.records import End, Record, make_record, read_end, read_or_none, read_record, write_end
from lastro.providers.slurm.cluster import Cluster, Unanswered
from lastro.providers.slurm.script import Script, options_at, without_nodes
from lastro.providers.slurm.states import Job, Meaning, meaning_of
from lastro.providers.spool import ask

_PREFIX = "slurm-"
_JOB_PREFIX = "lastro-"
_LOOK_EVERY = 0.05
#: How long a seat may take to start a process or to end everything; a job that was cancelled, to be gone.
_SECONDS_TO_ANSWER = 60.0
_SECONDS_TO_END = 15.0
#: How long one may take that gives signs: it copies what of value lies on its node only.
_SECONDS_TO_RESCUE = 1800.0
#: Seconds between two answers of which neither lists a job that was submitted: then it is gone.
_APART_SECONDS = 2.0
#: A seat that gave no sign for so long does not answer: it gives one each second.
_SILENT_SECONDS = 10.0
#: What is told as the node of a machine that has none yet.
_NO_NODE = "not-yet-known"


class Slurm:
    """One cluster. Home, which submits the jobs, and their nodes see the disk at the same path."""

    traits = Traits(
        creates=True,
        own_workdir=True,
        takes_faults=False,
        ends_itself=True,
        allotted=True,
        takes_places=True,
    )
    places: tuple[str, ...] = ()

    def __init__(self, spec: str, home: Home, clock: Clock) -> None:
        options_at(spec, {})
        self.name = spec
        self._home, self._clock = home, clock
        self._cluster = Cluster(clock)
        self._missed: dict[str, int] = {}
        self._dead: set[str] = set()  # nodes that give no sign, of which Slurm does not know that yet
        self._beats: dict[str, tuple[int, float]] = {}

    # --- creating -------------------------------------------------------------------------------------

    def create(self, request: MachineRequest) -> Machine:
        if request.faults:
            raise takes_no_faults(self.name)
        digest = digest_of(self._home, request.tag)
        machine_id = f"{_PREFIX}{digest[:10]}"
        folder, spool = self._home.slurm_machine(machine_id), Disk(request.disk).allotted(machine_id)
        record = make_record(
            folder, Record(id=machine_id, node=_NO_NODE, born=self._clock.stamp(), request=request)
        )
        if not folder.job.exists():
            make_record(spool, record)
            # One that an earlier call of this tag has submitted, and could not write down, is it.
            known = self._sought(record, spool)
            number = known.number if known is not None else self._submit(record, spool)
            atomic.write_text(folder.job, strictjson.pretty({"job": number}))
        return self.describe(machine_id)

    def _job(self, record: Record, *, now: bool = False) -> Job | None:
        """Return a machine's job as Slurm lists it: by its number, and while nobody knows that by its name.

        Of several of its name the first is it: later ones were handed in by somebody else, and end at once.
        """
        jobs = self._cluster.jobs(now=now)
        known = read_or_none(self._home.slurm_machine(record.id).job)
        if known is not None:
            job = jobs.get(known["job"])
        else:
            name = _job_name(record.id, record.request.campaign)
            named = (one for one in jobs.values() if one.name == name)
            job = min(named, key=lambda one: one.number, default=None)
        if job is not None:
            self._missed.pop(record.id, None)
        return job

    def _sought(self, record: Record, spool: MachineFolder) -> Job | None:
        """Return a machine's job; None only when nothing was submitted, or two answers do not list it.

        A controller that was restarted, or is busy, may leave a job out once.
        """
        job = self._job(record, now=True)
        if job is None and (spool.script.exists() or not spool.root.is_dir()):
            self._clock.sleep(_APART_SECONDS)
            job = self._job(record, now=True)
        return job

    def _submit(self, record: Record, spool: MachineFolder) -> int:
        request = record.request
        script = Script(
            job=_job_name(record.id, request.campaign),
            machine=record.id,
            campaign=request.campaign,
            folder=spool.root.absolute(),
            python=Path(sys.executable),
            options=without_nodes(options_at(request.place or self.name, request.sbatch), self._dead),
        )
        atomic.make_folder(spool.requests)
        atomic.write_text(spool.script, script.text())
        return self._cluster.submit(spool.script.absolute())

    # --- of other homes -------------------------------------------------------------------------------

    def adopt(self, made: Made) -> Machine:
        machine_id = made.id or f"{_PREFIX}{digest_of_another(made)[:10]}"
        request, now = made.request, self._clock.stamp()
        folder, spool = self._home.slurm_machine(machine_id), Disk(request.disk).allotted(machine_id)
        if spool.record.exists() and spool.record.stat().st_uid != os.getuid():
            why = _("its job belongs to another user, whose jobs this one is not told of")
            return unknown_machine(machine_id, why, now.at, request.tag)
        record = Record(id=machine_id, node=_NO_NODE, born=made.born or now, request=request)
        make_record(folder, record)
        if made.id is None and not spool.script.exists():  # which is written before a job is submitted
            write_end(folder, End(at=now, cause="it was never submitted", used_seconds=0.0))
        return self.describe(machine_id)

    def traces(self) -> list[Trace]:
        return [
            Trace(machine=f"{_PREFIX}{job.name.rpartition('-')[2]}", what=f"job {job.number}, {job.state}")
            for job in self._cluster.jobs(now=True).values()
            if job.name.startswith(_JOB_PREFIX)
            and meaning_of(job, seated=True).state is not MachineState.GONE
        ]

    # --- looking --------------------------------------------------------------------------------------

    def describe(self, machine_id: str) -> Machine:
        folder = self._folder(machine_id)
        record, end = read_record(folder), read_end(folder)
        spool = _spool(record)
        told: Mapping[str, Any] = read_or_none(spool.state) or {}
        job: Job | None = None
        if end is None:
            job, meaning = self._meaning(record, told, self._silent_seconds(spool))
            if meaning.state is MachineState.GONE:
                end = self._ended(folder, spool, meaning.cause or "the job has ended", job)
        if end is not None:
            meaning = Meaning(state=MachineState.GONE, cause=end.cause)
        used = end.used_seconds if end else job.used_seconds if job else None
        return Machine(
            id=record.id,
            node=str(told.get("node", record.node)),
            tag=record.request.tag,
            state=meaning.state,
            workdir=Path(told.get("work", "")),
            created_at=record.born.at,
            born=None
            if meaning.queued or used is None
            else _earlier(end.at if end else self._clock.stamp(), used),
            used_seconds=0.0 if meaning.queued else used,
            ready_at=from_iso(told["ready_at"]) if told.get("ready_at") else None,
            gone_at=end.at.at if end else None,
            cause=meaning.cause,
            queued=meaning.cause if meaning.queued else None,
        )

    def _meaning(self, record: Record, told: Mapping[str, Any], silent: float) -> tuple[Job | None, Meaning]:
        """Say what a machine is that nobody has seen gone: as Slurm says, and as its own process does."""
        seated = bool(told)
        try:
            job = self._job(record)
        except Unanswered as error:
            if seated and silent < _SILENT_SECONDS:
                return None, Meaning(state=MachineState(told["state"]), cause=told.get("cause"))
            return None, Meaning(state=MachineState.UNKNOWN, cause=error.message)
        if job is None:
            return None, self._not_listed(record.id)
        meaning = meaning_of(job, seated=seated)
        if meaning.state is MachineState.RUNNING and seated and silent >= _SILENT_SECONDS:
            self._dead.add(job.nodes)
            cause = f"no sign from its node for {silent:.0f} s, of which Slurm says {job.state}"
            return job, Meaning(state=MachineState.UNKNOWN, cause=cause)
        if meaning.state is MachineState.RUNNING and told.get("state") == MachineState.LEAVING.value:
            return job, Meaning(state=MachineState.LEAVING, cause=told.get("ending") or told.get("cause"))
        return job, meaning

    def _not_listed(self, machine_id: str) -> Meaning:
        """A job that Slurm does not list is gone when two of its answers say so."""
        first = self._missed.setdefault(machine_id, self._cluster.answers)
        if self._cluster.answers > first:
            return Meaning(state=MachineState.GONE, cause="Slurm does not know the job any more")
        return Meaning(state=MachineState.UNKNOWN, cause=_("Slurm does not list the job; it is asked again"))

    def _ended(self, folder: MachineFolder, spool: MachineFolder, cause: str, job: Job | None) -> End:
        """Write down that a machine is gone: its own words come first where it ended by itself."""
        said = read_end(spool)
        if said is not None and (job is None or job.state == "COMPLETED"):
            cause = said.cause
        used = job.used_seconds if job else said.used_seconds if said else None
        write_end(folder, End(at=self._clock.stamp(), cause=cause, used_seconds=used))
        kept = read_end(folder)
        assert kept is not None
        return kept

    def _silent_seconds(self, spool: MachineFolder) -> float:
        """Return for how long a seat has given no sign, by this computer's clock: clocks are not compared."""
        now = self._clock.monotonic()
        try:
            beat = spool.beat.stat().st_mtime_ns
        except OSError:
            beat = 0
        known = self._beats.get(spool.root.name)
        if known is None or known[0] != beat:
            known = self._beats[spool.root.name] = (beat, now)
        return now - known[1]

    def machines(self) -> list[Machine]:
        root = self._home.slurm_machines
        found = [MachineFolder(path) for path in root.iterdir()] if root.is_dir() else []
        described = [self.describe(one.root.name) for one in found if one.record.exists()]
        return sorted(described, key=lambda machine: machine.created_at)

    def facts(
        self, machine: Machine, command: Sequence[str], packages: Sequence[str], variables: Sequence[str]
    ) -> Mapping[str, Any]:
        """Return what a node says of itself, as a job would find it there; see `telling.tell`.

        With `node`, and `at`: its time.

        Raises:
            ProviderError: it did not say it.
        """
        record = read_record(self._folder(machine.id))
        spool = _spool(record)
        question: dict[str, Any] = {
            "command": list(command),
            "packages": list(packages),
            "variables": list(variables),
        }
        question["disk"] = str(record.request.disk)
        spool.facts.unlink(missing_ok=True)
        atomic.write_text(spool.question, strictjson.pretty(question))
        self.start(machine.id, [sys.executable, "-m", "lastro.providers.slurm.tell", str(spool.root)])
        self._until(spool.facts.exists, _SECONDS_TO_ANSWER)
        told: Mapping[str, Any] | None = read_or_none(spool.facts)
        if told is None:
            raise ProviderError(
                _("machine {id} has not said what it is").format(id=machine.id),
                hint=_("its log may say why: {log}").format(log=spool.log),
            )
        return told

    # --- using and letting go -------------------------------------------------------------------------

    def start(self, machine_id: str, argv: Sequence[str]) -> None:
        machine = self.describe(machine_id)
        if machine.state is not MachineState.RUNNING:
            raise not_running(machine)
        spool = _spool(read_record(self._folder(machine_id)))
        ask(spool, argv, lambda answered: self._until(answered, _SECONDS_TO_ANSWER))

    def delete(self, machine_id: str) -> None:
        folder = self._folder(machine_id)
        record = read_record(folder)
        spool = _spool(record)
        if read_end(folder) is not None:
            return
        if spool.root.is_dir():  # a disk that is away is told nothing
            atomic.claim(spool.deletion, strictjson.dumps({"cause": "deleted"}).encode())
        job = self._sought(record, spool)
        if job is not None and not self._ends_itself(record, job):
            self._cluster.cancel(job.number)
        if job is not None and not self._until(lambda: self._is_over(record), _SECONDS_TO_ANSWER):
            raise ProviderError(
                _("job {number} was cancelled and has not ended").format(number=job.number),
                hint=_("its node may hang; Slurm goes on trying, and `lastro stop --release` looks again"),
            )
        last, said = self._job(record) or job, read_end(spool)
        used = last.used_seconds if last else said.used_seconds if said else None
        write_end(folder, End(at=self._clock.stamp(), cause="deleted", used_seconds=used))

    def _ends_itself(self, record: Record, job: Job) -> bool:
        """Tell whether a job that was asked to has ended what runs in it, and then itself."""
        spool = _spool(record)
        running = meaning_of(job, seated=spool.state.exists()).state is MachineState.RUNNING
        if not running or self._silent_seconds(spool) >= _SILENT_SECONDS:
            return False
        self._until(
            lambda: read_end(spool) is not None or self._silent_seconds(spool) >= _SILENT_SECONDS,
            _SECONDS_TO_RESCUE,
        )
        return read_end(spool) is not None and self._until(lambda: self._is_over(record), _SECONDS_TO_END)

    def _is_over(self, record: Record) -> bool:
        """Tell whether Slurm has ended a job that was cancelled, also one whose node has died meanwhile."""
        job = self._job(record)
        if job is None:
            return self._not_listed(record.id).state is MachineState.GONE
        if meaning_of(job, seated=True).state is MachineState.GONE:
            return True
        return job.state == "COMPLETING" and self._silent_seconds(_spool(record)) >= _SILENT_SECONDS

    def fired(self, campaign_disk: Path, campaign: str) -> frozenset[str]:
        return frozenset()

    def _until(self, condition: Callable[[], bool], seconds: float) -> bool:
        return wait_until(self._clock, condition, seconds, _LOOK_EVERY)

    def _folder(self, machine_id: str) -> MachineFolder:
        return checked(self._home.slurm_machine(machine_id), machine_id, _PREFIX)


def _spool(record: Record) -> MachineFolder:
    return Disk(record.request.disk).allotted(record.id)


def _job_name(machine_id: str, campaign: str) -> str:
    """Return what squeue shows, and what a job is found by: the digest in it is of the tag and this home."""
    return f"{_JOB_PREFIX}{campaign[:24]}-{machine_id.removeprefix(_PREFIX)}"


def _earlier(now: Stamp, seconds: float) -> Stamp:
    """Return the moment so many seconds before another one of the same clock."""
    return Stamp(at=now.at - timedelta(seconds=seconds), boot=now.boot, seconds=now.seconds - seconds)

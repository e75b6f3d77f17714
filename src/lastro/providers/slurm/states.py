"""What Slurm says of a job, and what that means for the machine that it is. Pure.

Names of states: the manual page of squeue (Slurm 22.05), "JOB STATE CODES".
"""

from __future__ import annotations

from lastro.providers.base import MachineState
from lastro.records import dataclass

#: How an end that Slurm names is told. Causes stand in the journal, so they are not translated.
_ENDS = {
    "BOOT_FAIL": "its node did not boot (BOOT_FAIL)",
    "CANCELLED": "the job was cancelled (scancel)",
    "COMPLETED": "the job has ended",
    "DEADLINE": "Slurm's deadline for the job has passed (DEADLINE)",
    "FAILED": "the job has failed: see machine.log (FAILED)",
    "NODE_FAIL": "its node failed (NODE_FAIL)",
    "OUT_OF_MEMORY": "the job used more memory than it has (OUT_OF_MEMORY)",
    "PREEMPTED": "preempted by another job (PREEMPTED)",
    "REVOKED": "its cluster has given the job up (REVOKED)",
    "TIMEOUT": "its time limit has passed (TIMEOUT)",
}
_QUEUED = frozenset({"PENDING", "REQUEUED", "REQUEUE_HOLD", "REQUEUE_FED", "SPECIAL_EXIT", "RESV_DEL_HOLD"})
_LEAVING = frozenset({"COMPLETING", "SIGNALING", "STAGE_OUT"})


@dataclass(frozen=True, kw_only=True)
class Job:
    """One job as the controller tells it.

    Args:
        number: Slurm's own id.
        name: as the script says it.
        state: one word, in capitals.
        reason: why it waits or has ended, as Slurm says it; None: it says nothing.
        nodes: where it is, in Slurm's short form; "" while it waits.
        used_seconds: since it began, without what it waited; by the controller's clock, to a second.
        expected: when it may begin, as Slurm guesses, ISO 8601 without a zone; None: it does not guess.
    """

    number: int
    name: str
    state: str
    reason: str | None
    nodes: str
    used_seconds: float
    expected: str | None


@dataclass(frozen=True, kw_only=True)
class Meaning:
    """What the machine is, and why. `queued`: it has not begun, and nothing is used."""

    state: MachineState
    cause: str | None = None
    queued: bool = False


def meaning_of(job: Job, *, seated: bool) -> Meaning:
    """Return what a job's state means. `seated`: its own process has said that it is up."""
    if job.state in _ENDS:
        return Meaning(state=MachineState.GONE, cause=_ENDS[job.state])
    if job.state in _QUEUED:
        return Meaning(state=MachineState.BOOTING, cause=_waits(job), queued=True)
    if job.state in _LEAVING:
        return Meaning(state=MachineState.LEAVING, cause="Slurm is ending the job")
    if job.state == "RUNNING" and seated:
        return Meaning(state=MachineState.RUNNING)
    if job.state in ("RUNNING", "CONFIGURING"):
        return Meaning(state=MachineState.BOOTING)
    if job.state in ("SUSPENDED", "STOPPED", "RESIZING"):
        return Meaning(
            state=MachineState.RUNNING if seated else MachineState.BOOTING, cause=f"Slurm: {job.state}"
        )
    return Meaning(state=MachineState.UNKNOWN, cause=f"Slurm says {job.state}, which lastro does not know")


def _waits(job: Job) -> str:
    why = f" ({job.reason})" if job.reason else ""
    guess = f", Slurm expects it to begin at {job.expected}" if job.expected else ""
    return f"it waits in the queue{why}{guess}"


def parse_jobs(text: str) -> dict[int, Job]:
    """Return the jobs in what `squeue --format` of `FORMAT` has printed, by number.

    Lines of jobs that lastro did not name may hold anything, and are passed over.
    """
    found: dict[int, Job] = {}
    for line in text.splitlines():
        parts = line.split("|")
        if len(parts) != len(FORMAT.split("|")) or not parts[0].isdigit():
            continue
        number, state, reason, nodes, used, expected, name = parts
        found[int(number)] = Job(
            number=int(number),
            name=name,
            state=state,
            reason=reason if reason not in ("None", "", "N/A") else None,
            nodes=nodes,
            used_seconds=parse_used(used),
            expected=expected if expected not in ("N/A", "", "Unknown") and state in _QUEUED else None,
        )
    return found


#: Number, state, reason, nodes, time used, begin, name.
FORMAT = "%i|%T|%r|%N|%M|%S|%j"


def parse_used(text: str) -> float:
    """Return the seconds of `[days-][[hours:]minutes:]seconds`; 0 for anything else, such as INVALID."""
    days, _sep, clock = text.rpartition("-")
    parts = clock.split(":")
    if not all(part.isdigit() for part in (*parts, days or "0")):
        return 0.0
    seconds = 0
    for part in parts:
        seconds = seconds * 60 + int(part)
    return float(int(days or 0) * 86400 + seconds)

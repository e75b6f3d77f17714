"""What is known of single machines over all campaigns: hours, faults with their uncertainty, notes. Pure."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from lastro.clock import Stamp
from lastro.journal.events import EventType
from lastro.journal.projections import machine_views
from lastro.journal.streams import Event
from lastro.locale import _
from lastro.records import dataclass
from lastro.rules import End

#: How sure an interval is.
CONFIDENCE = 0.95
#: Ends of machines that say nothing of the machine: their providers took them, or somebody let them go.
_ORDERLY = ("preempted", "deleted", "released", "lease over", "nothing runs on it")


@dataclass(frozen=True, kw_only=True)
class Fault:
    """Something that went wrong on a machine; `at` by the clock of who told it."""

    at: str
    campaign: str
    what: str


@dataclass(frozen=True, kw_only=True)
class Note:
    """What a person has written of a machine."""

    at: str
    text: str


@dataclass(frozen=True, kw_only=True)
class NodeRecord:
    """One machine over all campaigns of a home.

    Args:
        node: as its hardware calls it where preflight has seen that, else as its provider does.
        names: all that it was called.
        hours: of use; None: nobody knows of any.
        low, high: faults an hour, with CONFIDENCE; `high` None: without hours there is no bound.
    """

    node: str
    names: tuple[str, ...]
    providers: tuple[str, ...]
    machines: int
    hours: float | None
    faults: tuple[Fault, ...]
    notes: tuple[Note, ...]
    low: float
    high: float | None

    @property
    def bad(self) -> str | None:
        """Why the machine is named before it is used again; None: nothing is known against it."""
        told = [_("note: {text}").format(text=note.text) for note in self.notes]
        if self.faults:
            last = self.faults[-1]
            told.append(
                _("{count} faults in {hours}, the last: {what} (campaign {campaign})").format(
                    count=len(self.faults),
                    hours=_("unknown time") if self.hours is None else f"{self.hours:.1f} h",
                    what=last.what,
                    campaign=last.campaign,
                )
            )
        return "; ".join(told) or None

    def as_json(self) -> dict[str, Any]:
        return {
            "node": self.node,
            "names": list(self.names),
            "providers": list(self.providers),
            "machines": self.machines,
            "hours": self.hours,
            "faults": [vars(fault) for fault in self.faults],
            "faults_per_hour": {"low": self.low, "high": self.high, "confidence": CONFIDENCE},
            "notes": [vars(note) for note in self.notes],
            "bad": self.bad,
        }


@dataclass(frozen=True, kw_only=True)
class Use:
    """One machine in one campaign, as `uses` finds it."""

    node: str | None
    box: str | None
    provider: str
    seconds: float | None
    faults: tuple[Fault, ...]


def uses(campaign: str, streams: Mapping[str, Sequence[Event]], now: Stamp) -> tuple[Use, ...]:
    """Return every machine that a campaign has had, with what went wrong on it."""
    found = []
    for name, events in streams.items():
        if not name.startswith(("home-", "probes")):
            continue
        boxes = {
            e.facts["machine"]: e.facts.get("node_id") for e in events if e.type is EventType.PREFLIGHT_DONE
        }
        for machine in machine_views(events, now):
            if machine.id is None:
                continue
            faults = _faults(campaign, machine.id, machine.cause, events, streams)
            found.append(
                Use(
                    node=machine.node,
                    box=boxes.get(machine.id),
                    provider=machine.provider,
                    seconds=machine.seconds,
                    faults=faults,
                )
            )
    return tuple(found)


def _faults(
    campaign: str,
    machine: str,
    cause: str | None,
    home: Sequence[Event],
    streams: Mapping[str, Sequence[Event]],
) -> tuple[Fault, ...]:
    """Return what speaks against a machine: a failed preflight, a loss without a reason, a job that hung."""
    found = []
    orderly = cause is not None and cause.startswith(_ORDERLY)
    for event in home:
        if event.facts.get("machine") != machine:
            continue
        if event.type is EventType.PREFLIGHT_DONE and event.facts["verdict"] == "fail":
            what = _("preflight failed: {why}").format(
                why=event.facts.get("summary") or event.facts["verdict"]
            )
            found.append(Fault(at=event.at, campaign=campaign, what=what))
        elif event.type is EventType.MACHINE_REJECTED and event.facts["what"] == "boot":
            found.append(Fault(at=event.at, campaign=campaign, what=event.facts["why"]))
        elif event.type is EventType.ATTEMPT_LOST and not orderly:
            what = _("it was lost: {why}").format(why=event.facts["why"])
            found.append(Fault(at=event.at, campaign=campaign, what=what))
    for events in streams.values():
        here = any(e.type is EventType.ATTEMPT_STARTED and e.facts["machine"] == machine for e in events)
        for event in events if here else ():
            if event.type is EventType.ATTEMPT_ENDED and event.facts["cause"]["end"] == End.HUNG.value:
                what = _("a job hung: {why}").format(why=event.facts["cause"]["why"])
                found.append(Fault(at=event.at, campaign=campaign, what=what))
    return tuple(sorted(found, key=lambda fault: fault.at))


def node_records(found: Sequence[Use], notes: Mapping[str, Sequence[Note]]) -> tuple[NodeRecord, ...]:
    """Return what is known of each machine; names that belong to one box are one machine.

    Args:
        found: from all campaigns.
        notes: by the name that they were written under.
    """
    box_of = {use.node: use.box for use in found if use.node is not None and use.box is not None}
    keys: dict[str, list[Use]] = {}
    for use in found:
        key = use.box or box_of.get(use.node or "") or use.node
        if key is not None:
            keys.setdefault(key, []).append(use)
    records = [_record(node, members, notes) for node, members in keys.items()]
    known = {name for record in records for name in record.names}
    records += [_record(node, (), notes) for node in notes if node not in known]
    return tuple(sorted(records, key=lambda one: (-len(one.faults) - len(one.notes), one.node)))


def _record(node: str, members: Sequence[Use], notes: Mapping[str, Sequence[Note]]) -> NodeRecord:
    names = dict.fromkeys([node, *(name for use in members for name in (use.node, use.box) if name)])
    seconds = [use.seconds for use in members if use.seconds is not None]
    hours = sum(seconds) / 3600 if seconds else None
    faults = tuple(sorted((fault for use in members for fault in use.faults), key=lambda fault: fault.at))
    low, high = poisson_interval(len(faults))
    written = sorted((note for name in names for note in notes.get(name, ())), key=lambda note: note.at)
    return NodeRecord(
        node=node,
        names=tuple(names),
        providers=tuple(sorted({use.provider for use in members})),
        machines=len(members),
        hours=hours,
        faults=faults,
        notes=tuple(written),
        low=low / hours if hours else 0.0,
        high=high / hours if hours else None,
    )


def poisson_interval(count: int, confidence: float = CONFIDENCE) -> tuple[float, float]:
    """Return the expected numbers between which the true one lies, when `count` were seen; exact.

    F. Garwood, Fiducial limits for the Poisson distribution, Biometrika 28, 1936: the lowest expectation
    under which `count` or more is still as likely as half of what is left to chance, and the highest for
    `count` or fewer. 0 seen says at most 3.69 at 95 %.
    """
    tail = (1 - confidence) / 2
    low = 0.0 if count == 0 else _root(lambda mean: 1 - _at_most(count - 1, mean) - tail, count + 1.0)
    high = _root(lambda mean: tail - _at_most(count, mean), 4.0 * count + 20.0)
    return low, high


def _at_most(count: int, mean: float) -> float:
    """Return the chance of `count` or fewer events where `mean` are expected."""
    if mean == 0:
        return 1.0
    return math.fsum(math.exp(k * math.log(mean) - mean - math.lgamma(k + 1)) for k in range(count + 1))


def _root(rising: Callable[[float], float], upper: float) -> float:
    """Return where a rising function passes 0 between 0 and `upper`, by halving."""
    low, high = 0.0, upper
    for _time in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if rising(middle) < 0 else (low, middle)
    return (low + high) / 2

"""The plan as a frozen value: all that ordering, closing and reporting need later, and its digest."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import asdict, field
from decimal import Decimal
from typing import Any

from lastro.billing import Lease
from lastro.plan.learned import Learned
from lastro.plan.parts import WHOLE, DiskNeed, DiskPart, Finding, Option, Slot, Span, Unplaced
from lastro.plan.points import DecisionPoint
from lastro.plan.rung import Rung
from lastro.plan.tariffs import Tariffs
from lastro.records import dataclass
from lastro.rules import CheckpointPolicy, Corpus, ExpectedSave, HangPolicy, MoveOn, StopKind, StopRule
from lastro.spec.run_id import canonical_json
from lastro.units import Money

#: What `plan.json` looks like; a reader that knows another number does not guess.
FORMAT = 2


@dataclass(frozen=True, kw_only=True)
class PlannedRun:
    """One run of the plan. `changes`: the keys in which it differs from the control. `decides`: what for."""

    id: str
    name: str
    priority: str
    config: Mapping[str, Any]
    changes: tuple[str, ...]
    command: tuple[str, ...]
    decides: str | None = None


@dataclass(frozen=True, kw_only=True)
class Metric:
    """A metric that closing recomputes from predictions, against a file beside the code."""

    name: str
    truth: str
    claimed: str | None = None


@dataclass(frozen=True, kw_only=True)
class Deliverable:
    """An output that every run promises; `path` is below the run's outputs. See `spec.deliverable`."""

    name: str
    path: str
    key: str | None = None
    rows: int | None = None
    metric: Metric | None = None
    reload: str | None = None
    compare: str | None = None
    recorded: str | None = None
    base: Mapping[str, Any] | None = None
    pickle: str = "refused"


@dataclass(frozen=True, kw_only=True)
class DecisionRule:
    """A variant is adopted when `metric` is at least `adopt_margin` better than that of run `over`."""

    metric: str
    better: str
    adopt_margin: Decimal
    over: str
    unit: str | None = None


@dataclass(frozen=True, kw_only=True)
class Plan:
    """A campaign, planned. Frozen once, never rewritten; a revision is another plan with a reason.

    `calendar` is that of the whole protocol, `total_hours` and `slack_hours` are None when a duration is
    unknown. `option` names the option that is taken, `lease` is what its machines are; None when nothing is
    rented or nothing can be. `lease_why` says why it is this one. `protocol`: reduced when runs are
    `left_out`, which the user has to ask for. `stages_digest`: of the stages as they stand in the file;
    `estimates`: what was measured of runs, and stands on the calendar in the place of what the file says.
    `tariffs`: what the bill is made from beside machines; None when nothing else is priced. `expected_save`:
    how large a checkpoint of a run is, before there is one; None: nobody knows. `sbatch`: what is asked of a
    cluster's queue, by option. `ladder`: the offers in the order in which they are taken, the first of them
    `lease`'s; empty: there is no other. `move_on`: when one is left for the next. `place`: the host or the
    partition of the option's offer; None: wherever the campaign runs. `leases_at`: what a machine of each
    host is taken under, None where nobody knows; empty: all under `lease`.
    """

    campaign: str
    question: str | None
    created_at: str
    provider: str
    sbatch: Mapping[str, str] = field(default_factory=dict)
    machines: int
    disk: str | None
    seed: int
    resume: str
    setup: str | None
    runs: tuple[PlannedRun, ...]
    stop: tuple[StopRule, ...]
    checkpoint: CheckpointPolicy
    deliverables: tuple[Deliverable, ...]
    decision: DecisionRule | None
    corpus: Corpus | None
    code_digest: str
    code_excludes: tuple[str, ...]
    code_git: Mapping[str, Any] | None
    want: Mapping[str, str]
    jurisdictions: tuple[str, ...]
    window_hours: float | None
    budget: Money | None
    calendar: tuple[Slot, ...]
    unplaced: tuple[Unplaced, ...]
    total_hours: Span | None
    slack_hours: float | None
    options: tuple[Option, ...]
    lease: Lease | None
    lease_why: str
    boot_seconds: float
    silence_seconds: float = 120.0
    findings: tuple[Finding, ...]
    option: str | None = None
    protocol: str = WHOLE
    left_out: tuple[str, ...] = ()
    stages_digest: str | None = None
    decision_points: tuple[DecisionPoint, ...] = ()
    estimates: tuple[Learned, ...] = ()
    disk_need: DiskNeed | None = None
    max_late: float = 0.1
    work_unit: str | None = None
    uncertainties: tuple[str, ...] = ()
    code_only: tuple[str, ...] | None = None
    checkpoints: str | None = None
    resume_arg: str | None = None
    idle_seconds: float | None = None
    hang: HangPolicy = field(default_factory=HangPolicy)
    max_weather: Money | None = None
    tariffs: Tariffs | None = None
    expected_save: ExpectedSave | None = None
    ladder: tuple[Rung, ...] = ()
    move_on: MoveOn = field(default_factory=MoveOn)
    place: str | None = None
    leases_at: Mapping[str, Lease | None] = field(default_factory=dict)

    def run(self, run: str) -> PlannedRun:
        """Return one run by its id or name. Raises KeyError."""
        for planned in self.runs:
            if run in (planned.id, planned.name):
                return planned
        raise KeyError(run)

    def digest(self) -> str:
        """Return the SHA-256 of the plan's canonical JSON (RFC 8785) in hex."""
        return hashlib.sha256(canonical_json(self.as_json())).hexdigest()

    def as_json(self) -> dict[str, Any]:
        """Return the plan as `plan.json` holds it."""
        value: dict[str, Any] = {"format": FORMAT, **asdict(self)}
        value["stop"] = [{**asdict(rule), "kind": rule.kind.value} for rule in self.stop]
        value["budget"] = self.budget.as_json() if self.budget else None
        value["max_weather"] = self.max_weather.as_json() if self.max_weather else None
        value["lease"] = self.lease.as_json() if self.lease else None
        if self.decision:
            value["decision"]["adopt_margin"] = f"{self.decision.adopt_margin:f}"
        value["options"] = [option.as_json() for option in self.options]
        value["tariffs"] = self.tariffs.as_json() if self.tariffs else None
        value["ladder"] = [rung.as_json() for rung in self.ladder]
        value["move_on"] = asdict(self.move_on) if self.move_on != MoveOn() else None
        value["leases_at"] = {place: one and one.as_json() for place, one in self.leases_at.items()}
        late = ("estimates", "tariffs", "expected_save", "sbatch", "ladder", "move_on", "place", "leases_at")
        for name in late:
            if not value[name]:  # a plan of before is written as it was, and so has its digest
                del value[name]
        return _lists(value)  # type: ignore[no-any-return]

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> Plan:
        """Read what `as_json` wrote. Raises KeyError, TypeError or ValueError for anything else."""
        fields = dict(value)
        if fields.pop("format") != FORMAT:
            raise ValueError(f"not a plan of format {FORMAT}")
        for name, read in _READERS.items():
            fields[name] = tuple(read(item) for item in fields[name])
        for name in ("code_excludes", "jurisdictions", "left_out", "uncertainties"):
            fields[name] = tuple(fields[name])
        fields["checkpoint"] = CheckpointPolicy.from_json(fields["checkpoint"])
        points = fields.get("decision_points", ())
        fields["decision_points"] = tuple(DecisionPoint.from_json(point) for point in points)
        fields["estimates"] = tuple(Learned.from_json(one) for one in fields.get("estimates", ()))
        fields["hang"] = HangPolicy(**fields.get("hang", {}))
        fields["ladder"] = tuple(Rung.from_json(rung) for rung in fields.get("ladder", ()))
        fields["move_on"] = MoveOn(**fields.get("move_on", {}))
        fields["leases_at"] = {
            place: Lease.from_json(one) if one else None for place, one in fields.get("leases_at", {}).items()
        }
        for name, read_one in _OPTIONAL.items():
            fields[name] = read_one(fields[name]) if fields.get(name) is not None else None
        return cls(**fields)


def _lists(value: Any) -> Any:
    """Return the same value with tuples as the lists that JSON has."""
    if isinstance(value, Mapping):
        return {key: _lists(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_lists(item) for item in value]
    return value


def _run(value: Mapping[str, Any]) -> PlannedRun:
    return PlannedRun(**{**value, "changes": tuple(value["changes"]), "command": tuple(value["command"])})


def _deliverable(value: Mapping[str, Any]) -> Deliverable:
    return Deliverable(**{**value, "metric": Metric(**value["metric"]) if value["metric"] else None})


_READERS: Mapping[str, Any] = {
    "runs": _run,
    "stop": lambda rule: StopRule(**{**rule, "kind": StopKind(rule["kind"])}),
    "deliverables": _deliverable,
    "calendar": lambda slot: Slot(**slot),
    "unplaced": lambda item: Unplaced(**item),
    "options": Option.from_json,
    "findings": lambda finding: Finding(**finding),
}
_OPTIONAL: Mapping[str, Any] = {
    "decision": lambda rule: DecisionRule(**{**rule, "adopt_margin": Decimal(rule["adopt_margin"])}),
    "corpus": lambda corpus: Corpus(**corpus),
    "code_only": tuple,
    "budget": Money.from_json,
    "max_weather": Money.from_json,
    "tariffs": Tariffs.from_json,
    "total_hours": lambda span: Span(**span),
    "lease": Lease.from_json,
    "expected_save": lambda save: ExpectedSave(**save),
    "disk_need": lambda need: DiskNeed(
        **{**need, "parts": tuple(DiskPart(**part) for part in need["parts"])}
    ),
}

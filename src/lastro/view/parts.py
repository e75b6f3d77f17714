"""The parts of a page: frozen values, ready to be shown, with no trace of how they were found.

Texts are in the reader's language; codes (status, verdict, end) stay in English for programs and are put
into words by `view.words`. Times are ISO 8601 texts, durations seconds, None is unknown.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import Any

from lastro.journal.views import (
    AttemptView,
    ConclusionView,
    CopyView,
    CostView,
    DeliverableView,
    InterruptionView,
    MachineView,
    MoveView,
    SpentView,
)
from lastro.locale import _
from lastro.records import dataclass
from lastro.units import Money
from lastro.view import show
from lastro.view.burn import Burn
from lastro.view.outcome_parts import Outcome
from lastro.view.series import Series
from lastro.view.telemetry import Use


@dataclass(frozen=True, kw_only=True)
class Headline:
    """What matters most, in a few words, and why.

    `verdict`: adopt | keep_control | undecided | stopped, or before the conclusion: running | waiting | open.
    """

    verdict: str
    text: str
    why: str
    run: str | None = None


@dataclass(frozen=True, kw_only=True)
class EvidenceRow:
    """One run against the control. `difference`: metric minus the control's; None for the control itself.

    `source`: recomputed (by the closing, from an accepted output), rejected or unproven (from an output that
    does not count), logged (by the job, not believed yet), or None where nothing was measured.
    """

    run: str
    name: str
    index: int
    is_control: bool
    adopted: bool
    value: float | None
    source: str | None
    difference: float | None
    reaches: bool | None


@dataclass(frozen=True, kw_only=True)
class Evidence:
    """The decision rule and what the runs reached. `margin` is in the metric's own unit."""

    metric: str
    better: str
    margin: float | None
    over: str | None
    rows: tuple[EvidenceRow, ...]


@dataclass(frozen=True, kw_only=True)
class PerAccepted:
    """Cost of one accepted unit; None with a reason where it is undefined."""

    amount: Money | None = None
    reason: str | None = None
    unit: str | None = None

    @property
    def why(self) -> str:
        """Why it is undefined, without that word, which stands before it already."""
        return (self.reason or show.unknown()).removeprefix(_("undefined") + ": ")


@dataclass(frozen=True, kw_only=True)
class Forecast:
    """What the plan expected the chosen offer to cost; None where it could not tell, with the reason."""

    low: Money | None
    likely: Money | None
    high: Money | None
    reason: str | None


@dataclass(frozen=True, kw_only=True)
class CostPart:
    """The bill with what explains it.

    `forecast`: what the plan expected; None when it expected nothing.
    `rate`: what an hour costs now; None with `rate_reason` when unknown, None alone when nothing bills.
    `idle_seconds`: rented and no attempt running (boot, waiting, moving); None where a use is unknown.
    """

    bill: CostView
    per_accepted: PerAccepted
    budget: Money | None
    forecast: Forecast | None
    used_seconds: float | None
    idle_seconds: float | None
    rate: Money | None
    rate_reason: str | None
    bills_now: bool


@dataclass(frozen=True, kw_only=True)
class Change:
    """One key of a configuration that differs from the control's; None where one of them lacks it."""

    key: str
    control: Any
    value: Any


@dataclass(frozen=True, kw_only=True)
class RunRow:
    """A run over its attempts.

    `lost_steps`: over its interruptions; `lost_is_complete` is False when one of them is unknown.
    `steps`: the highest step that any attempt is known to have completed.
    """

    id: str
    name: str
    index: int
    is_control: bool
    adopted: bool
    priority: str
    status: str
    why: str | None
    config: Mapping[str, Any]
    changes: tuple[Change, ...]
    attempts: tuple[AttemptView, ...]
    steps: int | None
    lost_steps: int
    lost_is_complete: bool
    metric: float | None
    metric_source: str | None
    deliverables: tuple[DeliverableView, ...]
    first_at: str | None
    last_at: str | None
    damaged_lines: int = 0
    superseded_by: str | None = None
    use: Use | None = None

    @property
    def short(self) -> str:
        return self.id[:10]

    @property
    def is_open(self) -> bool:
        """Say whether this run may still go on, so that an output that is not there is not yet there."""
        return self.status in ("waiting", "running", "interrupted", "paused")


@dataclass(frozen=True, kw_only=True)
class Curve:
    """One run's line in a chart. `breaks`: steps at which a life of the run ended before its end."""

    run: str
    name: str
    index: int
    series: Series
    breaks: tuple[int, ...]


@dataclass(frozen=True, kw_only=True)
class Chart:
    """One metric, the runs overlaid. `over_time`: its points lie at seconds of running time, not at steps."""

    metric: str
    curves: tuple[Curve, ...]
    over_time: bool = False


@dataclass(frozen=True, kw_only=True)
class Bar:
    """An interval in seconds from the calendar's zero. `open_ended`: it still goes on."""

    start: float
    end: float
    text: str
    index: int | None = None
    open_ended: bool = False


@dataclass(frozen=True, kw_only=True)
class Mark:
    """A moment in seconds from the calendar's zero.

    `kind`: checkpoint | notice | loss | stop | done | ready.
    """

    at: float
    kind: str
    text: str


@dataclass(frozen=True, kw_only=True)
class Lane:
    """One row of the calendar: what was planned, and what happened. `kind`: stage | run | machine."""

    kind: str
    label: str
    planned: tuple[Bar, ...] = ()
    actual: tuple[Bar, ...] = ()
    marks: tuple[Mark, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Calendar:
    """Planned and actual. Second zero is the start of the plan, and the first thing that happened."""

    zero_at: str | None
    planned_seconds: float | None
    actual_seconds: float | None
    lanes: tuple[Lane, ...]


@dataclass(frozen=True, kw_only=True)
class MachineRow:
    """A machine with what preflight said of it last; `busy_seconds`: an attempt was running on it.

    `disk`: how well it is known that its disk outlives it.
    """

    view: MachineView
    busy_seconds: float
    preflight: str | None = None
    findings: tuple[str, ...] = ()
    disk: str | None = None


@dataclass(frozen=True, kw_only=True)
class Deviation:
    """Hours planned for a run, and hours that its attempts took; None is unknown or not yet."""

    run: str
    name: str
    planned_hours: float | None
    observed_hours: float | None


@dataclass(frozen=True, kw_only=True)
class Revision:
    """A change of a frozen plan."""

    at: str
    digest: str
    why: str


@dataclass(frozen=True, kw_only=True)
class DrillRow:
    """What a drill has shown of the code that was frozen; `current`: of the code that is frozen now."""

    run: str
    at: str
    verdict: str
    why: str
    updates: int
    current: bool


@dataclass(frozen=True, kw_only=True)
class DecisionRow:
    """A point at which a person decides. `measured`: sentences; `facts`: the same for programs.

    `choice` None: it is awaited. `followed_at`: when the campaign went on by it.
    """

    stage: str
    awaited_at: str
    measured: tuple[str, ...]
    choice: str | None
    why: str | None
    made_at: str | None
    followed_at: str | None
    facts: Mapping[str, Any]


@dataclass(frozen=True, kw_only=True)
class PlanPart:
    """What was fixed before anything was rented. `left_out`: runs that the reduced protocol does without.

    `moves`: offers that were left for the next one of the plan; `spent`: that none is left.
    """

    digest: str | None
    frozen_at: str | None
    window_hours: float | None
    decision: str | None
    stop_rules: tuple[str, ...]
    revisions: tuple[Revision, ...]
    deviations: tuple[Deviation, ...]
    drills: tuple[DrillRow, ...] = ()
    decisions: tuple[DecisionRow, ...] = ()
    left_out: tuple[str, ...] = ()
    moves: tuple[MoveView, ...] = ()
    spent: SpentView | None = None


@dataclass(frozen=True, kw_only=True)
class Live:
    """What is seen of a living attempt beside the journal.

    Args:
        step: the one completed last, by its heartbeat.
        silent_seconds: since its last sign of life.
        items_done: published items, over all attempts; None for an attempt that makes none.
        sample: the last of its telemetry.
    """

    step: int | None = None
    silent_seconds: float | None = None
    items_done: int | None = None
    sample: Mapping[str, Any] | None = None


@dataclass(frozen=True, kw_only=True)
class NowRow:
    """An attempt that lives. `at_risk`: steps done that no committed checkpoint covers. `pid`: of the job.

    In a run over items `items_done` of `items_total` are published, and `at_risk` counts those in hand.
    """

    run: str
    name: str
    attempt: int
    machine: str
    since: str
    running_seconds: float | None
    step: int | None
    committed_step: int | None
    at_risk: int | None
    silent_seconds: float | None
    pid: int | None = None
    items_done: int | None = None
    items_total: int | None = None
    sample: Mapping[str, Any] | None = None


@dataclass(frozen=True, kw_only=True)
class StreamHead:
    """The end of a journal stream: with it, the stream's text before it is fixed."""

    stream: str
    events: int
    digest: str


@dataclass(frozen=True, kw_only=True)
class Provenance:
    """Where the page comes from. `folder`: the campaign's, in which its paths are relative.

    `root_digest`: stands for everything that a closed campaign has left, see `close/manifest.json`.
    """

    lastro: str
    at: str
    heads: tuple[StreamHead, ...] = ()
    folder: str | None = None
    report: str | None = None
    root_digest: str | None = None


@dataclass(frozen=True, kw_only=True)
class Page:
    """Everything that a person or a program is shown of a campaign."""

    language: str
    campaign: str
    question: str | None
    headline: Headline
    conclusion: ConclusionView | None
    evidence: Evidence | None
    cost: CostPart
    runs: tuple[RunRow, ...]
    charts: tuple[Chart, ...]
    calendar: Calendar
    interruptions: tuple[InterruptionView, ...]
    faults: tuple[Mapping[str, Any], ...]
    machines: tuple[MachineRow, ...]
    deliverables: tuple[DeliverableView, ...]
    plan: PlanPart
    now: tuple[NowRow, ...]
    provenance: Provenance
    closed_at: str | None = None
    reload_commands: Mapping[str, str] = field(default_factory=dict)
    use_charts: tuple[Chart, ...] = ()
    burn: Burn | None = None
    outcome: Outcome | None = None
    closing_state: str = "open"
    copies: tuple[CopyView, ...] = ()

    def run(self, run_id: str) -> RunRow:
        """Return one run. Raises KeyError."""
        for row in self.runs:
            if row.id == run_id:
                return row
        raise KeyError(run_id)

    def name_of(self, run_id: str) -> str:
        """Return a run's name; its id when the plan does not know it."""
        return next((row.name for row in self.runs if row.id == run_id), run_id)

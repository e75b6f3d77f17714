"""What a campaign looks like, as frozen values: the result of folding its events (see `projections`).

Times are ISO 8601 texts of the writer of the event; durations are seconds. None means unknown or not yet.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from datetime import datetime
from decimal import Decimal
from typing import Any

from lastro.billing import Lease
from lastro.clock import Stamp
from lastro.records import dataclass
from lastro.units import Money


@dataclass(frozen=True, kw_only=True)
class CheckpointView:
    """A committed checkpoint. `seconds` is how long the job stood still for it.

    `healthy` is False when its values are not finite, None where that is not known.
    """

    step: int
    attempt: int
    folder: str
    bytes: int
    seconds: float
    why: str
    at: str
    healthy: bool | None = None


@dataclass(frozen=True, kw_only=True)
class AttemptView:
    """One life of a run's process.

    `lost_steps`: done and not covered by a checkpoint when the attempt ended; None while it lives. In a run
    over items `last_step` counts the items that were done or in hand, and `lost_steps` those in hand.
    `items_done`: published, over all attempts, of `items_total`; None for a run without items, and where the
    total is not known. `items_offset`: bytes of the index of items up to which `items_done` counts.
    `end` is a value of rules.End; `limit` says which one when it is `limit`.
    `process`: identity of the job (boot_id, pid, start_ticks) on its machine.
    `at_risk`: the facts of the last `guard.warned`: what lies where it goes with the machine.
    `mirror`: the place that mirrors its disk: then only what has arrived there counts as committed.
    `no_room`: what waits for room on the disk, until there is room; `waits`: how often anything had to wait.
    `worked_seconds`: see `journal.work`; of one that has not told its end, at least so long.
    """

    run: str
    number: int
    machine: str
    node: str
    started_at: str
    ended_at: str | None = None
    end: str | None = None
    why: str | None = None
    resumed_step: int | None = None
    first_step_seconds: float | None = None
    last_step: int | None = None
    committed_step: int | None = None
    lost_steps: int | None = None
    checkpoints: tuple[CheckpointView, ...] = ()
    passed_over: tuple[tuple[str, str], ...] = ()
    process: Mapping[str, Any] | None = None
    items_done: int | None = None
    items_total: int | None = None
    items_offset: int = 0
    limit: str | None = None
    no_room: str | None = None
    at_risk: Mapping[str, Any] | None = None
    waits: int = 0
    worked_seconds: float | None = None
    mirror: str | None = None

    @property
    def alive(self) -> bool:
        return self.ended_at is None


@dataclass(frozen=True, kw_only=True)
class RunView:
    """A run over all its attempts.

    `status`: waiting | running | interrupted | paused | completed | stopped | failed | superseded.
    `outputs`: path relative to the outputs folder -> SHA-256 of the bytes published last.
    `machine`: where home has sent it last; None before that.
    """

    id: str
    name: str
    priority: str
    config: Mapping[str, Any]
    status: str
    why: str | None
    attempts: tuple[AttemptView, ...]
    outputs: Mapping[str, str]
    superseded_by: str | None = None
    machine: str | None = None


@dataclass(frozen=True, kw_only=True)
class Rejection:
    """Why a machine was let go before any work. `what`: boot | preflight | node.

    `by_offer`: every machine of its offer would be refused for the same.
    """

    what: str
    why: str
    by_offer: bool = False


@dataclass(frozen=True, kw_only=True)
class MachineView:
    """A lease. `seconds` is its use: by the provider's clock once gone, by home's until then; None: unknown.

    `born`: its creation, to measure its use from. `rejected`: it is not used, and let go; None: it is used.
    """

    id: str | None
    node: str | None
    tag: str
    provider: str
    lease: Lease | None
    state: str  # intended | queued | booting | ready | gone
    intended_at: str
    created_at: str | None = None
    ready_at: str | None = None
    gone_at: str | None = None
    cause: str | None = None
    seconds: float | None = None
    level: str | None = None
    level_why: str | None = None
    born: Stamp | None = None
    rejected: Rejection | None = None


@dataclass(frozen=True, kw_only=True)
class MoveView:
    """An offer that was left for another one. `what`: refused | boot | preflight | boxes | spot | region.

    `asked`: how many machines had been asked for by then. `figures`: what the reason was made from.
    `reopened`: why a person had it asked again; None: nobody did.
    """

    offer: str
    to: str
    what: str
    why: str
    at: str
    asked: int
    figures: Mapping[str, Any] = field(default_factory=dict)
    reopened: str | None = None


@dataclass(frozen=True, kw_only=True)
class SpentView:
    """That no further offer was left. `then`: stop | ask | wait. `figures`: what waiting costs."""

    why: str
    then: str
    at: str
    figures: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class OffersView:
    """How offers were gone through. `since`: as many machines were asked for before it began, or began anew.

    `spent`: when no further offer was left, the last time; None: one is, or was when last asked.
    """

    moves: tuple[MoveView, ...] = ()
    since: int = 0
    spent: SpentView | None = None

    @property
    def left(self) -> tuple[MoveView, ...]:
        """The moves that still hold: what was left is asked again by a person's word only."""
        return tuple(move for move in self.moves if move.reopened is None)


@dataclass(frozen=True, kw_only=True)
class LeaseView:
    """A lease bought by hand. `host`: the provider whose machines it pays; `order`: its reference."""

    order: str
    host: str
    lease: Lease
    added_at: str


@dataclass(frozen=True, kw_only=True)
class CostLine:
    """One line of the bill. `amount` None: unknown, with the reason.

    `kind`: lot | machine | disk | egress | ingress | expense. `unit_price` is for one `per` (lot, hour,
    GB month, hour of a disk); None: unknown, or there is none. `origin` says where the quantity comes from:
    measured | declared | planned | typed; `source` where the price does. `ref`: what an invoice may call it.
    `machines`: ids of those that it pays.
    """

    what: str
    quantity: str
    amount: Money | None
    source: str
    reason: str | None = None
    running: bool = False
    kind: str = "machine"
    unit_price: Money | None = None
    per: str | None = None
    origin: str = "measured"
    ref: str = ""
    machines: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class RateView:
    """A rate of exchange that a person gave: one unit of `base` was worth `rate` of `to` on `day`."""

    base: str
    to: str
    rate: Decimal
    day: str
    source: str


@dataclass(frozen=True, kw_only=True)
class ShareView:
    """A part of the bill that bought nothing; it is in the lines already, and not added to them.

    `amounts`: by currency; those of unknown price are not in it, and `reason` says so. `gpu_hours` None: of a
    machine nobody knows its cards. `seconds` None: unknown.
    """

    seconds: float | None
    gpu_hours: float | None
    amounts: tuple[Money, ...]
    reason: str | None = None
    lines: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class StillBilled:
    """What may go on costing. `unit_price` for one `per`; None: unknown."""

    what: str
    unit_price: Money | None
    per: str
    why: str


@dataclass(frozen=True, kw_only=True)
class ExpenseView:
    """What a person paid beside: `amount` below nothing is money that came back. `undone`: why, or None."""

    id: str
    what: str
    amount: Money
    day: str
    ref: str
    added_at: str
    undone: str | None = None


@dataclass(frozen=True, kw_only=True)
class InvoiceLine:
    """One line of an invoice, as it was typed or imported. `ref`: what it is for, by its name there."""

    ref: str
    what: str
    amount: Money


@dataclass(frozen=True, kw_only=True)
class InvoiceView:
    """An invoice. `source`: typed, or the file's name with the SHA-256 of its bytes."""

    number: str
    day: str
    lines: tuple[InvoiceLine, ...]
    source: str
    added_at: str
    undone: str | None = None


@dataclass(frozen=True, kw_only=True)
class ReconciledLine:
    """One thing in both bills. `status`: matched | differs | invoice_only | journal_only | unknown.

    `difference`: what the invoice has more; None where one of the two is not known.
    """

    status: str
    ref: str
    what: str
    invoiced: Money | None
    journal: Money | None
    difference: Money | None


@dataclass(frozen=True, kw_only=True)
class CostView:
    """All cost lines and their sum. `total` is None when a line is unknown or currencies differ.

    `idle`: rented and nothing at work. `lost`: worked, and done again or never finished. `rates`: by which
    amounts of other currencies went into the total. `may_bill`: what may cost more after this.
    `reconciled`: this bill beside the invoices that came; empty while none did.
    """

    lines: tuple[CostLine, ...]
    total: Money | None
    reason: str | None
    by_currency: tuple[Money, ...]
    idle: ShareView | None = None
    lost: ShareView | None = None
    rates: tuple[RateView, ...] = ()
    may_bill: tuple[StillBilled, ...] = ()
    reconciled: tuple[ReconciledLine, ...] = ()


@dataclass(frozen=True, kw_only=True)
class InterruptionView:
    """A life that ended before its run did, and how the run went on.

    `seconds_to_next_step`: from the end of this life to the first new step of the next, by event times.
    """

    run: str
    name: str
    attempt: int
    at: str
    end: str
    why: str
    step: int | None
    committed_step: int | None
    lost_steps: int | None
    resumed_step: int | None = None
    seconds_to_next_step: float | None = None


@dataclass(frozen=True, kw_only=True)
class DeliverableView:
    """An output that the campaign promised. `status`: missing | produced | accepted | rejected.

    `level`: where it was reloaded (jailed | fresh process | at home), `level_why` why not farther away, by
    what `versions` and in how many `seconds`. `duplicate_of`, `near`: run and path of one with (almost) the
    same content. `bases`: models that it was made from. `warnings`: sentences.
    """

    run: str
    name: str
    path: str
    status: str
    why: str | None = None
    level: str | None = None
    level_why: str | None = None
    loader: str | None = None
    versions: Mapping[str, str] = field(default_factory=dict)
    seconds: float | None = None
    digest: str | None = None
    metric: float | None = None
    duplicate_of: str | None = None
    near: str | None = None
    bases: tuple[Mapping[str, Any], ...] = ()
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class ConclusionView:
    """The answer: adopt | keep_control | undecided | stopped, the run adopted, and why.

    `stopped`: why the whole campaign was ended before its runs were; None: it was not, or was not recorded.
    """

    verdict: str
    run: str | None
    why: str
    evidence: Mapping[str, Any] = field(default_factory=dict)
    stopped: str | None = None


@dataclass(frozen=True, kw_only=True)
class DecisionView:
    """A point of the plan at which a person decides, once it was reached.

    `measured`: the facts of `decision.awaited`. `choice`: continue | reduce | revise; None: it is awaited.
    `revised_at`: when the plan was revised for it; `followed_at`: when `lastro run` went on by it.
    """

    stage: str
    awaited_at: str
    measured: Mapping[str, Any]
    choice: str | None = None
    why: str | None = None
    made_at: str | None = None
    revised_at: str | None = None
    followed_at: str | None = None


@dataclass(frozen=True, kw_only=True)
class CopyView:
    """A second copy of a closed campaign, or that it was done without (`waived`: why).

    `root_digest`: of what was copied and read again. `apart`: it lies on another file system. `rehearsal`:
    the campaign ran on machines of this box, where no copy is far from the other.
    """

    at: str
    where: str | None
    root_digest: str | None
    apart: bool
    rehearsal: bool
    waived: str | None = None


@dataclass(frozen=True, kw_only=True)
class WaitView:
    """Time in which a person, or nobody, let the campaign go on. `kind`: queue | paused | decision.

    `seconds` None: it has not ended, or a clock was set back meanwhile.
    """

    kind: str
    at: str
    seconds: float | None
    why: str


@dataclass(frozen=True, kw_only=True)
class ExplanationView:
    """What a person said of how a stage went. `run` None: of the stage as such; `hours` None: not told."""

    stage: str
    run: str | None
    why: str
    hours: float | None
    at: str


@dataclass(frozen=True, kw_only=True)
class DoubtView:
    """What the plan was uncertain about. `settled`: what a person found out; None: it is open."""

    text: str
    settled: str | None = None
    at: str | None = None


@dataclass(frozen=True, kw_only=True)
class CampaignView:
    """Everything that the journal says of a campaign at one moment.

    `halted`: why a person asked that nothing more is started; None when nobody did, or it goes on since.
    `forecast`: the plan as it was frozen first, with its digest; `plan` is the one of the last revision.
    """

    name: str
    plan: Mapping[str, Any] | None
    plan_digest: str | None
    frozen_at: str | None
    revisions: tuple[Mapping[str, Any], ...]
    runs: tuple[RunView, ...]
    machines: tuple[MachineView, ...]
    cost: CostView
    interruptions: tuple[InterruptionView, ...]
    deliverables: tuple[DeliverableView, ...]
    preflights: tuple[Mapping[str, Any], ...]
    faults: tuple[Mapping[str, Any], ...]
    conclusion: ConclusionView | None
    closed: Mapping[str, Any] | None
    at: datetime
    leases: tuple[LeaseView, ...] = ()
    halted: str | None = None
    drills: tuple[Mapping[str, Any], ...] = ()
    locks: tuple[Mapping[str, Any], ...] = ()
    disks: tuple[Mapping[str, Any], ...] = ()
    decisions: tuple[DecisionView, ...] = ()
    expenses: tuple[ExpenseView, ...] = ()
    invoices: tuple[InvoiceView, ...] = ()
    forecast: Mapping[str, Any] | None = None
    forecast_digest: str | None = None
    waits: tuple[WaitView, ...] = ()
    explanations: tuple[ExplanationView, ...] = ()
    doubts: tuple[DoubtView, ...] = ()
    copies: tuple[CopyView, ...] = ()
    offers: OffersView = field(default_factory=OffersView)

    @property
    def closing_state(self) -> str:
        """Return open, sealed or closed: sealed until a second copy exists elsewhere, or was done without."""
        if self.closed is None:
            return "open"
        root = self.closed.get("root_digest")
        good = (one.waived is not None or (one.apart and one.root_digest == root) for one in self.copies)
        return "closed" if any(good) else "sealed"

    @property
    def open_decision(self) -> DecisionView | None:
        """The decision by which `lastro run` has not gone on yet; None when there is none."""
        last = self.decisions[-1] if self.decisions else None
        return last if last is not None and last.followed_at is None else None

    def run(self, run_id: str) -> RunView:
        """Return one run. Raises KeyError."""
        for run in self.runs:
            if run.id == run_id:
                return run
        raise KeyError(run_id)

"""The parts of a plan as frozen values: slots of the calendar, options with their cost lines, findings."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from lastro.records import dataclass
from lastro.units import Money

WHOLE, REDUCED = "whole", "reduced"


@dataclass(frozen=True, kw_only=True)
class Slot:
    """One interval of the calendar. Hours count from the start of the campaign.

    `start_hours` and `end_hours` are for the likely durations; the others for when all durations are low or
    all are high. `lane` None: it holds nothing. `slack_hours`: by how much it may take longer before the end
    moves. `origin`: where its duration comes from. `critical` and `one_more_hour`: in which share of the
    draws it decides about the end, and by how much one more hour moves that; None: nothing was drawn.
    """

    stage: str
    run: str | None
    lane: str | None
    start_hours: float
    end_hours: float
    start_low_hours: float
    end_low_hours: float
    start_high_hours: float
    end_high_hours: float
    slack_hours: float = 0.0
    decide: bool = False
    origin: str = "declared"
    critical: float | None = None
    one_more_hour: float | None = None

    @property
    def name(self) -> str:
        return f"{self.stage} {self.run}" if self.run else self.stage


@dataclass(frozen=True, kw_only=True)
class Unplaced:
    """What belongs on the calendar and cannot be put there, with the reason."""

    stage: str
    run: str | None
    why: str


@dataclass(frozen=True, kw_only=True)
class Span:
    """Low, likely and high of one quantity in hours."""

    low: float
    likely: float
    high: float


@dataclass(frozen=True, kw_only=True)
class Holding:
    """An offer that an option takes: `leases` of it, each with `machines` machines for `terms` terms.

    `terms` None: it is billed by the hour. `hours`: for how long machines are held, in all.
    """

    offer: str
    kind: str
    gpu: str | None
    leases: int
    machines: int
    terms: int | None
    hours: float


@dataclass(frozen=True, kw_only=True)
class CostLine:
    """One line of a bill. `amount` None is unknown, and `why` says so; otherwise how it was reckoned."""

    kind: str
    name: str
    quantity: str
    amount: Money | None
    why: str
    low: Money | None = None
    high: Money | None = None


@dataclass(frozen=True, kw_only=True)
class Cost:
    """What an option costs. `total` None: a line is unknown; `at_least` is the sum of the others.

    All lines are in one currency, or `total` is None and `why` says so.
    """

    total: Money | None
    low: Money | None
    high: Money | None
    at_least: Money | None
    lines: tuple[CostLine, ...]
    why: str | None = None

    def as_json(self) -> dict[str, Any]:
        """Return it as JSON, money as text with its currency."""
        value = {name: _money(getattr(self, name)) for name in _AMOUNTS}
        lines = [
            {**asdict(line), **{name: _money(getattr(line, name)) for name in _LINE}} for line in self.lines
        ]
        return {**value, "lines": lines, "why": self.why}

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> Cost:
        """Read what `as_json` wrote."""
        lines = [CostLine(**{**one, **{name: _read(one[name]) for name in _LINE}}) for one in value["lines"]]
        return cls(**{**value, **{name: _read(value[name]) for name in _AMOUNTS}, "lines": tuple(lines)})


_AMOUNTS = ("total", "low", "high", "at_least")
_LINE = ("amount", "low", "high")


@dataclass(frozen=True, kw_only=True)
class Option:
    """A complete plan, offered or refused, with its reason.

    `roles`: what it is among the options, such as cheapest. `offer`: what all its machines are; None for a
    mixture. `protocol`: whole, or reduced, without `left_out`. `fits_*` and `p_*` None: cannot be told.
    `bound`: nothing that does the same costs less, as far as is proven; `gap` is what is left between the
    two, as a part of the cost. `per_unit`: the cost of one unit of work. `calendar` is kept for what is
    offered.
    """

    name: str
    roles: tuple[str, ...]
    offered: bool
    why: str
    offer: str | None
    kind: str
    protocol: str
    left_out: tuple[str, ...]
    machines: int
    holdings: tuple[Holding, ...]
    cost: Cost
    end: Span | None
    slack_hours: float | None
    fits_window: bool | None
    fits_budget: bool | None
    p_late: float | None
    p_over_budget: float | None
    draws: int | None
    bound: Money | None
    gap: float | None
    proven: bool
    per_unit: Money | None
    notes: tuple[str, ...]
    calendar: tuple[Slot, ...]

    @property
    def fits(self) -> bool:
        """Whether nothing that is known speaks against it."""
        return self.offered and self.fits_window is not False and self.fits_budget is not False

    def as_json(self) -> dict[str, Any]:
        """Return it as `plan.json` holds it."""
        value = {
            name: getattr(self, name) for name in self.__dataclass_fields__ if name not in _BY_THEMSELVES
        }
        return {
            **value,
            "holdings": [asdict(one) for one in self.holdings],
            "cost": self.cost.as_json(),
            "end": asdict(self.end) if self.end else None,
            "bound": _money(self.bound),
            "per_unit": _money(self.per_unit),
            "calendar": [asdict(slot) for slot in self.calendar],
        }

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> Option:
        """Read what `as_json` wrote."""
        return cls(
            **{
                **value,
                **{name: tuple(value[name]) for name in ("roles", "left_out", "notes")},
                "holdings": tuple(Holding(**one) for one in value["holdings"]),
                "cost": Cost.from_json(value["cost"]),
                "end": Span(**value["end"]) if value["end"] else None,
                "bound": _read(value["bound"]),
                "per_unit": _read(value["per_unit"]),
                "calendar": tuple(Slot(**slot) for slot in value["calendar"]),
            }
        )


_BY_THEMSELVES = ("holdings", "cost", "end", "bound", "per_unit", "calendar")


def _money(money: Money | None) -> dict[str, str] | None:
    return money.as_json() if money else None


def _read(value: Mapping[str, str] | None) -> Money | None:
    return Money.from_json(dict(value)) if value else None


@dataclass(frozen=True, kw_only=True)
class Finding:
    """Something about the plan that its reader should know. `level`: fail, warn or note."""

    code: str
    level: str
    text: str


@dataclass(frozen=True, kw_only=True)
class DiskPart:
    """One thing that the disk has to hold. `bytes` None: unknown, with the reason in `why`."""

    name: str
    bytes: int | None
    why: str
    files: int | None = None


@dataclass(frozen=True, kw_only=True)
class DiskNeed:
    """What the disk has to hold, and the size to rent.

    `needed`: the sum of what is known with its slack; None: nothing is known. `complete`: nothing is unknown.
    `recommended`: in the steps of `row`, the disk of the offer that is taken; without one, in steps of 10 GB.
    """

    parts: tuple[DiskPart, ...]
    needed: int | None
    complete: bool
    recommended: int | None
    row: str | None
    why: str

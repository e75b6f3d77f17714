"""What a benchmark returns: figures with their targets, and what has to be known to believe them."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, kw_only=True)
class Measure:
    """One figure. Less is better.

    value: in `unit`; the middle one of several where there are several, with `spread` (lowest, highest).
    target: None for a part that is only told.
    """

    name: str
    value: float
    unit: str
    target: float | None = None
    spread: tuple[float, float] | None = None

    @property
    def ratio(self) -> float | None:
        """How much of the target is used; None without a target."""
        return self.value / self.target if self.target else None

    @property
    def met(self) -> bool | None:
        return None if self.target is None else self.value <= self.target

    def as_json(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "value": self.value,
            "unit": self.unit,
            "target": self.target,
            "ratio": self.ratio,
            "met": self.met,
            "spread": list(self.spread) if self.spread else None,
        }


@dataclass(frozen=True, kw_only=True)
class Result:
    """Figures of one benchmark. `notes`: sentences for people, such as what a figure leaves out."""

    measures: tuple[Measure, ...]
    notes: tuple[str, ...] = ()

    def as_json(self) -> dict[str, Any]:
        return {"measures": [measure.as_json() for measure in self.measures], "notes": list(self.notes)}


def median(name: str, values: Sequence[float], unit: str, target: float | None = None) -> Measure:
    """Return the middle of several values as a figure, with the lowest and the highest."""
    return Measure(
        name=name,
        value=statistics.median(values),
        unit=unit,
        target=target,
        spread=(min(values), max(values)),
    )

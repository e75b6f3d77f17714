"""What a frozen plan promised, as closing needs it: the deliverables and the decision rule."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any


@dataclass(frozen=True, kw_only=True)
class MetricRule:
    """A metric that is computed again from predictions. `truth`: a file, relative to the code folder."""

    name: str
    truth: str


@dataclass(frozen=True, kw_only=True)
class Deliverable:
    """One output that every run of the campaign promised.

    `path` is relative to the run's outputs. `key` is the column that names each row, `rows` how many there
    are. `reload` is the user's command that uses the output again; `compare` names the deliverable that
    this command has to reproduce.
    """

    name: str
    path: str
    key: str | None = None
    rows: int | None = None
    metric: MetricRule | None = None
    reload: str | None = None
    compare: str | None = None


@dataclass(frozen=True, kw_only=True)
class DecisionRule:
    """When a variant is adopted: its metric is better than that of run `over` by at least `margin`.

    `better` is higher or lower. `unit` is what cost per accepted counts: the name of a deliverable, `run`,
    or None for nothing.
    """

    metric: str
    better: str
    margin: Decimal
    over: str
    unit: str | None = None


@dataclass(frozen=True, kw_only=True)
class Promise:
    """All that a plan promised to deliver and to answer."""

    deliverables: tuple[Deliverable, ...]
    decision: DecisionRule | None

    def named(self, name: str) -> Deliverable | None:
        """Return one deliverable by its name."""
        return next((item for item in self.deliverables if item.name == name), None)


def promise_of(plan: Mapping[str, Any]) -> Promise:
    """Return what a frozen plan promised."""
    decision = plan.get("decision")
    return Promise(
        deliverables=tuple(_deliverable(item) for item in plan.get("deliverables") or ()),
        decision=_decision(decision) if decision else None,
    )


def _deliverable(item: Mapping[str, Any]) -> Deliverable:
    metric = item.get("metric")
    return Deliverable(
        name=item["name"],
        path=item["path"],
        key=item.get("key"),
        rows=item.get("rows"),
        metric=MetricRule(name=metric["name"], truth=metric["truth"]) if metric else None,
        reload=item.get("reload"),
        compare=item.get("compare"),
    )


def _decision(item: Mapping[str, Any]) -> DecisionRule:
    unit = item.get("unit")
    return DecisionRule(
        metric=item["metric"],
        better=item["better"],
        # A float of the plan is taken as it is written, not as the binary number behind it.
        margin=Decimal(str(item["adopt_margin"])),
        over=item["over"],
        unit=None if unit in (None, "none") else unit,
    )

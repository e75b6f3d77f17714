"""What a frozen plan promised, as closing needs it: the deliverables and the decision rule."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from lastro.records import dataclass


@dataclass(frozen=True, kw_only=True)
class MetricRule:
    """A metric that is computed again from predictions. `truth`: a file, relative to the code folder.

    `claimed`: a JSON file of the outputs in which the run tells it by its name.
    """

    name: str
    truth: str
    claimed: str | None = None


@dataclass(frozen=True, kw_only=True)
class Base:
    """A model that an output was made from: `path` relative to the code folder, or `hub`, a name there.

    `revision` (a commit) or `sha256` (of the file, or of the sums of a folder's files) says which bytes.
    """

    path: str | None = None
    hub: str | None = None
    revision: str | None = None
    sha256: str | None = None
    licence: str | None = None
    gated: bool | None = None

    @property
    def name(self) -> str:
        return self.hub or self.path or ""


@dataclass(frozen=True, kw_only=True)
class Deliverable:
    """One output that every run of the campaign promised.

    `path`, a file or a folder, is relative to the run's outputs. `key` is the column that names each row,
    `rows` how many there are. `reload` is the user's command that uses the output again; `compare` names the
    deliverable that this command has to reproduce. `recorded`: a file of the outputs with a small input and
    what the model said to it. `may_unpickle`: in a jail, when nothing in the pickle speaks against it.
    """

    name: str
    path: str
    key: str | None = None
    rows: int | None = None
    metric: MetricRule | None = None
    reload: str | None = None
    compare: str | None = None
    recorded: str | None = None
    base: Base | None = None
    may_unpickle: bool = False

    @property
    def beside(self) -> tuple[str, ...]:
        """Return the other outputs that judging this one takes."""
        claimed = self.metric.claimed if self.metric else None
        return tuple(path for path in (self.recorded, claimed) if path is not None)


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
    metric, base = item.get("metric"), item.get("base")
    return Deliverable(
        name=item["name"],
        path=item["path"],
        key=item.get("key"),
        rows=item.get("rows"),
        metric=MetricRule(**metric) if metric else None,
        reload=item.get("reload"),
        compare=item.get("compare"),
        recorded=item.get("recorded"),
        base=Base(**base) if base else None,
        may_unpickle=item.get("pickle") == "jailed",
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

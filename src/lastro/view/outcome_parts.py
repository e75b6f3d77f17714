"""Forecast and actual, side by side, as frozen values. Hours; None is unknown."""

from __future__ import annotations

from lastro.journal.views import DoubtView, MoveView, WaitView
from lastro.records import dataclass
from lastro.units import Money


@dataclass(frozen=True, kw_only=True)
class Explanation:
    """Why a stage went otherwise. `kind`: interrupted | crashed | hung | queue | paused | disk | typed | ...

    `hours`: that it took; None: unknown, or it took none of its own. `origin`: events | typed.
    """

    kind: str
    text: str
    hours: float | None
    origin: str


@dataclass(frozen=True, kw_only=True)
class StageRow:
    """One interval of the frozen calendar. `run`: the name of its run; None: it is of no run.

    `low`, `likely`, `high`: as reserved. `observed` by `source`: measured | typed; None: nothing measures it
    and nobody typed it. `deviation`: observed minus likely. `outside`: whether it lies outside low..high.
    """

    stage: str
    run: str | None
    low: float
    likely: float
    high: float
    origin: str
    observed: float | None
    source: str | None
    deviation: float | None
    outside: bool | None
    explanations: tuple[Explanation, ...]

    @property
    def name(self) -> str:
        return f"{self.stage} {self.run}" if self.run else self.stage


@dataclass(frozen=True, kw_only=True)
class CostBeside:
    """What the option that was taken was to cost, and what the campaign has cost. None: unknown."""

    low: Money | None
    likely: Money | None
    high: Money | None
    observed: Money | None
    difference: Money | None
    outside: bool | None


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """The plan as it was frozen first, beside what came of it.

    `elapsed`: from the freezing to the end of the last attempt. `slack`: the plan's; `slack_left`: of the
    window; `slack_used`: the difference. `off`: names of the stages whose observation lies outside. `moves`:
    offers that were left for others, which the forecast knows nothing of.
    """

    digest: str | None
    stages: tuple[StageRow, ...]
    window: float | None
    planned_end: tuple[float, float, float] | None
    elapsed: float | None
    slack: float | None
    slack_used: float | None
    slack_left: float | None
    cost: CostBeside
    waits: tuple[WaitView, ...]
    doubts: tuple[DoubtView, ...]
    off: tuple[str, ...]
    moves: tuple[MoveView, ...] = ()

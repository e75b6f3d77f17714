"""How long provisionings take: median, ninth decile, outliers; giving up counts. Pure."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Sequence
from typing import Any

from lastro.journal.provisioning import STAGES, Provision
from lastro.records import dataclass

#: With fewer events than this a quantile is one of the events; they are shown themselves.
ENOUGH = 10
#: Beyond the third quartile by so many times the distance of the quartiles: "far out" (J. W. Tukey,
#: Exploratory Data Analysis, 1977).
FAR_OUT = 3.0


@dataclass(frozen=True, kw_only=True)
class Waits:
    """One stage of the machines of a group. Seconds.

    Args:
        stage: request, boot, reachable, canary, first_step.
        seen: how long it took, where it came to its end; in order of time.
        given_up: how long was waited for those that never did.
        median, p90: None below ENOUGH events, and where so many were given up that it is not known.
        outliers: tags of machines that took far longer than the rest.
    """

    stage: str
    seen: tuple[float, ...]
    given_up: tuple[float, ...]
    median: float | None
    p90: float | None
    outliers: tuple[str, ...]

    def as_json(self) -> dict[str, Any]:
        return {
            "stage": self.stage,
            "count": len(self.seen),
            "given_up": len(self.given_up),
            "median": self.median,
            "p90": self.p90,
            "events": list(self.seen) if len(self.seen) < ENOUGH else None,
            "outliers": list(self.outliers),
        }


@dataclass(frozen=True, kw_only=True)
class Group:
    """Machines of one kind: `by` is provider, gpu or hour; `name` None: it is not known."""

    by: str
    name: str | None
    machines: int
    stages: tuple[Waits, ...]

    def as_json(self) -> dict[str, Any]:
        return {
            "by": self.by,
            "name": self.name,
            "machines": self.machines,
            "stages": [stage.as_json() for stage in self.stages],
        }


_KEYS: tuple[tuple[str, Callable[[Provision], str | None]], ...] = (
    ("provider", lambda one: one.provider),
    ("gpu", lambda one: one.gpu),
    ("hour", lambda one: f"{one.hour:02d}"),
)


def grouped(found: Sequence[Provision]) -> tuple[Group, ...]:
    """Return all groups: by provider, by class of card, by hour of the day (UTC)."""
    groups = []
    for by, key in _KEYS:
        for name in sorted({key(one) for one in found}, key=lambda name: (name is None, name)):
            members = [one for one in found if key(one) == name]
            stages = tuple(_waits(stage, members) for stage in STAGES)
            groups.append(Group(by=by, name=name, machines=len(members), stages=stages))
    return tuple(groups)


def _waits(stage: str, members: Sequence[Provision]) -> Waits:
    reached = [(getattr(one, stage), one.tag) for one in members if getattr(one, stage) is not None]
    seen = [seconds for seconds, _tag in reached]
    given_up = [one.given_up for one in members if getattr(one, stage) is None and one.given_up is not None]
    enough = len(seen) >= ENOUGH
    return Waits(
        stage=stage,
        seen=tuple(seen),
        given_up=tuple(given_up),
        median=quantile(seen, given_up, 0.5) if enough else None,
        p90=quantile(seen, given_up, 0.9) if enough else None,
        outliers=tuple(tag for seconds, tag in reached if seconds > _far(seen)) if enough else (),
    )


def quantile(seen: Sequence[float], given_up: Sequence[float], share: float) -> float | None:
    """Return the time by which this share of all came to its end, those that were given up counted in.

    What was given up after 60 s may have come after 61: it counts as longer than 60 s, not as nothing. The
    product-limit estimate of E. L. Kaplan and P. Meier (J. Amer. Statist. Assoc. 53, 1958). None: too many
    were given up before that share was reached.
    """
    at_risk, left = len(seen) + len(given_up), 1.0
    # Of an end and a giving-up at the same time the end comes first.
    for seconds, ended in sorted([(one, 0) for one in seen] + [(one, 1) for one in given_up]):
        if ended == 0:
            left *= 1 - 1 / at_risk
            if left <= 1 - share + 1e-12:
                return seconds
        at_risk -= 1
    return None


def _far(seen: Sequence[float]) -> float:
    first, _middle, third = statistics.quantiles(seen, n=4)
    return third + FAR_OUT * (third - first)

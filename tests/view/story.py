"""Small campaigns told as events, so that a test can say what happened and look at the page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta, timezone
from typing import Any

from lastro.clock import iso
from lastro.journal.events import EventType as E
from lastro.journal.projections import project
from lastro.journal.streams import Event
from lastro.journal.views import CampaignView
from lastro.view.series import Points, Series, compose

START = datetime(2026, 11, 30, 9, 0, tzinfo=timezone.utc)
HOURLY = {
    "offer": "box", "kind": "hourly", "price": {"amount": "0.60", "currency": "USD"}, "unit_seconds": 1,
    "minimum_seconds": 0, "term_seconds": None, "source": "declared",
}  # fmt: skip


def at(minutes: float) -> str:
    return iso(START + timedelta(minutes=minutes))


def planned(*names: str, **changed: Any) -> dict[str, Any]:
    """Return a plan with a control and the runs that are named."""
    runs = [
        {"id": f"id-{name}", "name": name, "priority": "required", "config": {"width": 64, "run": name}}
        for name in ("control", *names)
    ]
    return {
        "campaign": "digits",
        "question": "Is it better?",
        "window_hours": 2.0,
        "budget": {"amount": "60.00", "currency": "USD"},
        "runs": runs,
        "deliverables": [
            {"name": "predictions", "path": "p.csv", "metric": {"name": "accuracy", "truth": "t.csv"}}
        ],
        "decision": {
            "metric": "accuracy", "better": "higher", "adopt_margin": "0.01", "over": "control",
            "unit": "run",
        },
        "stop": [{"kind": "non_finite", "metric": "loss", "below": None, "after_steps": 0}],
        "calendar": [
            {"stage": "run", "run": name, "lane": "gpu 1", "start_hours": number, "end_hours": number + 0.5}
            for number, name in enumerate(("control", *names))
        ],
        **changed,
    }  # fmt: skip


class Story:
    """Collects events by stream; `view` folds them as the program does."""

    def __init__(self, plan: Mapping[str, Any] | None = None) -> None:
        self.streams: dict[str, list[Event]] = {"home-1": []}
        if plan is not None:
            self.home(0, E.PLAN_FROZEN, digest="d" * 64, plan=plan)

    def _add(self, stream: str, minutes: float, kind: E, facts: Mapping[str, Any]) -> None:
        events = self.streams.setdefault(stream, [])
        events.append(Event(stream, len(events) + 1, at(minutes), kind, facts))

    def home(self, minutes: float, kind: E, **facts: Any) -> None:
        self._add("home-1", minutes, kind, facts)

    def machine(
        self,
        name: str,
        minutes: float,
        lease: Mapping[str, Any] | None = HOURLY,
        provider: str = "local",
    ) -> None:
        self.home(
            minutes, E.MACHINE_INTENDED, tag=f"t-{name}", provider=provider, lease=lease, why="a run waits"
        )
        self.home(
            minutes, E.MACHINE_CREATED, tag=f"t-{name}", machine=name, node="n", requested_at=at(minutes)
        )
        self.home(minutes, E.MACHINE_READY, machine=name, seconds=1.0)

    def start(
        self, run: str, number: int, minutes: float, resumed: int | None = None, machine: str = "m-1"
    ) -> None:
        stream = f"id-{run}-{number}"
        self._add(
            stream, minutes, E.ATTEMPT_STARTED,
            {"run": f"id-{run}", "name": run, "attempt": number, "machine": machine, "node": "n",
             "token": "t", "job": {}, "committed_step": resumed},
        )  # fmt: skip
        if resumed is not None:
            self._add(stream, minutes, E.ATTEMPT_RESUMED, {"step": resumed, "folder": "f", "seconds": 1.0})
        self._add(stream, minutes, E.ATTEMPT_STEPPED, {"step": (resumed or 0) + 1, "seconds": 2.0})

    def save(self, run: str, number: int, minutes: float, step: int) -> None:
        facts = {"step": step, "folder": f"{step}-a{number}", "bytes": 1000, "seconds": 0.1, "why": "due"}
        self._add(f"id-{run}-{number}", minutes, E.CHECKPOINT_COMMITTED, facts)

    def end(
        self, run: str, number: int, minutes: float, end: str, step: int | None, why: str = "it was so"
    ) -> None:
        stream = f"id-{run}-{number}"
        verdict = {"done": "completed", "stop_rule": "stopped", "crashed": "failed"}.get(end, "interrupted")
        facts = {"cause": {"end": end, "why": why}, "step": step, "committed_step": None, "seconds": 1.0}
        self._add(stream, minutes, E.ATTEMPT_ENDED, facts)
        self._add(stream, minutes, E.RUN_ENDED, {"verdict": verdict, "why": why})

    def judge(self, run: str, metric: float | None, verdict: str = "accepted") -> None:
        self.home(
            90, E.DELIVERABLE_JUDGED, run=f"id-{run}", name="predictions", path="p.csv", verdict=verdict,
            why="compared", level="fresh process", loader="table", digest="a" * 64, metric=metric,
        )  # fmt: skip

    def conclude(self, verdict: str, run: str | None, why: str) -> None:
        self.home(91, E.CAMPAIGN_CONCLUDED, verdict=verdict, run=run, why=why, evidence={})

    def view(self, minutes: float = 100) -> CampaignView:
        return project(self.streams, START + timedelta(minutes=minutes))


def adopted() -> Story:
    """A control and a variant, one loss of 40 steps, and a conclusion."""
    story = Story(planned("wide"))
    story.machine("m-1", 0)
    story.start("control", 1, 1)
    story.save("control", 1, 5, 100)
    story.end("control", 1, 6, "lost", 140, "the machine is gone")
    story.start("control", 2, 8, resumed=100)
    story.end("control", 2, 20, "done", 300)
    story.start("wide", 1, 21)
    story.save("wide", 1, 40, 300)
    story.end("wide", 1, 40, "done", 300)
    story.home(60, E.MACHINE_GONE, machine="m-1", cause="released", seconds=3600.0)
    story.judge("control", 0.90)
    story.judge("wide", 0.95)
    story.conclude("adopt", "id-wide", "wide is better by 0.05")
    return story


def points(values: Sequence[tuple[int, float]]) -> Points:
    found = Points()
    for step, value in values:
        found.add(step, value)
    return found


def curve(metric: str, *lives: Sequence[tuple[int, float]]) -> Series:
    """Return one series from what each attempt measured."""
    return compose([{metric: points(life)} for life in lives])[metric]

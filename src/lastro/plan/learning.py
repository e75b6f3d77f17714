"""Durations of a campaign's runs as they were measured, in the place of what its file declares. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field
from typing import Any

from lastro.locale import _
from lastro.plan.estimates import Observation, estimate
from lastro.plan.learned import Learned
from lastro.plan.parts import Span
from lastro.records import dataclass
from lastro.spec.campaign import Campaign, RunSpec
from lastro.spec.durations import Durations, Hours, card
from lastro.spec.run_id import canonical_json
from lastro.spec.stage import Stage


@dataclass(frozen=True, kw_only=True)
class Seen:
    """An observation of a run: what it did, on what input (its digest; None: none), and for how long."""

    command: tuple[str, ...]
    config: Mapping[str, Any]
    corpus: str | None
    observation: Observation


@dataclass(frozen=True)
class RunDurations(Durations):
    """The hours of one run.

    `bare`: measured where no card is known, which says nothing of any card; or on the only card that the run
    was ever measured on, for a machine of which none is known.
    """

    bare: Hours | None = None

    def on(self, gpu: str | None) -> Hours | None:
        return self.bare if gpu is None and self.bare is not None else super().on(gpu)

    def times(self, factor: float) -> RunDurations:
        whole = super().times(factor)
        return RunDurations(whole.anywhere, whole.on_card, self.bare.times(factor) if self.bare else None)


@dataclass(frozen=True)
class LearnedDurations(Durations):
    """The hours of a stage, and those of runs of which something was measured."""

    of_run: Mapping[str, Durations] = field(default_factory=dict)

    def of(self, run: str | None) -> Durations:
        return self.of_run.get(run, self) if run is not None else self


def learn(campaign: Campaign, corpus: str | None, seen: Sequence[Seen]) -> tuple[Learned, ...]:
    """Return what is known of the campaign's runs from measured ones.

    Only a run with the same command, the same configuration and the same input counts, whatever its code.
    What has no stage of its own on the calendar has no place for an estimate.
    """
    return tuple(one for run in campaign.runs() for one in _of_run(campaign, run, corpus, seen))


def _of_run(campaign: Campaign, run: RunSpec, corpus: str | None, seen: Sequence[Seen]) -> Iterator[Learned]:
    name, stage = whole_stage(campaign, run)
    mine = [one.observation for one in seen if _is_same(one, run, corpus)]
    if stage is None or stage.hours is None:
        return
    for gpu in sorted({one.gpu for one in mine}, key=lambda gpu: gpu or ""):
        hours = stage.hours.on(gpu)
        declared = Span(low=hours.low, likely=hours.likely, high=hours.high) if hours else None
        found = estimate(mine, gpu=gpu, declared=declared)
        if found.span is not None:
            yield Learned(
                run=run.name,
                stage=name,
                gpu=gpu,
                hours=found.span,
                declared=declared,
                count=found.count,
                origin=_origin(found.origin, declared),
                why=found.why,
            )


def _is_same(one: Seen, run: RunSpec, corpus: str | None) -> bool:
    same_config = canonical_json(dict(one.config)) == canonical_json(dict(run.config))
    return one.command == tuple(run.argv) and same_config and one.corpus == corpus


def _origin(measured: str, declared: Span | None) -> str:
    """Return where hours come from, with what was declared beside it."""
    if declared is None:
        return measured
    told = ", ".join(f"{hours:.4g}" for hours in sorted({declared.low, declared.likely, declared.high}))
    return _("{measured} (declared: {hours} h)").format(measured=measured, hours=told)


def whole_stage(campaign: Campaign, run: RunSpec) -> tuple[str, Stage | None]:
    """Return the stage that is the whole of a run: of those for it that have hours, the longest."""
    mine = [
        (name, stage)
        for name, stage in campaign.stages.items()
        if stage.hours is not None and (stage.each is not None or stage.run == run.name)
    ]
    return max(mine, key=lambda item: _longest(item[1]), default=("", None))


def _longest(stage: Stage) -> float:
    assert stage.hours is not None, "only stages with hours are asked"
    known = [*stage.hours.on_card.values(), *([stage.hours.anywhere] if stage.hours.anywhere else [])]
    return max(hours.likely for hours in known)


def informed(campaign: Campaign, learned: Sequence[Learned]) -> Campaign:
    """Return the campaign with what was learned in the place of what its file declares."""
    stages = dict(campaign.stages)
    for name, stage in campaign.stages.items():  # one that a frozen plan knows may be gone from the file
        if stage.hours is None or all(one.stage != name for one in learned):
            continue
        mine = [one for one in learned if one.stage == name]
        by_run = {run: _run_hours(stage, [one for one in mine if one.run == run]) for run in _names(mine)}
        hours = LearnedDurations(stage.hours.anywhere, stage.hours.on_card, by_run)
        stages[name] = stage.model_copy(update={"hours": hours})
    return campaign.model_copy(update={"stages": stages}) if learned else campaign


def _names(learned: Sequence[Learned]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(one.run for one in learned))


def _run_hours(stage: Stage, learned: Sequence[Learned]) -> Durations:
    assert stage.hours is not None, "an estimate is for a stage with hours"
    on_card = {card(one.gpu): _hours(one) for one in learned if one.gpu is not None}
    bare = next((_hours(one) for one in learned if one.gpu is None or len(learned) == 1), None)
    # What holds no card takes as long on every machine.
    anywhere = bare if bare is not None and not stage.gpu else stage.hours.anywhere
    return RunDurations(anywhere, {**stage.hours.on_card, **on_card}, bare)


def _hours(one: Learned) -> Hours:
    return Hours(one.hours.low, one.hours.likely, one.hours.high, one.origin)

"""What a campaign puts on its calendar: one interval for each stage, or for each run of a stage."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from lastro.locale import _
from lastro.plan.parts import Unplaced
from lastro.records import dataclass
from lastro.spec.campaign import Campaign, RunSpec, waits_for
from lastro.spec.durations import Durations, Hours
from lastro.spec.stage import Moves, Stage

PERSON, CPU, GPU = "person", "cpu", "gpu"
_IMPORTANCE = {"required": 0, "useful": 1, "exploratory": 2}


@dataclass(frozen=True, kw_only=True)
class Interval:
    """One interval to be placed: a stage, or a stage for one run.

    `holds`: person, cpu, gpu, or None for nothing; `gpus` of one machine, each with `memory` bytes. `after`:
    indices of the intervals that have to end before, all of them below its own index.
    """

    stage: str
    run: str | None
    durations: Durations
    holds: str | None
    gpus: int
    memory: int | None
    after: tuple[int, ...]
    decide: bool
    does: str | None
    never_spot: bool
    priority: str
    moves: Moves | None

    @property
    def name(self) -> str:
        return f"{self.stage} {self.run}" if self.run else self.stage


@dataclass(frozen=True, kw_only=True)
class Work:
    """All intervals of a campaign, or of a part of it, and what cannot be put on a calendar, with reasons."""

    intervals: tuple[Interval, ...]
    unplaced: tuple[Unplaced, ...]


def work_of(campaign: Campaign, runs: Collection[str] | None = None, *, only_required: bool = False) -> Work:
    """Return what has to be done; a stage that is exploratory starts on request only, as such a run does.

    Args:
        campaign: its stages; without any, each run is named as one whose duration is unknown.
        runs: the names of the runs that are done; None: all of them.
        only_required: leave out the stages that are not required.
    """
    kept = [run for run in campaign.runs() if runs is None or run.name in runs]
    kept.sort(key=lambda run: _IMPORTANCE[run.priority])
    if not campaign.stages:
        why = _("its duration is unknown: the campaign file has no stages")
        unknown = tuple(Unplaced(stage="run", run=run.name, why=why) for run in kept)
        return Work(intervals=(), unplaced=unknown)
    intervals: list[Interval] = []
    unplaced: list[Unplaced] = []
    of_stage: dict[str, list[int]] = {}
    for name in _in_order(campaign.stages):
        stage = campaign.stages[name]
        of_stage[name] = []
        if stage.priority == "exploratory" or (only_required and stage.priority != "required"):
            continue
        before = _before(campaign.stages, name, of_stage)
        for run in _runs_of(stage, kept):
            durations, whole = _durations(campaign.stages, stage)
            if durations is None:
                why = _("a part of {run}, and no stage says how long {run} takes").format(run=stage.run)
                unplaced.append(Unplaced(stage=name, run=stage.run, why=why))
                continue
            of_stage[name].append(len(intervals))
            mine = durations.of(run.name if run else None)
            intervals.append(_interval(name, stage, whole, run, mine, before))
    covered = {one.run for one in intervals if campaign.stages[one.stage].part is None}
    why = _("its duration is unknown: no stage is for this run")
    unplaced += [Unplaced(stage="run", run=run.name, why=why) for run in kept if run.name not in covered]
    return Work(intervals=tuple(intervals), unplaced=tuple(unplaced))


def _interval(
    name: str, stage: Stage, whole: Stage, run: RunSpec | None, durations: Durations, before: tuple[int, ...]
) -> Interval:
    return Interval(
        stage=name,
        run=run.name if run else None,
        durations=durations,
        holds=_holds(stage) or _holds(whole),
        gpus=stage.gpu or whole.gpu,
        memory=stage.memory if stage.memory is not None else whole.memory,
        after=before,
        decide=stage.decide,
        does=stage.does,
        never_spot=stage.never_spot or whole.never_spot,
        priority=run.priority if run else stage.priority,
        moves=stage.moves,
    )


def _runs_of(stage: Stage, runs: Sequence[RunSpec]) -> Sequence[RunSpec | None]:
    """Return the runs that a stage is done for; a stage of a run that is left out is left out with it."""
    if stage.each:
        return runs
    if stage.run is None:
        return [None]
    return [run for run in runs if run.name == stage.run]


def _in_order(stages: Mapping[str, Stage]) -> list[str]:
    """Return the stages so that each comes after those it waits for; the order of the file breaks ties."""
    waiting, done = list(stages), []
    while waiting:
        ready = next(name for name in waiting if not set(waits_for(stages, name)) & set(waiting))
        waiting.remove(ready)
        done.append(ready)
    return done


def _before(stages: Mapping[str, Stage], name: str, of_stage: Mapping[str, Sequence[int]]) -> tuple[int, ...]:
    """Return the intervals that a stage waits for; of a stage that has none, those that it waited for."""
    found: set[int] = set()
    for other in waits_for(stages, name):
        found.update(of_stage[other] or _before(stages, other, of_stage))
    return tuple(sorted(found))


def _durations(stages: Mapping[str, Stage], stage: Stage) -> tuple[Durations | None, Stage]:
    """Return how long a stage takes, and the stage that it is a part of, or itself."""
    if stage.person is not None:
        return Durations(stage.person, {}), stage
    if stage.moves is not None:
        return Durations(stage.moves.rate.hours(stage.moves.size), {}), stage
    if stage.hours is not None:
        return stage.hours, stage
    for other in stages.values():
        if other.hours is not None and (other.run == stage.run or other.each is not None):
            assert stage.part is not None, "a stage says how long it takes in one of four ways"
            return other.hours.of(stage.run).times(stage.part), other
    return None, stage


def _holds(stage: Stage) -> str | None:
    if stage.person is not None:
        return PERSON
    return GPU if stage.gpu else CPU if stage.cpu else None


def hours_on(interval: Interval, gpu: str | None) -> Hours | None:
    """Return how long an interval takes when the machines have this card; None: unknown there."""
    if interval.holds == GPU:
        return interval.durations.on(gpu)
    return interval.durations.anywhere or interval.durations.on(gpu)

"""What each loss of a rehearsal has cost in the hours of the plan: counted from what was seen in small.

A look at a small run comes ten times a second, and a step of it may stand for an hour. So a loss counts from
the step at which it was drawn: what the small run did beyond it before its machine went did not happen yet,
and a save that it made there is not gone on from.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from lastro.plan.rehearsal_draw import Drawn
from lastro.plan.rehearsal_scale import Scale
from lastro.plan.rehearsal_shape import Pauses
from lastro.plan.rehearsal_weather import Kind
from lastro.records import dataclass


@dataclass(frozen=True, kw_only=True)
class Life:
    """One attempt as it was seen in small.

    `began`: the step that it went on from, 0 for none. `saves`: steps that it has committed. `lost`: steps
    (items of a run over items) that it had done and not saved, as the journal has it; None: unknown.
    `ended`: why, None: it completed its run. `fault`: the loss that ended it, by its index; None: none did.
    `refused`: the requests that were refused before it got its machine, and the seconds that this took.
    """

    run: str
    began: int
    saves: tuple[int, ...]
    lost: int | None
    ended: str | None
    fault: int | None
    refused: tuple[int, ...] = ()
    refused_seconds: float = 0.0


@dataclass(frozen=True, kw_only=True)
class Blow:
    """One loss, and what it cost. `index` None: nobody has drawn it.

    `happened` False: it was drawn and never came, or when its run was over. Hours None: unknown. `lost`: work
    that is done again. `delay`: by how much its run ends later. `held`: by how much longer machines are paid.
    """

    index: int | None
    kind: Kind | None
    run: str
    step: int
    happened: bool
    lost_steps: int | None
    lost: float | None
    delay: float | None
    held: float | None
    why: str = ""


def blows_of(
    faults: Sequence[Drawn], lives: Sequence[Life], scale: Scale, pauses: Pauses, *, items: bool = False
) -> tuple[Blow, ...]:
    """Return what each loss has cost, in the order of the drawn ones; behind them what nobody has drawn.

    Args:
        faults: what was to happen.
        lives: the attempts of each run, oldest first.
        scale: what a step stands for.
        pauses: what a new machine takes.
        items: the runs go over items: each is a save of its own, and the journal tells what was in hand.
    """
    known = {fault.index: fault for fault in faults}
    found = list(_losses(known, lives, scale, pauses, items=items))
    found += _refusals(known, lives)
    came = {blow.index for blow in found}
    found += [_never(fault) for fault in faults if fault.index not in came]
    return tuple(sorted(found, key=lambda blow: (blow.index is None, blow.index or 0)))


def _losses(
    faults: Mapping[int, Drawn], lives: Sequence[Life], scale: Scale, pauses: Pauses, *, items: bool
) -> Iterator[Blow]:
    saves: dict[str, list[int]] = {}
    for life in lives:
        drawn = faults.get(life.fault) if life.fault is not None else None
        saves.setdefault(life.run, []).extend(_saves(life, drawn, scale.every))
        if life.ended is None:
            continue
        if drawn is None:
            lost, step = life.lost, max(life.saves, default=life.began) + (life.lost or 0)
        else:
            step = drawn.step
            kept = max((save for save in saves[life.run] if save <= step), default=0)
            lost = life.lost if items else step - kept
        hours = _hours(scale, life.run, lost)
        silence = pauses.silence if drawn is not None and drawn.kind is Kind.SILENT else 0.0
        yield Blow(
            index=drawn.index if drawn else None,
            kind=drawn.kind if drawn else None,
            run=life.run,
            step=step,
            happened=True,
            lost_steps=lost,
            lost=hours,
            delay=None if hours is None else hours + pauses.replacing + silence,
            held=None if hours is None else hours + pauses.boot + pauses.restart + silence,
            why=life.ended,
        )


def _saves(life: Life, drawn: Drawn | None, every: int) -> Iterator[int]:
    """Give the steps that an attempt has saved, as the plan would have them.

    What it saved on its notice it saved at the step of the notice, however far it came meanwhile. What it
    saved on the grid beyond its fault the next attempt would have saved on its way.
    """
    on_notice = drawn is not None and drawn.kind is Kind.NOTICE
    for save in life.saves:
        if drawn is None or save <= drawn.step or save % every == 0:
            yield save
        if drawn is not None and on_notice and save >= drawn.step:
            yield drawn.step


def _hours(scale: Scale, run: str, steps: int | None) -> float | None:
    one = scale.runs.get(run)
    if steps is None or one is None or one.step_hours is None:
        return 0.0 if steps == 0 else None
    return steps * one.step_hours


def _refusals(faults: Mapping[int, Drawn], lives: Sequence[Life]) -> Iterator[Blow]:
    for life in lives:
        for index in life.refused:
            hours = life.refused_seconds / len(life.refused) / 3600
            yield Blow(
                index=faults[index].index,
                kind=Kind.REFUSED,
                run=life.run,
                step=life.began,
                happened=True,
                lost_steps=0,
                lost=0.0,
                delay=hours,
                held=0.0,
            )


def _never(fault: Drawn) -> Blow:
    return Blow(
        index=fault.index,
        kind=fault.kind,
        run=fault.run,
        step=fault.step,
        happened=False,
        lost_steps=0,
        lost=0.0,
        delay=0.0,
        held=0.0,
    )

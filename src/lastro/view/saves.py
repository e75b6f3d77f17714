"""The checkpoints of each run: written, at what cost, needed, refused. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from lastro.records import dataclass
from lastro.view.parts import RunRow


@dataclass(frozen=True, kw_only=True)
class SaveRow:
    """Checkpoints of one run over all its attempts.

    `stalled`: seconds for which the work stood still for them. `largest`: bytes. `reloaded`: steps from which
    a life went on; each was read to its last byte for that. `passed_over`: the reasons for which one was not
    believed. `unhealthy`: how many held values that are not finite.
    """

    run: str
    name: str
    index: int
    written: int
    last_step: int | None
    largest: int | None
    stalled: float
    reloaded: tuple[int, ...]
    passed_over: tuple[str, ...]
    unhealthy: int


def save_rows(runs: Sequence[RunRow]) -> tuple[SaveRow, ...]:
    """Return a row for each run that has written or used a checkpoint."""
    rows = []
    for run in runs:
        made = [save for life in run.attempts for save in life.checkpoints]
        reloaded = [life.resumed_step for life in run.attempts if life.resumed_step is not None]
        refused = [why for life in run.attempts for _folder, why in life.passed_over]
        if not (made or reloaded or refused):
            continue
        rows.append(
            SaveRow(
                run=run.id,
                name=run.name,
                index=run.index,
                written=len(made),
                last_step=max((save.step for save in made), default=None),
                largest=max((save.bytes for save in made), default=None),
                stalled=sum(save.seconds for save in made),
                reloaded=tuple(reloaded),
                passed_over=tuple(refused),
                unhealthy=sum(save.healthy is False for save in made),
            )
        )
    return tuple(rows)

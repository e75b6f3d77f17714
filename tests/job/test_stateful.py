"""A loader that keeps its own place: told where it was, it goes on there, and no generator moves for that."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from lastro.errors import CheckpointDamaged
from lastro.job.ranks import Ranks
from lastro.job.stateful import StatefulSource
from lastro.rules import CheckpointPolicy
from tests.job.hand import Run, make_run
from tests.job.test_loop import attempt


class Rows:
    """Eight rows in an order that is drawn anew for each epoch; counts how many it has handed out."""

    def __init__(self, rows: int = 8) -> None:
        self.rows, self.drawn = rows, 0
        self._order: list[int] = []
        self._at = 0
        self._told = False

    def __len__(self) -> int:
        return self.rows

    def __iter__(self) -> Iterator[int]:
        drawn = random.random()  # as a DataLoader does, which seeds its workers
        if not self._told:
            self._order, self._at = sorted(range(self.rows), key=lambda row: (row * drawn) % 0.1), 0
        self._told = False
        while self._at < self.rows:
            self._at, self.drawn = self._at + 1, self.drawn + 1
            yield self._order[self._at - 1]

    def state_dict(self) -> dict[str, Any]:
        return {"order": list(self._order), "at": self._at}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        self._order, self._at, self._told = list(state["order"]), state["at"], True


class Stream(Rows):
    """The same without a length that could be trusted: a batch is drawn ahead."""

    class IterableDataset:
        pass

    dataset = IterableDataset()


def live(run: Run, loader: Rows, until: int | None = None, **tracked: Any) -> list[tuple[int, int, float]]:
    """Return what a life was given and has drawn beside, by update; it is lost after the update `until`."""
    mine = attempt(run)
    mine.track(**tracked)
    random.seed(5)
    lived = []
    for step, row in mine.steps(loader, epochs=3):
        lived.append((step.number, row, random.random()))
        if step.number == until:
            break
    return lived


@pytest.mark.parametrize("kind", [Rows, Stream])
@pytest.mark.parametrize("lost_after", [13, 16, 17, 21])
def test_it_goes_on_where_it_was_and_nothing_else_has_moved(
    tmp_path: Path, kind: type[Rows], lost_after: int
) -> None:
    """Saved at every fourth of 24 updates; 16 is the end of the second epoch."""
    policy = CheckpointPolicy(every_steps=4, keep=2)
    whole = live(make_run(tmp_path / "whole", checkpoint=policy), kind())
    run = make_run(tmp_path / "lost", checkpoint=policy)
    first = live(run, kind(), until=lost_after)
    loader = kind()

    second = live(run, loader)

    saved = (lost_after - 1) // 4 * 4
    assert first[:saved] + second == whole
    assert loader.drawn == 24 - saved, "nothing was drawn twice"


def test_one_that_the_script_tracks_itself_keeps_its_name(tmp_path: Path) -> None:
    run = make_run(tmp_path)
    whole = live(make_run(tmp_path / "whole"), Rows())
    lost = Rows()
    live(run, lost, until=13, data=lost)
    again = Rows()

    second = live(run, again, data=again)

    assert second == whole[10:]


def test_another_number_of_processes_is_refused_unless_the_place_is_that_of_all() -> None:
    source = StatefulSource(Rows(), Ranks(0, 1))
    source.load_state_dict({"ranks": [{"at": 1}, {"at": 2}]})

    with pytest.raises(CheckpointDamaged, match="2 processes have saved the places of their loaders"):
        next(source.batches(0, 1, 1))

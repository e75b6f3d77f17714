"""The walk through the epochs, with a real saver in a folder of its own and no training."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from lastro.errors import CheckpointDamaged, UsageError
from lastro.job.attempt import Attempt
from lastro.job.loop import Position, Step
from lastro.job.place import Place
from lastro.rules import Attempt as Told
from lastro.strictjson import read
from tests.job.hand import Run, kinds, make_run


def attempt(run: Run) -> Attempt:
    folder = run.attempt()
    return Attempt(Place(Told.from_json(read(folder.attempt)), folder, by_hand=False))


def steps(root: Path, loader: Iterable[Any], **facts: Any) -> list[Step]:
    return [step for step, _batch in attempt(make_run(root)).steps(loader, **facts)]


def test_a_window_never_crosses_the_end_of_an_epoch(tmp_path: Path) -> None:
    seen = steps(tmp_path, range(5), epochs=2, accumulate=2)

    assert [step.updates for step in seen] == [False, True, False, True, True] * 2
    assert [step.number for step in seen] == [1, 1, 2, 2, 3, 4, 4, 5, 5, 6]
    assert [step.ends_epoch for step in seen] == [False] * 4 + [True] + [False] * 4 + [True]
    assert [(step.epoch, step.batch) for step in seen[4:6]] == [(0, 4), (1, 0)]


def test_a_generator_without_length_ends_where_it_ends(tmp_path: Path) -> None:
    seen = steps(tmp_path, (number for number in range(3)), epochs=2)

    assert [step.number for step in seen] == [1, 2, 3]


def test_no_epochs_are_no_steps(tmp_path: Path) -> None:
    assert steps(tmp_path, range(5), epochs=0) == []


@pytest.mark.parametrize("facts", [{"epochs": -1}, {"accumulate": 0}])
def test_impossible_counts_are_refused(tmp_path: Path, facts: dict[str, int]) -> None:
    with pytest.raises(UsageError, match="has to be"):
        steps(tmp_path, range(5), **facts)


def test_a_second_loop_is_refused(tmp_path: Path) -> None:
    mine = attempt(make_run(tmp_path))
    list(mine.steps(range(2)))

    with pytest.raises(UsageError, match="one training loop"):
        mine.steps(range(2))


class Box:
    def __init__(self) -> None:
        self.value = 0

    def state_dict(self) -> dict[str, int]:
        return {"value": self.value}

    def load_state_dict(self, state: dict[str, int]) -> None:
        self.value = state["value"]


def test_tracking_too_late_is_named(tmp_path: Path) -> None:
    mine = attempt(make_run(tmp_path))
    list(mine.steps(range(2)))

    with pytest.raises(UsageError, match="ema is tracked after the restore"):
        mine.track(ema=Box())


def test_what_cannot_be_tracked_is_named(tmp_path: Path) -> None:
    mine = attempt(make_run(tmp_path))
    mine.track(model=Box())

    with pytest.raises(UsageError, match=r"loss \(float\) has no state_dict"):
        mine.track(loss=1.0)
    for name in ("model", "random", "position"):
        with pytest.raises(UsageError, match=f"{name} is tracked already"):
            mine.track(**{name: Box()})


def test_a_loop_of_another_shape_saves_and_goes_on(tmp_path: Path) -> None:
    run = make_run(tmp_path)
    first, box = attempt(run), Box()
    first.track(box=box)
    assert first.restore() == 0
    for step in range(1, 13):
        box.value += step
        first.safe_point(step)
    first.save()
    first.save()
    assert kinds(run.folder.attempt(1)) == ["first_step", "checkpoint", "checkpoint"]

    second, again = attempt(run), Box()
    second.track(box=again)

    assert second.restore() == 12
    assert again.value == 78


def test_a_save_that_is_asked_for_within_a_window_is_made_at_its_end(tmp_path: Path) -> None:
    """Windows of three batches. Asked for in batch 4, the second of window 2: that ends with batch 5."""
    run = make_run(tmp_path)
    first, box = attempt(run), Box()
    first.track(box=box)
    for step, batch in first.steps(range(9), accumulate=3):
        box.value += batch
        if step.batch == 4:
            first.save(keep="the middle")
        if step.batch == 7:
            break
    with pytest.raises(UsageError, match="belongs to no place in the data"):
        first.save()
    second, again = attempt(run), Box()
    second.track(box=again)

    left = [step.batch for step, _batch in second.steps(range(9), accumulate=3)]

    assert left == [6, 7, 8]
    assert again.value == 0 + 1 + 2 + 3 + 4 + 5
    assert [path.name for path in (run.folder.checkpoints / "kept").iterdir()] == ["2-a1.json"]


def test_a_model_whose_parts_have_new_names_goes_on(tmp_path: Path) -> None:
    class Other(Box):
        def state_dict(self) -> dict[str, int]:
            return {"body.value": self.value}

        def load_state_dict(self, state: dict[str, int]) -> None:
            self.value = state["body.value"]

    run = make_run(tmp_path)
    first, box = attempt(run), Box()
    first.track(box=box)
    box.value = 9
    first.restore()
    first.end(3)
    second, other = attempt(run), Other()
    second.track(box=other)
    second.renamed("box", {"value": "body.value"})

    assert second.restore() == 3

    assert other.value == 9
    with pytest.raises(UsageError, match="box is not tracked, or was restored already"):
        second.renamed("box", {})


def test_the_end_of_a_loop_of_another_shape_is_saved_and_told(tmp_path: Path) -> None:
    run = make_run(tmp_path)
    first, box = attempt(run), Box()
    first.track(box=box)
    first.restore()
    first.end(7)
    second = attempt(run)
    second.track(box=Box())

    assert second.restore() == 7
    second.end(7)

    assert kinds(run.folder.attempt(1)) == ["first_step", "checkpoint", "finished"]
    assert kinds(run.folder.attempt(2)) == ["restored", "finished"]


def test_another_kind_of_loop_cannot_take_over(tmp_path: Path) -> None:
    run = make_run(tmp_path)
    first = attempt(run)
    first.restore()
    first.safe_point(10)

    with pytest.raises(CheckpointDamaged, match="another kind of loop"):
        attempt(run).steps(range(5))


def test_a_position_over_other_data_is_refused_by_name() -> None:
    tree = Position(3, 0, 3).as_tree({"rows": 10, "seed": 1})

    assert Position.from_tree(tree, {"rows": 10, "seed": 1}) == Position(3, 0, 3)
    with pytest.raises(CheckpointDamaged, match="position/rows is 10 in the checkpoint and 11 here"):
        Position.from_tree(tree, {"rows": 11, "seed": 1})

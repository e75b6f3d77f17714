"""What has to lie on the disk, by hand; what is unknown, or was not counted to its end, by name."""

from __future__ import annotations

from pathlib import Path

import pytest

from lastro.plan.disk_need import Found, Measured, disk_need, peak_of, state_of
from lastro.plan.parts import DiskNeed
from lastro.plan.state import State, Weights
from lastro.spec.disks import Disk
from tests.plan.planning import VARIANTS, campaign, usd

GB = 10**9
SAVED = State(saved=2 * GB, once=0, memory=None, why="measured: the largest of 4 saves")
BUILT = State(saved=3 * GB, once=GB, memory=9 * GB, why="built by train:build")
DISK = Disk(name="vol", price=usd("0.07"), smallest=50 * GB, largest=200 * GB, step=50 * GB)


def _need(folder: Path, extra: str, measured: Measured | None = None, row: Disk | None = None) -> DiskNeed:
    return disk_need(campaign(folder, extra), measured or Measured(), row)


def _bytes(need: DiskNeed) -> dict[str, int | None]:
    return {part.name: part.bytes for part in need.parts}


def test_everything_adds_up_by_hand(tmp_path: Path) -> None:
    """14 + 40 + 60 + checkpoints + 3 results of 1 + 5 of caches.

    Three runs keep two saves of 4 GB and one more is being written: (3 * 2 + 1) * 4 = 28. In all 150, with
    10 % slack 165, in steps of 10 GB 170.
    """
    need = _need(
        tmp_path,
        VARIANTS + "data: {weights: {base: 14 GB}, dataset: 40 GB, unpacked: 60 GB, state: 4 GB, "
        "results: 1 GB, caches: 5 GB, slack: 10 %}\n",
    )

    assert list(_bytes(need).values()) == [14 * GB, 40 * GB, 60 * GB, 28 * GB, 3 * GB, 5 * GB]
    assert (need.needed, need.recommended, need.complete) == (165 * GB, 170 * GB, True)


def test_machines_side_by_side_write_side_by_side(tmp_path: Path) -> None:
    """Three runs on two machines: 3 * 2 kept and 2 being written, of 4 GB each."""
    need = _need(tmp_path, VARIANTS + "machines: 2\ndata: {state: 4 GB}\n")

    assert _bytes(need) == {"checkpoints": 32 * GB}


def test_what_never_changes_is_counted_once_for_each_run(tmp_path: Path) -> None:
    need = _need(tmp_path, VARIANTS + 'data: {state: {from: "train:build"}}\n', Measured(code=BUILT))

    assert _bytes(need) == {"checkpoints": 7 * 3 * GB, "what training does not change": 3 * GB}


def test_what_is_unknown_is_named_and_never_nothing(tmp_path: Path) -> None:
    need = _need(tmp_path, "data: {weights: {base: {path: weights}}, dataset: {hub: a/b}, results: 60 GB}\n")

    assert _bytes(need) == {"weights base": None, "dataset": None, "checkpoints": None, "results": 60 * GB}
    assert not need.complete
    assert "unknown and not counted: weights base, dataset, checkpoints" in need.why
    why = {part.name: part.why for part in need.parts}
    assert why["dataset"] == "a/b was not asked; `lastro plan --online` does"


def test_why_a_repository_did_not_answer_is_told(tmp_path: Path) -> None:
    need = _need(
        tmp_path, "data: {dataset: {hub: a/b}}\n", Measured(unreached={"dataset": "no answer in 15 s"})
    )

    assert need.parts[0].why == "no answer in 15 s"


def test_what_was_not_counted_to_its_end_is_at_least_so_much(tmp_path: Path) -> None:
    found = Found(bytes=70 * GB, files=9, why="at least: data here", at_least=True)

    need = _need(tmp_path, "data: {dataset: {path: data}, state: 1 GB}\n", Measured(paths={"data": found}))

    assert need.needed is not None and need.needed >= 70 * GB
    assert not need.complete
    assert "more than was counted: dataset" in need.why


def test_a_disk_comes_in_the_steps_of_its_provider(tmp_path: Path) -> None:
    """60 GB and 20 % are 72 GB: 100 GB in steps of 50."""
    assert _need(tmp_path, "data: {results: 60 GB}\n", row=DISK).recommended == 100 * GB


@pytest.mark.parametrize(
    ("size", "row", "said"),
    [
        ("180 GB", DISK, "its largest size is 200 GB"),
        ("9 TB", None, "more than the 10 TB that are usually sold"),
    ],
)
def test_a_disk_that_nobody_sells_has_no_size(tmp_path: Path, size: str, row: Disk | None, said: str) -> None:
    """With 20 % slack 216 GB and 10.8 TB."""
    need = _need(tmp_path, f"data: {{results: {size}}}\n", row=row)

    assert need.recommended is None
    assert said in need.why


def test_no_disk_is_smaller_than_50_gb(tmp_path: Path) -> None:
    assert _need(tmp_path, "data: {results: 1 GB}\n").recommended == 50 * GB


def test_without_a_word_of_sizes_nothing_is_recommended(tmp_path: Path) -> None:
    need = _need(tmp_path, "")

    assert (need.needed, need.recommended, need.complete) == (None, None, False)


# --- who says how large a checkpoint is -----------------------------------------------------------------

CODE = 'data: {state: {from: "train:build"}, model: {parameters: 1.0e+9, optimizer: sgd}}\n'


def test_a_checkpoint_that_was_made_comes_before_all_that_is_said_of_it(tmp_path: Path) -> None:
    for extra in (CODE, "data: {state: 9 GB}\n", ""):
        assert state_of(campaign(tmp_path, extra), Measured(saves=SAVED, code=BUILT)) == SAVED


def test_what_the_code_builds_comes_before_the_formula(tmp_path: Path) -> None:
    assert state_of(campaign(tmp_path, CODE), Measured(code=BUILT)) == BUILT


def test_the_formula_stands_in_for_code_that_cannot_be_built(tmp_path: Path) -> None:
    """A billion float32 that plain SGD trains: 4 GB."""
    state = state_of(campaign(tmp_path, CODE), Measured(code="train:build was not built: torch is missing"))

    assert isinstance(state, State)
    assert state.saved == 4 * GB
    assert state.why.endswith("as train:build was not built: torch is missing")


def test_without_a_formula_a_state_is_unknown_with_the_reason(tmp_path: Path) -> None:
    spec = campaign(tmp_path, 'data: {state: {from: "train:build"}}\n')

    assert state_of(spec, Measured(code="torch is missing")) == "torch is missing"


def test_weights_that_were_read_say_how_large_a_checkpoint_is(tmp_path: Path) -> None:
    """A billion bfloat16, trained with Adam: 2 + 4 bytes each."""
    spec = campaign(tmp_path, "data: {weights: {base: {path: w}}, model: {weights: base, optimizer: adam}}\n")
    weights = Weights(elements={"BF16": 10**9}, bytes=2 * GB, why="the header of w")

    state = state_of(spec, Measured(weights={"base": weights}))
    unread = state_of(spec, Measured())

    assert isinstance(state, State) and state.saved == 6 * GB
    assert unread == "the weights base were not read"


def test_a_card_has_to_hold_weights_gradients_and_optimizer(tmp_path: Path) -> None:
    """A billion float32 with plain SGD: weights and gradients, 8 GB. What the code builds says it exactly."""
    spec = campaign(tmp_path, CODE)

    formula, built = peak_of(spec, Measured()), peak_of(spec, Measured(code=BUILT))

    assert formula is not None and formula.bytes == 8 * GB
    assert built is not None and built.bytes == 9 * GB
    assert peak_of(campaign(tmp_path, "data: {state: 9 GB}\n"), Measured()) is None

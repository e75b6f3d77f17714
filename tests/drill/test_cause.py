"""What was not restored is named by the first update that differs."""

from __future__ import annotations

from typing import Any

import pytest

from lastro.drill.cause import name_cause
from lastro.drill.compare import find_gap, make_reference
from tests.drill.lives import killed, life, reference, state_at


def cause_of(changes: dict[str, Any], *, at: int = 6, **more: dict[str, Any]) -> str:
    undisturbed = reference()
    gap = find_gap(
        [killed(), life(6, 20, 2, changes={at: changes, **{int(k[1:]): v for k, v in more.items()}})],
        undisturbed,
    )
    assert gap is not None
    return name_cause(gap, undisturbed).kind


@pytest.mark.parametrize("kind", ["model", "optimizer"])
def test_state_that_is_not_what_was_saved_is_named(kind: str) -> None:
    assert cause_of({"state": state_at(6, **{kind: "other"})}) == kind


def test_the_weights_come_before_what_follows_from_them() -> None:
    state = state_at(6, model="other", optimizer="other", random_torch="other")

    assert cause_of({"state": state, "losses": (7.0,), "inputs": ("x",)}) == "model"


def test_another_rate_is_the_schedule() -> None:
    assert cause_of({"rates": (3.0,), "state": state_at(6, scheduler="other")}) == "scheduler"
    assert cause_of({"rates": (3.0,)}) == "scheduler"


def test_a_batch_that_came_elsewhere_is_the_position_in_the_data() -> None:
    moved = {"inputs": ("batch-1",), "ids": ("ids-1",), "rows": ("row-1a", "row-1b")}

    assert cause_of(moved) == "data"
    assert cause_of({**moved, "ids": (), "state": state_at(6, random_torch="other")}) == "data"


def test_another_number_of_samples_is_another_choice_of_them() -> None:
    assert cause_of({"inputs": ("x",), "rows": ("row-6a",)}) == "data"


def test_an_order_that_nobody_had_with_other_random_states_is_chance() -> None:
    shuffled = {"inputs": ("x",), "ids": ("y",), "rows": ("row-1a", "row-9b")}

    assert cause_of({**shuffled, "state": state_at(6, random_torch="other")}) == "random"
    assert cause_of(shuffled) == "data"


def test_of_random_states_it_is_said_whether_batches_were_drawn_from_them() -> None:
    """An order is drawn when its epoch begins: to put back the states of now does not bring it back."""
    undisturbed = reference()
    state = state_at(6, random_torch="other")
    told = []
    for changes in ({"inputs": ("x",), "ids": ("y",), "state": state}, {"losses": (3.0,), "state": state}):
        gap = find_gap([killed(), life(6, 20, 2, changes={6: changes})], undisturbed)
        assert gap is not None
        told.append(name_cause(gap, undisturbed))

    assert [cause.kind for cause in told] == ["random", "random"]
    assert "other batches are drawn" in told[0].why and "order of the epoch" in str(told[0].remedy)
    assert "order of the epoch" not in str(told[1].remedy)


def test_the_same_samples_with_other_bytes_are_augmentation() -> None:
    changed = {"inputs": ("x",), "rows": ("new-a", "new-b")}
    other_states = {"state": state_at(6, random_torch="other")}

    assert cause_of(changed) == "augmentation"
    assert cause_of({**changed, **other_states, "workers": 2}) == "augmentation"
    assert cause_of({**changed, **other_states}) == "random"


def test_other_bytes_with_another_number_of_workers_are_augmentation() -> None:
    """The workers of the undisturbed lives drew them; without workers the process itself does."""
    whole = {"workers": 2}
    undisturbed = make_reference([life(1, 20, every=whole) for _number in range(3)])
    changed = {"inputs": ("x",), "rows": ("new-a", "new-b"), "state": state_at(6, random_torch="other")}
    killed = life(1, 7, ended="kill update", every=whole)
    gap = find_gap([killed, life(6, 20, 2, changes={6: changed})], undisturbed)

    assert gap is not None
    assert name_cause(gap, undisturbed).kind == "augmentation"


def test_fewer_passes_in_the_first_update_are_a_lost_window() -> None:
    undisturbed = reference()
    whole = {"inputs": ("a", "b", "c", "d")}
    past = life(1, 7, ended="kill update", changes={6: whole})
    gap = find_gap([past, life(6, 20, 2, changes={6: {"inputs": ("c", "d"), "losses": (3.0,)}})], undisturbed)

    assert gap is not None
    assert name_cause(gap, undisturbed).kind == "accumulation"


def test_another_loss_on_the_same_batch_is_chance_when_random_states_differ() -> None:
    assert cause_of({"losses": (3.0,), "state": state_at(6, random_torch="other")}) == "random"


def test_another_loss_with_everything_the_same_is_a_value_that_no_save_holds() -> None:
    undisturbed = reference()
    changes = {6: {"losses": (3.0,), "variables": {"temperature": "t0", "started": "always"}}}
    gap = find_gap([killed(), life(6, 20, 2, changes=changes)], undisturbed)

    assert gap is not None
    cause = name_cause(gap, undisturbed)
    assert (cause.kind, cause.names) == ("variable", ("temperature",))


def test_a_scaler_that_begins_anew_is_known_by_what_it_skips_when_its_state_is_as_it_was() -> None:
    """Two batches made no update; with the third the scale is what it was when update 6 was made."""
    undisturbed = reference()
    held = {**state_at(6), "scaler": ["scaler", "s0"]}
    past = life(1, 7, ended="kill update", changes={6: {"state": held}})
    skipped = {"state": held, "inputs": ("batch-6", "batch-7", "batch-8"), "losses": (1 / 6, 1 / 7, 1 / 8)}
    gap = find_gap([past, life(6, 20, 2, changes={6: skipped})], undisturbed)
    without = {**skipped, "state": state_at(6)}
    other = find_gap([killed(), life(6, 20, 2, changes={6: without})], undisturbed)

    assert gap is not None and other is not None
    assert name_cause(gap, undisturbed).kind == "scaler"
    assert name_cause(other, undisturbed).kind != "scaler", "nothing scales a loss there"


def test_a_scaler_that_begins_anew_comes_before_the_batches_that_it_skips() -> None:
    undisturbed = reference()
    held = {**state_at(6), "scaler": ["scaler", "s6"]}
    past = life(1, 7, ended="kill update", changes={6: {"state": held}})
    anew = {"state": {**held, "scaler": ["scaler", "s0"]}, "inputs": ("batch-6", "batch-7")}
    gap = find_gap([past, life(6, 20, 2, changes={6: anew})], undisturbed)

    assert gap is not None
    assert name_cause(gap, undisturbed).kind == "scaler"

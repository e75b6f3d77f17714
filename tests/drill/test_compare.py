"""A resumed life is compared with its own past, then with undisturbed lives; noise is no difference."""

from __future__ import annotations

from dataclasses import replace

import pytest

from lastro.drill.compare import find_gap, groups_between, make_reference
from lastro.drill.trace import Life
from tests.drill.lives import killed, life, reference, state_at, update


def test_the_same_updates_make_no_gap() -> None:
    assert find_gap([killed(), life(6, 20, 2)], reference()) is None


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"losses": (9.0,)}, "losses"),
        ({"gradient": 9.0}, "gradient"),
        ({"rates": (9.0,)}, "rates"),
        ({"inputs": ("other",)}, "data"),
        ({"ids": ("other",)}, "ids"),
        ({"after": {"model": "other"}}, "after"),
        ({"state": state_at(12, model="other")}, "state"),
        ({"losses": (float("nan"),)}, "losses"),
    ],
)
def test_one_different_value_is_a_gap_at_its_update(changes: dict[str, object], field: str) -> None:
    gap = find_gap([killed(), life(6, 20, 2, changes={12: changes})], reference())

    assert gap is not None
    assert (gap.step, gap.fields, gap.life) == (12, (field,), 2)


def test_a_loss_that_is_better_differs_too() -> None:
    gap = find_gap([killed(), life(6, 20, 2, changes={12: {"losses": (0.0,)}})], reference())

    assert gap is not None and gap.step == 12


def test_the_same_nan_in_both_is_no_difference() -> None:
    sick = {12: {"losses": (float("nan"),)}}
    undisturbed = make_reference([life(1, 20, changes=sick) for _number in range(3)])

    assert undisturbed.exact
    assert find_gap([killed(), life(6, 20, 2, changes=sick)], undisturbed) is None


@pytest.mark.parametrize("name", ["random_torch", "scheduler"])
def test_random_states_and_schedulers_differ_by_their_effects_alone(name: str) -> None:
    changes = {6: {"state": state_at(6, **{name: "other"})}}

    assert find_gap([killed(), life(6, 20, 2, changes=changes)], reference()) is None


def test_passes_that_are_made_while_a_life_sets_up_are_no_difference() -> None:
    resumed = life(6, 20, 2, changes={6: {"inputs": ("all points", "batch-6")}})

    assert find_gap([killed(), resumed], reference()) is None


def test_a_gap_in_the_second_resume_is_found() -> None:
    lives = [killed(), life(6, 8, 2, ended="kill update"), life(6, 20, 3, changes={7: {"losses": (3.0,)}})]

    gap = find_gap(lives, reference())

    assert gap is not None and (gap.life, gap.step) == (3, 7)


def test_state_right_after_the_restore_is_told_by_kind_and_name() -> None:
    changes = {6: {"state": state_at(6, optimizer="empty", random_torch="other"), "losses": (3.0,)}}

    gap = find_gap([killed(), life(6, 20, 2, changes=changes)], reference())

    assert gap is not None
    assert gap.groups == {"optimizer": ("optimizer",), "random": ("random.torch",)}


def test_a_random_state_that_no_two_lives_share_says_nothing() -> None:
    lives = [
        life(1, 20, every={"state": {**state_at(3), "random.python": ["random", f"p{number}"]}})
        for number in range(3)
    ]
    undisturbed = make_reference(lives)
    changes = {6: {"losses": (3.0,), "state": {**state_at(3), "random.python": ["random", "p9"]}}}

    gap = find_gap(
        [replace(lives[0], updates=lives[0].updates[:7]), life(6, 20, 2, changes=changes)], undisturbed
    )

    assert undisturbed.exact
    assert gap is not None and gap.groups == {}


def test_objects_that_two_lives_call_otherwise_are_known_by_what_they_hold() -> None:
    """A loop that loads what was saved leaves the last of it in a variable; what is left has another name."""
    saved = {"Adam": ["optimizer", "a"], "Adam#2": ["optimizer", "b"], "model": ["model", "m"]}
    live = {"part": ["optimizer", "b"], "Adam": ["optimizer", "a"], "model": ["model", "m"]}
    forgot = {**live, "part": ["optimizer", "empty"]}
    swapped = {**saved, "Adam": saved["Adam#2"], "Adam#2": saved["Adam"]}
    kinds = frozenset({"optimizer", "model"})

    assert groups_between(saved, live, kinds) == {}
    assert groups_between(saved, forgot, kinds) == {"optimizer": ("Adam#2", "part")}
    assert groups_between(saved, swapped, kinds) == {"optimizer": ("Adam", "Adam#2")}
    assert groups_between(saved, {"model": ["model", "m"]}, kinds) == {"optimizer": ("Adam", "Adam#2")}


def test_what_the_loop_itself_binds_is_no_value_that_was_lost() -> None:
    """Right after a restore, before the first batch, the loop has no number of an update yet."""
    undisturbed = make_reference([life(1, 20, every={"variables": {"step": "s", "best": "b"}})] * 3)
    resumed = replace(
        life(6, 20, 2, changes={9: {"losses": (7.0,)}}, every={"variables": {"step": "s", "best": "b"}}),
        restored=state_at(5),
        restored_variables={"best": "other", "config": "c"},
    )
    before = life(1, 7, every={"variables": {"step": "s", "best": "b"}}, ended="kill update")

    gap = find_gap([before, resumed], undisturbed)

    assert gap is not None and (gap.step, gap.variables) == (9, ("best",))


# --- noise --------------------------------------------------------------------------------------------


def noisy(number: int, first: int = 1, last: int = 40, *, shift: float = 0.0, scale: float = 1.0) -> Life:
    """A life whose losses are never the same twice; its batches are."""
    updates = []
    for step in range(first, last + 1):
        wobble = ((number * 7919 + step * 104729) % 1000 / 1000 - 0.5) * 0.02
        one = update(step, losses=(scale / step + wobble + shift,), gradient=0.1 + wobble)
        unlike = {name: [kind, f"{digest}-{number}"] for name, (kind, digest) in one.state.items()}
        updates.append(replace(one, state=unlike, after={"model": f"m{step + 1}-{number}"}))
    return replace(life(first, last, number), updates=tuple(updates))


def of_one_arm(past: Life, resumed: Life) -> list[Life]:
    """The resumed life has the state that its own past had, at the update where it goes on."""
    first = resumed.updates[0]
    before = past.at(first.step)
    assert before is not None
    return [past, replace(resumed, updates=(replace(first, state=before.state), *resumed.updates[1:]))]


def noisy_reference() -> list[Life]:
    return [noisy(number) for number in (1, 2, 3)]


def test_lives_that_differ_from_each_other_are_not_exact() -> None:
    undisturbed = make_reference(noisy_reference())

    assert not undisturbed.exact
    assert undisturbed.fields == {"data", "ids", "rates"}


@pytest.mark.parametrize("number", range(4, 24))
def test_what_stays_within_the_noise_is_no_gap(number: int) -> None:
    arm = of_one_arm(noisy(number, last=12), noisy(number + 50, 11))

    assert find_gap(arm, make_reference(noisy_reference())) is None


@pytest.mark.parametrize("shift", [0.3, -0.3])
def test_what_leaves_the_noise_is_a_gap_better_or_worse(shift: float) -> None:
    arm = of_one_arm(noisy(4, last=12), noisy(54, 11, shift=shift))

    gap = find_gap(arm, make_reference(noisy_reference()))

    assert gap is not None and gap.fields == ("noise",)


def test_state_that_was_not_restored_is_seen_in_spite_of_noise() -> None:
    past = noisy(4, last=12)
    resumed = of_one_arm(past, noisy(54, 11))[1]
    first = resumed.updates[0]
    forgot = replace(first, state={**first.state, "optimizer": ["optimizer", "empty"]})

    gap = find_gap(
        [past, replace(resumed, updates=(forgot, *resumed.updates[1:]))], make_reference(noisy_reference())
    )

    assert gap is not None and "optimizer" in gap.groups


def test_other_samples_are_seen_in_spite_of_noise() -> None:
    past, resumed = of_one_arm(noisy(4, last=12), noisy(54, 11))
    moved = replace(resumed.updates[3], ids=("others",))
    updates = (*resumed.updates[:3], moved, *resumed.updates[4:])

    gap = find_gap([past, replace(resumed, updates=updates)], make_reference(noisy_reference()))

    assert gap is not None and gap.step == moved.step


def test_noise_in_the_first_update_of_a_job_that_attaches_is_no_gap() -> None:
    past, resumed = noisy(4, last=12), noisy(54, 11)
    before = past.at(10)
    assert before is not None
    attached = replace(resumed, api=True, restored=before.state)

    assert find_gap([replace(past, api=True), attached], make_reference(noisy_reference())) is None

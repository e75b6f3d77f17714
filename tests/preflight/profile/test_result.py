from __future__ import annotations

from typing import Any

import pytest

from lastro.errors import StorageError
from lastro.preflight.profile.law import Bound
from lastro.preflight.profile.result import Profile, profile_of

GPU = {"gpu_used": 4 * 10**9, "gpu_total": 24 * 10**9}


def record(
    *,
    wait: float = 0.03,
    body: float = 0.02,
    replayed: float = 0.02,
    loader: dict[str, Any] | None = None,
    tried: dict[str, float] | None = None,
    alone: float = 0.03,
    **changes: Any,
) -> dict[str, Any]:
    """What a process writes of 20 batches; `alone` and `tried`: seconds for a batch of the loader alone."""
    return {
        "complete": True,
        "loader": {"kind": "DataLoader", "workers": 0, "prefetch": 0, **(loader or {})},
        "free": [],
        "waits": [wait] * 20,
        "bodies": [body] * 20,
        "epoch_starts": [],
        "replayed": [replayed] * 20,
        "alone": {"each": [alone] * 20, "cpu_seconds": 0.1, "with_start": 0},
        "tried": {
            count: {"each": [seconds] * 20, "cpu_seconds": 0.0, "with_start": 0}
            for count, seconds in (tried or {}).items()
        },
        "unlearned": 0,
        "facts": {"cpus": 8, "torch": "2.13.0", **changes.pop("facts", {})},
        **changes,
    }


def steps(profile: Profile) -> dict[str, float | None]:
    return {step.code: step.pace for step in profile.steps}


def test_the_figures_by_hand() -> None:
    """0.03 s of waiting and 0.02 s of computing: 20 a second, 60 % waiting; 50 a second with free input."""
    profile = profile_of(record(), None)

    told = profile.as_json()
    assert told["batches_per_second"] == pytest.approx(20)
    assert told["replayed_per_second"] == pytest.approx(50)
    assert told["wait_share"] == pytest.approx(0.6)
    assert told["gain_with_free_input"] == pytest.approx(2.5)
    assert told["predicted_per_second"] == pytest.approx(20)
    assert told["bound"] == "input"


def test_the_fewest_workers_that_keep_up_are_advised_with_their_gain() -> None:
    """2 workers load a batch in 0.016 s and keep up with 0.02 s of computing; 4 gain nothing more."""
    profile = profile_of(record(tried={"1": 0.031, "2": 0.016, "4": 0.009}), None)

    assert steps(profile) == {"workers": pytest.approx(50)}
    assert profile.steps[0].what == "num_workers=2 instead of 0" and "2.50 times" in profile.steps[0].why


def test_where_no_number_of_workers_keeps_up_the_work_itself_has_to_change() -> None:
    profile = profile_of(record(tried={"1": 0.06, "2": 0.04}), None)

    assert list(steps(profile)) == ["workers", "less_work"]
    assert steps(profile)["workers"] == pytest.approx(25)


def test_bursts_of_a_fast_loader_ask_for_a_longer_queue() -> None:
    waits = [0.001] * 15 + [0.2] * 5
    told = record(loader={"workers": 2, "prefetch": 2, "persistent": True}, alone=0.01, waits=waits)

    profile = profile_of({**told, "bodies": [0.02] * 20, "replayed": [0.02] * 20}, None)

    assert steps(profile)["prefetch"] == pytest.approx(50)


def test_workers_that_start_again_with_each_epoch_are_told() -> None:
    profile = profile_of(record(loader={"workers": 2, "prefetch": 2}, epoch_starts=[1.5, 1.7]), None)

    assert "persistent_workers" in steps(profile)


def test_copies_to_a_gpu_are_advised_on_only_where_there_is_one() -> None:
    on_gpu = profile_of(record(facts={**GPU, "blocking": 40, "free": 0, "batch_bytes": 10**6}), None)

    assert {"pinned", "overlapped"} <= set(steps(on_gpu))
    assert not {"pinned", "overlapped"} & set(steps(profile_of(record(), None)))


def test_a_loop_that_computes_is_told_of_memory_precision_and_padding_and_never_of_its_loader() -> None:
    told = record(wait=0.001, facts={**GPU, "padding": 0.4}, tried={"8": 0.0001})

    profile = profile_of(told, None)

    assert profile.judged.bound is Bound.COMPUTE
    assert list(steps(profile)) == ["packing", "batch_size", "mixed_precision"]


def test_what_was_done_already_is_not_advised() -> None:
    facts = {"gpu_used": 20 * 10**9, "gpu_total": 24 * 10**9, "autocast": True, "padding": 0.01}

    assert profile_of(record(wait=0.001, facts=facts), None).steps == ()


def test_a_device_that_overlaps_is_measured_while_nobody_waits_for_it() -> None:
    """Waited for at each batch it takes 0.05 s, left alone 0.025 s: 40 a second is its pace."""
    assert profile_of(record(free=[0.025] * 20), None).as_json()["batches_per_second"] == pytest.approx(40)


@pytest.mark.parametrize(
    ("told", "words"),
    [
        (None, "cannot be seen"),
        (record(complete=False, waits=[0.1] * 3, bodies=[0.1] * 3), "3 batches were seen"),
        (record(complete=False, waits=[], bodies=[], unlearned=9), "nothing was learned"),
    ],
)
def test_what_was_not_seen_is_no_verdict_and_says_why(told: dict[str, Any] | None, words: str) -> None:
    profile = profile_of(told, None)

    assert profile.judged.bound is Bound.UNKNOWN and words in profile.judged.why
    assert profile.steps == () and profile.as_json()["batches_per_second"] is None


def test_workers_are_compared_with_what_the_loader_makes_now_and_not_with_a_disturbed_loop() -> None:
    """The loop made 20 a second, its loader alone 40 with 2 workers: one that makes 38 is no gain."""
    told = record(loader={"workers": 2, "prefetch": 2, "persistent": True}, alone=1 / 40, tried={"1": 1 / 38})

    profile = profile_of(told, None)

    assert "workers" not in steps(profile)
    assert profile.doubt is not None and "quiet" in profile.doubt
    assert profile_of(record(), None).doubt is None


def test_a_record_of_something_else_is_refused() -> None:
    with pytest.raises(StorageError, match="cannot be read"):
        profile_of({"loader": 3}, None)

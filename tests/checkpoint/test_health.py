"""Values that are lost: saved faithfully, never gone on from."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch

from lastro import strictjson
from lastro.checkpoint import snapshot, store
from lastro.checkpoint.adapters import bridge
from lastro.checkpoint.arena import Arena
from lastro.checkpoint.health import Health, judge
from lastro.checkpoint.retention import Candidate, plan_retention
from lastro.rules import CheckpointPolicy
from tests.checkpoint.test_store import facts


class Box:
    def __init__(self, **state: Any) -> None:
        self.state: Any = state

    def state_dict(self) -> Any:
        return self.state

    def load_state_dict(self, state: Any) -> None:
        self.state = state


def save(root: Path, step: int, value: Any, from_start: tuple[str, ...] = ()) -> store.Manifest:
    with store.publish(root, facts(step), lambda: True) as draft:
        taken = snapshot.take({"model": Box(w=value)}, {"step": step}, bridge(), Arena())
        taken.write(draft, from_start)
    found = store.committed(root / f"{step}-a1")
    assert isinstance(found, store.Manifest)
    return found


_NAN, _INF = float("nan"), float("inf")


@pytest.mark.parametrize(
    ("dtype", "value"),
    [
        (torch.float64, _NAN), (torch.float32, _NAN), (torch.float32, _INF), (torch.float32, -_INF),
        (torch.float16, _INF), (torch.bfloat16, _NAN), (torch.float8_e5m2, _INF), (torch.float8_e4m3fn, _NAN),
        (torch.complex64, _NAN), (torch.complex64, complex(0, _INF)),
    ],
)  # fmt: skip
def test_one_lost_value_among_many_makes_a_checkpoint_unhealthy(
    tmp_path: Path, dtype: torch.dtype, value: Any
) -> None:
    weights = torch.zeros(3, 1000, dtype=torch.complex64 if dtype.is_complex else torch.float32)
    weights[1, 617] = value
    manifest = save(tmp_path, 10, weights.to(dtype))

    assert manifest.health == Health(first_bad="model/w")
    told = strictjson.read(tmp_path / "10-a1" / "manifest.json")
    assert (told["healthy"], told["first_not_finite"]) == (False, "model/w")
    assert store.verify(tmp_path / "10-a1") == ()


@pytest.mark.parametrize("value", [torch.ones(4), torch.arange(4), torch.zeros(0), torch.tensor(2.0)])
def test_finite_values_whole_numbers_and_empty_tensors_are_healthy(
    tmp_path: Path, value: torch.Tensor
) -> None:
    assert save(tmp_path, 10, value).health == Health()


def test_what_was_not_finite_before_the_first_step_is_normal(tmp_path: Path) -> None:
    mask = torch.full((4, 4), -_INF).triu(1)
    from_start = snapshot.not_finite({"model": Box(w=mask)}, bridge(), Arena())

    manifest = save(tmp_path, 10, mask, tuple(from_start))

    assert manifest.health == Health(from_start=("model/w",))
    assert judge(["model/w", "model/v"], from_start) == Health(first_bad="model/v", from_start=("model/w",))


def test_a_restore_takes_the_latest_healthy_one_and_says_what_it_passed_over(tmp_path: Path) -> None:
    save(tmp_path, 10, torch.ones(4))
    save(tmp_path, 20, torch.tensor([1.0, _NAN]))
    save(tmp_path, 30, torch.tensor([_NAN, _NAN]))

    found = store.latest(tmp_path)

    assert found.manifest is not None and found.manifest.step == 10
    assert [folder.name for folder, _why in found.passed_over] == ["30-a1", "20-a1"]
    assert found.passed_over[0][1] == "it is not healthy: model/w holds values that are not finite"
    assert found.unhealthy_step == 30


def test_a_manifest_of_an_earlier_version_counts_as_healthy(tmp_path: Path) -> None:
    save(tmp_path, 10, torch.ones(4))
    path = tmp_path / "10-a1" / "manifest.json"
    told = strictjson.read(path)
    del told["healthy"]
    path.write_text(strictjson.pretty(told))

    found = store.latest(tmp_path)

    assert found.manifest is not None and found.manifest.health is None


def _names(pairs: tuple[tuple[str, str], ...]) -> list[str]:
    return [name for name, _why in pairs]


def test_the_last_healthy_one_stays_until_a_newer_healthy_one_is_verified() -> None:
    bad = [Candidate(f"{step}-a1", step, 1, True, False) for step in (20, 30, 40, 50)]
    good = Candidate("10-a1", 10, 1, True, True)

    plan = plan_retention([good, *bad], CheckpointPolicy(keep=1))

    assert _names(plan.kept) == ["50-a1", "10-a1"]
    assert plan.removed[0] == ("40-a1", "its values are not finite")
    newer = Candidate("60-a1", 60, 1, True, True)
    assert _names(plan_retention([good, *bad, newer], CheckpointPolicy(keep=1)).kept) == ["60-a1"]

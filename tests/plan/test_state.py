"""Predicted sizes of training states, against real optimizers and real checkpoints, and by hand."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn

from lastro.plan.state import State, Weights, predicted
from lastro.spec.data import Model
from tests.plan.saving import written

Make = Callable[[Any], torch.optim.Optimizer]


def _state(weights: Weights | None = None, /, *, own_program: bool = False, **model: Any) -> State:
    state = predicted(Model(**model), weights, own_program=own_program)
    assert state is not None
    return state


@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
@pytest.mark.parametrize(
    ("optimizer", "make"),
    [
        ("sgd", lambda trained: torch.optim.SGD(trained, lr=0.1)),
        ("momentum", lambda trained: torch.optim.SGD(trained, lr=0.1, momentum=0.9)),
        ("adam", torch.optim.Adam),
        ("adamw", torch.optim.AdamW),
    ],
)
def test_a_checkpoint_is_as_large_as_predicted(
    tmp_path: Path, optimizer: str, make: Make, dtype: str
) -> None:
    model = nn.Sequential(nn.Linear(1024, 1024), nn.Linear(1024, 1024)).to(getattr(torch, dtype))
    count = sum(parameter.numel() for parameter in model.parameters())

    saved, once = written(tmp_path, model, make(model.parameters()))
    state = _state(parameters=count, optimizer=optimizer, dtype=dtype)

    assert saved == pytest.approx(state.saved, rel=0.01)
    assert (once, state.once) == (0, 0)


def test_a_frozen_base_is_written_once_as_predicted(tmp_path: Path) -> None:
    base, adapter = nn.Linear(1024, 1024, dtype=torch.bfloat16), nn.Linear(1024, 512)
    base.requires_grad_(False)
    trained = sum(parameter.numel() for parameter in adapter.parameters())
    count = trained + sum(parameter.numel() for parameter in base.parameters())

    saved, once = written(tmp_path, nn.ModuleList([base, adapter]), torch.optim.AdamW(adapter.parameters()))
    state = _state(
        parameters=count, trainable=trained, dtype="bfloat16", trained_dtype="float32", optimizer="adamw"
    )

    assert saved == pytest.approx(state.saved, rel=0.01)
    assert once == pytest.approx(state.once, rel=0.01)


def test_a_program_that_saves_by_itself_saves_all_weights_each_time() -> None:
    """1000 bfloat16 of which 100 are trained with Adam: 2000 + 100 * 2 * 2 = 2400 bytes, nothing once."""
    model: dict[str, Any] = {
        "parameters": 1000.0,
        "trainable": 100.0,
        "dtype": "bfloat16",
        "optimizer": "adam",
    }

    alone = _state(own_program=True, **model)
    with_lastro = _state(**model)
    adapters_only = _state(saves="trained", own_program=True, **model)

    assert (alone.saved, alone.once) == (2400, 0)
    assert (with_lastro.saved, with_lastro.once) == (600, 1800)
    assert (adapters_only.saved, adapters_only.once) == (600, 0)
    assert {alone.memory, with_lastro.memory, adapters_only.memory} == {2600}


@pytest.mark.parametrize(
    ("model", "each"),
    [
        ({"dtype": "bfloat16", "master": True}, 2 + 4 + 8),
        ({"dtype": "bfloat16", "optimizer": "adam8bit"}, 2 + 2 * (1 + 4 / 256)),
        ({"dtype": "float16", "optimizer": "momentum"}, 2 + 2),
        ({"optimizer": "none"}, 4),
    ],
    ids=str,
)
def test_bytes_of_each_parameter_by_hand(model: dict[str, Any], each: float) -> None:
    assert _state(parameters=1e6, **model).saved == pytest.approx(each * 1e6, abs=1)


def test_what_is_trained_beside_quantised_weights_is_float32() -> None:
    """7e9 in 4 bits are 3.5 GB, of which 4e7 train: 4e7 * (4 + 8) = 480 MB; with gradients 160 MB more."""
    state = _state(parameters=7e9, trainable=4e7, dtype="int4")

    assert state.saved == 480_000_000
    assert state.once == 3_480_000_000
    assert state.memory == 4_120_000_000


def test_weights_files_say_how_much_there_is_and_of_what() -> None:
    """100 bfloat16 and 10 float32 are 240 bytes; all train in bfloat16, the type of most: 110 * 2 * 3."""
    weights = Weights(elements={"BF16": 100, "F32": 10}, bytes=240, why="the headers of 2 files")

    state = _state(weights, weights="base", optimizer="adam")

    assert state.saved == 660
    assert "the headers of 2 files" in state.why


def test_packed_integers_are_not_trained() -> None:
    """500 packed bytes stay; 100 float16 train with momentum: 100 * (2 + 2) each time, the rest once."""
    weights = Weights(elements={"U8": 500, "F16": 100}, bytes=700, why="the header of model.safetensors")

    state = _state(weights, weights="base", optimizer="momentum")

    assert state.saved == 400
    assert state.once == 500


def test_without_its_weights_a_state_is_unknown() -> None:
    assert predicted(Model(weights="base"), None, own_program=False) is None

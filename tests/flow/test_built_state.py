"""What the campaign's own code builds without memory, against real checkpoints of the same code."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

from lastro.flow.build_on_meta import main
from lastro.flow.built_state import built_state
from lastro.plan.state import State
from tests.plan.saving import written

CODE = """
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self, width, frozen):
        super().__init__()
        self.base = nn.Linear(1024, 1024, bias=False)
        self.base.requires_grad_(not frozen)
        self.norm = nn.BatchNorm1d(1024)
        self.up = nn.Linear(1024, width, bias=False)
        self.tied = nn.Linear(1024, width, bias=False)
        self.tied.weight = self.up.weight
        self.register_buffer("scratch", torch.zeros(500_000), persistent=False)


def build(config):
    model = Net(config["width"], config["frozen"])
    trained = [one for one in model.parameters() if one.requires_grad]
    make = getattr(torch.optim, config["optimizer"])
    extra = {"momentum": 0.9} if config["optimizer"] == "SGD" else {}
    return model, make(trained, lr=0.1, **extra)
"""
CONFIGS: list[dict[str, Any]] = [
    {"width": 512, "frozen": False, "optimizer": "SGD"},
    {"width": 512, "frozen": False, "optimizer": "AdamW"},
    {"width": 512, "frozen": True, "optimizer": "Adam"},
    {"width": 512, "frozen": False, "optimizer": "RMSprop"},
]


@pytest.fixture
def code(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "net_on_meta.py").write_text(CODE)
    monkeypatch.syspath_prepend(str(tmp_path))
    return tmp_path


def test_what_is_built_without_memory_is_what_a_checkpoint_holds(code: Path) -> None:
    """Momentum, AdamW, Adam beside a frozen base, RMSprop; tied weights count once, scratch is not saved."""
    answer = main("net_on_meta:build", CONFIGS)

    import net_on_meta  # type: ignore[import-not-found]

    for number, (config, sizes) in enumerate(zip(CONFIGS, answer["sizes"], strict=True)):
        model, optimizer = net_on_meta.build(config)
        saved, once = written(code / str(number), model, optimizer)
        assert sizes["trained"] + sizes["saved"] + sizes["optimizer"] == pytest.approx(
            saved if config["frozen"] else saved - sizes["frozen"], rel=0.01
        )
        assert sizes["frozen"] == pytest.approx(once, rel=0.01)
        assert sizes["kept"] == 4 * 500_000


def test_a_model_of_many_gigabytes_takes_no_memory(code: Path) -> None:
    """1024 * 1024 + 1024 * 10^7 weights and a little: 41 GB, with Adam three times that."""
    answer = main("net_on_meta:build", [{"width": 10**7, "frozen": False, "optimizer": "Adam"}])

    (sizes,) = answer["sizes"]
    assert sizes["trained"] == 4 * (1024 * 1024 + 2 * 1024 + 1024 * 10**7)
    assert sizes["optimizer"] == pytest.approx(2 * sizes["trained"], rel=1e-6)
    assert sizes["gradients"] == sizes["trained"]


def test_the_largest_configuration_counts_and_it_is_asked_in_a_process_of_its_own(code: Path) -> None:
    """The base alone: 4 MiB; Adam keeps two numbers more for what is trained: 1024 * 1024 + 2 * 1024 norm."""
    configs = [{**CONFIGS[2], "width": width} for width in (256, 1024, 512)]

    state = built_state(
        "net_on_meta:build",
        configs,
        command=[sys.executable, "train.py"],
        folder=code,
        seconds=120,
        own_program=False,
    )

    assert isinstance(state, State), state
    trained = 4 * (1024 * 1024 + 2 * 1024)
    assert state.once == 4 * 1024 * 1024
    assert state.saved == pytest.approx(3 * trained, rel=0.01)
    assert state.memory == pytest.approx(4 * trained + state.once + 4 * 500_000, rel=0.01)
    assert state.why.startswith("the largest of 3 configurations, built by net_on_meta:build")


def test_a_model_alone_is_built_too(code: Path) -> None:
    (code / "alone_on_meta.py").write_text("import torch\ndef build():\n    return torch.nn.Linear(10, 10)\n")

    (sizes,) = main("alone_on_meta:build", [{}, {}])["sizes"]

    assert (sizes["trained"], sizes["optimizer"], sizes["gradients"]) == (440, 0, 0)


def test_an_optimizer_that_needs_real_numbers_says_so(code: Path) -> None:
    (code / "closure_on_meta.py").write_text(
        "import torch\ndef build():\n    model = torch.nn.Linear(10, 10)\n"
        "    return model, torch.optim.LBFGS(model.parameters())\n"
    )

    assert "closure" in main("closure_on_meta:build", [{}])["failed"]

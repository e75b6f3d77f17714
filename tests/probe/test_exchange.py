"""State that was kept at one moment is put into other objects, one kind at a time."""

from __future__ import annotations

import gc
import random
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch

from lastro.probe import exchange
from lastro.probe.objects import (
    BUFFERS,
    EMA,
    FROZEN,
    MODEL,
    OBJECT,
    OPTIMIZER,
    RANDOM,
    SCHEDULER,
    Objects,
)


class Counter:
    """Tracked, and nothing of PyTorch's."""

    def __init__(self) -> None:
        self.total = 0

    def state_dict(self) -> dict[str, int]:
        return {"total": self.total}

    def load_state_dict(self, state: dict[str, int]) -> None:
        self.total = state["total"]


def _model() -> Any:
    model = torch.nn.Sequential(torch.nn.Linear(3, 3), torch.nn.BatchNorm1d(3), torch.nn.Linear(3, 1))
    model[2].requires_grad_(False)
    return model


class Job:
    """A job at some point of its work: the more updates, the more of its state is another."""

    def __init__(self, updates: int, *, backwards: bool = False) -> None:
        torch.manual_seed(0)
        self.model = _model()
        trained = [one for one in self.model.parameters() if one.requires_grad]
        self.optimizer = torch.optim.Adam(trained[::-1] if backwards else trained, lr=0.1)
        self.scheduler = torch.optim.lr_scheduler.StepLR(self.optimizer, 1, gamma=0.5)
        self.ema = {name: value.detach().clone() for name, value in self.model.named_parameters()}
        self.counter = Counter()
        for number in range(updates):
            self.model(torch.randn(8, 3)).sum().backward()
            self.optimizer.step()
            self.scheduler.step()
            self.counter.total += number + 1
            with torch.no_grad():
                self.model[2].weight.add_(1.0)
                for value in self.ema.values():
                    value.add_(1.0)
        random.seed(updates)

    def seen(self) -> tuple[Objects, dict[str, Any]]:
        """What a probe finds of it, and what it tracks."""
        gc.collect()  # the jobs of other tests
        objects = Objects()
        parts = {name: getattr(self, name) for name in ("model", "optimizer", "scheduler", "ema", "counter")}
        objects.look(None, parts)
        return objects, {"counter": self.counter}


PARTS: dict[str, Callable[[Job], Any]] = {
    MODEL: lambda job: [job.model[0].weight.tolist(), job.model[1].bias.tolist()],
    FROZEN: lambda job: job.model[2].weight.tolist(),
    BUFFERS: lambda job: [value.tolist() for value in job.model.buffers()],
    OPTIMIZER: lambda job: [
        job.optimizer.state[one]["exp_avg"].tolist() if job.optimizer.state[one] else None
        for one in job.model.parameters()
        if one.requires_grad
    ],
    SCHEDULER: lambda job: [job.scheduler.last_epoch, job.optimizer.param_groups[0]["lr"]],
    EMA: lambda job: job.ema["0.weight"].tolist(),
    OBJECT: lambda job: job.counter.total,
    RANDOM: lambda job: [random.getstate(), torch.get_rng_state().tolist()],
}


@pytest.fixture(scope="module", autouse=True)
def nothing_else_alive() -> Iterator[None]:
    """Let neither the search nor the collector look at what was alive before."""
    gc.collect()
    gc.freeze()
    yield
    gc.unfreeze()


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> SimpleNamespace:
    """What a job of four updates has kept, and what that was."""
    job = Job(4)
    path = tmp_path_factory.mktemp("kept") / exchange.file_name(0)
    parts = {kind: part(job) for kind, part in PARTS.items()}
    exchange.keep(path, *job.seen())
    return SimpleNamespace(path=path, parts=parts)


@pytest.mark.parametrize("kind", PARTS)
def test_one_kind_is_put_back_and_the_others_stay(kept: SimpleNamespace, kind: str) -> None:
    job = Job(1, backwards=True)
    before = {other: part(job) for other, part in PARTS.items()}
    assert before[kind] != kept.parts[kind]

    done, failed = exchange.put_back(kept.path, *job.seen(), [kind])

    assert done and not failed
    after = {other: part(job) for other, part in PARTS.items()}
    assert after == {**before, kind: kept.parts[kind]}


def test_what_does_not_fit_is_told_by_name(kept: SimpleNamespace) -> None:
    job = Job(1)
    job.model = torch.nn.Sequential(torch.nn.Linear(2, 2))

    done, failed = exchange.put_back(kept.path, *job.seen(), [MODEL])

    # Models that other tests of this process keep alive are found as well, and fit.
    assert "model" not in done
    assert len(failed) == 1 and failed[0].startswith("model: ")


def test_what_was_not_kept_is_not_put_back(tmp_path: Path) -> None:
    done, failed = exchange.put_back(tmp_path / "none", *Job(1).seen(), [MODEL])

    assert done == [] and "FileNotFoundError" in failed[0]

"""Real loops are looked into: by PyTorch's DataLoader, by `attempt.steps`, and not at all."""

from __future__ import annotations

import random
import textwrap
from pathlib import Path

import pytest

from lastro.clock import SystemClock
from lastro.flow.job_copy import JobWish
from lastro.flow.profiling import Effort, profile_job, workers_to_try
from lastro.paths import Home
from lastro.preflight.profile.law import Bound
from lastro.preflight.profile.result import Profile

SMALL = Effort(batches=8, part_seconds=4, seconds=120)

WITH_TORCH = """
    import sys, time
    import torch
    from torch.utils.data import DataLoader, Dataset

    load, compute, workers = float(sys.argv[1]), float(sys.argv[2]), int(sys.argv[3])

    class Slow(Dataset):
        def __len__(self):
            return 400

        def __getitem__(self, index):
            time.sleep(load / 2)
            return torch.ones(4)

    model = torch.nn.Linear(4, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for epoch in range(50):
        for batch in DataLoader(Slow(), batch_size=2, num_workers=workers):
            time.sleep(compute)
            model(batch).sum().backward()
            optimizer.step()
    """

WITH_STEPS = """
    import time
    import lastro

    def slow():
        for number in range(1000):
            time.sleep(0.03)
            yield number

    class Again:
        def __iter__(self):
            return slow()

    attempt = lastro.attach()
    for step, batch in attempt.steps(Again(), epochs=1):
        time.sleep(0.01)
    """


def profiled(tmp_path: Path, script: str, *arguments: str, effort: Effort = SMALL) -> Profile:
    folder = tmp_path / "job"
    folder.mkdir(exist_ok=True)
    (folder / "train.py").write_text(textwrap.dedent(script))
    wish = JobWish(
        command=("python", "train.py", *arguments), folder=folder, campaign_file=folder / "campaign.yaml"
    )
    profile = profile_job(wish, Home(tmp_path / "home"), SystemClock(), effort, lambda _text: None)
    assert [path.name for path in folder.iterdir()] == ["train.py"], "the user's folder is only read"
    assert not list((tmp_path / "home" / "profile").glob("*/"))
    return profile


def test_a_foreign_loop_that_waits_for_its_input_is_told_how_many_workers_it_needs(tmp_path: Path) -> None:
    profile = profiled(tmp_path, WITH_TORCH, "0.05", "0.03", "0")

    assert profile.judged.bound is Bound.INPUT
    assert profile.steps[0].code == "workers"
    assert profile.seen is not None and profile.seen.paces is not None and profile.predicted is not None
    assert profile.predicted == pytest.approx(profile.seen.paces.real, rel=0.15)


def test_a_loop_of_attempt_steps_is_looked_into_without_torch(tmp_path: Path) -> None:
    profile = profiled(tmp_path, WITH_STEPS)

    assert profile.judged.bound is Bound.INPUT
    assert profile.seen is not None
    assert (profile.seen.kind, profile.seen.torch) == ("attempt.steps", None)


@pytest.mark.parametrize(
    ("script", "words"),
    [("print(sum(range(10)))", "cannot be seen"), ("raise SystemExit('no data')", "no data")],
)
def test_what_cannot_be_seen_is_said_and_nothing_is_guessed(tmp_path: Path, script: str, words: str) -> None:
    profile = profiled(tmp_path, script)

    assert profile.judged.bound is Bound.UNKNOWN and words in profile.judged.why


def test_workers_are_doubled_up_to_what_the_machine_has() -> None:
    assert [workers_to_try(cpus) for cpus in (1, 2, 6, 64)] == [
        (1,), (1, 2), (1, 2, 4), (1, 2, 4, 8, 16, 32),
    ]  # fmt: skip


def loops() -> list[tuple[float, float, int]]:
    """Return 20 made loops: seconds to load and to compute a batch, workers; the same ones every time."""
    draw = random.Random(20)
    return [
        (draw.uniform(0.02, 0.12), draw.uniform(0.02, 0.12), draw.choice((0, 0, 1, 2))) for _ in range(20)
    ]


@pytest.mark.long
@pytest.mark.parametrize(("load", "compute", "workers"), loops())
def test_the_law_is_within_15_percent_on_made_loops(
    tmp_path: Path, load: float, compute: float, workers: int
) -> None:
    effort = Effort(batches=20, part_seconds=10, seconds=200)
    profile = profiled(tmp_path, WITH_TORCH, str(load), str(compute), str(workers), effort=effort)

    assert profile.seen is not None and profile.seen.paces is not None and profile.predicted is not None
    assert profile.predicted == pytest.approx(profile.seen.paces.real, rel=0.15)

"""Real loops are looked into: by PyTorch's DataLoader, by `attempt.steps`, and not at all."""

from __future__ import annotations

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
    import random, sys, time
    import torch
    from torch.utils.data import DataLoader, Dataset

    load, load_varies = float(sys.argv[1]), sys.argv[2]
    compute, compute_varies = float(sys.argv[3]), sys.argv[4]
    workers, size = int(sys.argv[5]), int(sys.argv[6])

    def times(number, varies):
        '''How many times the mean this one takes; the mean of all is 1.'''
        if varies == "jitter":
            return random.Random(number).uniform(0.5, 1.5)
        if varies == "tail":  # lognormal: half of them below 0.73, one in fifty above 3.8
            return random.Random(number).lognormvariate(-0.32, 0.8)
        if varies == "stalls":  # one in twenty takes eleven times as long as the others
            return (1 + 10 * (number % 20 == 7)) / 1.5
        return 1.0

    class Slow(Dataset):
        def __len__(self):
            return 100 * size

        def __getitem__(self, index):
            time.sleep(load / size * times(index // size, load_varies))
            return torch.ones(4)

    model = torch.nn.Linear(4, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    made = 0
    for epoch in range(50):
        for batch in DataLoader(Slow(), batch_size=size, num_workers=workers):
            made += 1
            time.sleep(compute * times(made, compute_varies))
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
    profile = profiled(tmp_path, WITH_TORCH, "0.05", "even", "0.03", "even", "0", "2")

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


#: 20 made loops: seconds to load and to compute a batch, and how they vary; workers; samples in a batch.
LOOPS = [
    (0.03, "even", 0.03, "even", 0, 2), (0.06, "even", 0.02, "even", 0, 8),
    (0.02, "even", 0.06, "even", 0, 1), (0.05, "jitter", 0.05, "even", 0, 4),
    (0.05, "tail", 0.03, "jitter", 0, 2), (0.04, "stalls", 0.04, "jitter", 0, 4),
    (0.06, "even", 0.03, "even", 1, 2), (0.03, "even", 0.06, "even", 1, 8),
    (0.05, "even", 0.05, "even", 1, 1), (0.05, "jitter", 0.04, "jitter", 1, 4),
    (0.05, "tail", 0.05, "even", 1, 2), (0.03, "stalls", 0.05, "even", 1, 2),
    (0.05, "stalls", 0.03, "jitter", 1, 4), (0.08, "even", 0.03, "even", 2, 2),
    (0.05, "jitter", 0.06, "even", 2, 16), (0.10, "jitter", 0.05, "jitter", 2, 2),
    (0.08, "tail", 0.04, "jitter", 2, 4), (0.06, "stalls", 0.05, "even", 2, 2),
    (0.04, "even", 0.05, "tail", 2, 1), (0.15, "even", 0.02, "jitter", 2, 8),
]  # fmt: skip


@pytest.mark.long
@pytest.mark.parametrize("loop", LOOPS, ids=lambda one: "-".join(map(str, one)))
def test_the_law_is_within_15_percent_on_made_loops(tmp_path: Path, loop: tuple[float | str, ...]) -> None:
    effort = Effort(batches=20, most=80, part_seconds=6, seconds=240)
    profile = profiled(tmp_path, WITH_TORCH, *map(str, loop), effort=effort)

    assert profile.seen is not None and profile.seen.paces is not None and profile.predicted is not None
    assert profile.predicted == pytest.approx(profile.seen.paces.real, rel=0.15)

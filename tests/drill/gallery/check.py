"""Lets each trainer live undisturbed, and killed and resumed, and says whether it keeps what it promises.

    python -m tests.drill.gallery.check tests/drill/gallery/open/*.py

Knows nothing of the drill: lives are compared by the file that the trainer delivers, bit by bit. A trainer
with a bug has to end differently whenever a save was resumed; a right one never, and one with noise of
its own differs without being killed at all.
"""

from __future__ import annotations

import ast
import gc
import io
import os
import random
import runpy
import shutil
import signal
import sys
import tempfile
import traceback
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
import torch._dynamo  # an optimizer imports it at its first step: once here instead of in each life
from torch.optim.optimizer import register_optimizer_step_post_hook

from lastro.rules import CheckpointPolicy
from tests.job.hand import Run, environment, make_run

#: Lives that end early, each by the number of optimizer steps that they live to see; a negative one in the
#: save of that number, which only a trainer that calls torch.save has.
DISTURBED: tuple[tuple[int, ...], ...] = ((3,), (11,), (23,), (29, 9), (-6, 4))


@dataclass(frozen=True)
class Trainer:
    """A script of the gallery, and what it says of itself."""

    path: Path
    expect: dict[str, Any]

    @property
    def joins(self) -> bool:
        """Whether it uses lastro's API; the others write saves of their own."""
        return "import lastro\n" in self.path.read_text(encoding="utf-8")


def read_trainer(path: Path) -> Trainer:
    """Return the trainer in a file without running it."""
    for statement in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(statement, ast.Assign) and ast.unparse(statement.targets[0]) == "EXPECT":
            return Trainer(path, ast.literal_eval(statement.value))
    raise ValueError(path)


# --- one life -----------------------------------------------------------------------------------------


def die_when_told(end: int) -> None:
    """Arrange that this process is killed after so many optimizer steps, or in its save of that number."""
    left = abs(end)

    def one_less(*_: Any) -> None:
        nonlocal left
        left -= 1
        if left == 0:
            os.kill(os.getpid(), signal.SIGKILL)

    if end > 0:
        register_optimizer_step_post_hook(one_less)
    else:
        torch.save = _then(torch.save, one_less)


def _then(save: Callable[..., None], told: Callable[[], None]) -> Callable[..., None]:
    def saved(state: Any, path: Any) -> None:
        save(state, path)
        told()

    return saved


def live(script: Path, folder: Path, arguments: list[str], told: dict[str, str], end: int | None) -> int:
    """Run a script in a fork that has torch imported already. Returns how it ended, as `subprocess` does."""
    child = os.fork()
    if child:
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    code = 1
    try:
        log = os.open(folder / "log.txt", os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        os.dup2(log, 1)
        os.dup2(log, 2)
        os.chdir(folder)
        os.environ.update(told)
        random.seed()  # a fork begins with its parent's random states, a process with states of its own
        np.random.seed()
        torch.seed()
        sys.argv = [str(script), *arguments]
        if end is not None:
            die_when_told(end)
        runpy.run_path(str(script), run_name="__main__")
        code = 0
    except SystemExit as left:
        code = left.code if isinstance(left.code, int) else 1
    except Exception:  # noqa: BLE001 - whatever it is, this fork must not return into its parent
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


# --- lives in a row -----------------------------------------------------------------------------------


class Failed(Exception):
    """A life ended in another way than it was told to."""


@dataclass
class Outcome:
    """What a trainer delivered after its lives, and whether one of them began from a save."""

    delivered: dict[str, torch.Tensor]
    resumed: bool


def live_on(trainer: Trainer, folder: Path, ends: tuple[int, ...]) -> Outcome:
    """Let a trainer live until it is done, its first lives ending as told."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    run = make_run(folder, checkpoint=CheckpointPolicy(every_steps=6, keep=2)) if trainer.joins else None
    resumed = False
    for end in (*ends, None):
        has_save, arguments, told = _start(folder, run)
        resumed |= has_save
        code = live(trainer.path, folder, arguments, told, end)
        if code == 0:
            break
        if code != -signal.SIGKILL or end is None:
            raise Failed(f"ended with {code}\n{(folder / 'log.txt').read_text()}")
    output = folder / "final.pt" if run is None else run.folder.outputs / "model.pt"
    return Outcome(dict(_tensors("", torch.load(io.BytesIO(output.read_bytes())))), resumed)


def _start(folder: Path, run: Run | None) -> tuple[bool, list[str], dict[str, str]]:
    """Return whether there is a save to go on from, and how to start: arguments and environment."""
    if run is not None:
        return run.committed_step() is not None, [], environment(run.attempt())
    saves = sorted(folder.glob("saves/step-*.pt"), key=lambda path: int(path.stem.split("-")[1]))
    return bool(saves), ["--resume", str(saves[-1])] if saves else [], {}


def _tensors(name: str, tree: Any) -> Iterator[tuple[str, torch.Tensor]]:
    if isinstance(tree, torch.Tensor):
        yield name, tree
    else:
        for key, value in tree.items():
            yield from _tensors(f"{name}.{key}", value)


def gap(one: dict[str, torch.Tensor], other: dict[str, torch.Tensor]) -> float:
    """Return the largest difference between two deliveries; 0.0 means every bit is the same."""
    if one.keys() != other.keys():
        return float("inf")
    return max(
        0.0 if torch.equal(value, other[name]) else float((value - other[name]).abs().max())
        for name, value in one.items()
    )


# --- all of them --------------------------------------------------------------------------------------


def broken_promise(trainer: Trainer, scratch: Path) -> tuple[str, str]:
    """Return what speaks against a trainer ("" when nothing does), and the gaps that were seen."""
    lives = [live_on(trainer, scratch / "undisturbed", ()) for _ in range(2)]
    if gap(*(life.delivered for life in lives)):  # one gap says little of a noise's size
        lives += [live_on(trainer, scratch / "undisturbed", ()) for _ in range(3)]
    noise = max(gap(lives[0].delivered, life.delivered) for life in lives)
    others = [live_on(trainer, scratch / "disturbed", ends) for ends in DISTURBED]
    gaps = [gap(lives[0].delivered, life.delivered) for life in others if life.resumed]
    if len(gaps) < 2:
        return "resumes too seldom to be judged", ""
    restarted = [gap(lives[0].delivered, life.delivered) for life in others if not life.resumed]
    told = f"noise {noise:.2g}, resumed {min(gaps):.2g} to {max(gaps):.2g} ({len(gaps)})"
    verdict = trainer.expect["verdict"]
    if verdict == "exact":
        wrong = noise or max(gaps) or max(restarted, default=0.0)
    elif verdict == "noise":
        wrong = noise == 0 or max(gaps) > 10 * noise
    else:
        wrong = min(gaps) <= 10 * noise or max(restarted, default=0.0) > 10 * noise
    return (f"is not {verdict}" if wrong else ""), told


def main(paths: list[str]) -> int:
    """Check the trainers in these files; one line for each. Returns the number of broken promises."""
    torch.set_num_threads(1)
    gc.freeze()  # a fork that collects would copy every page of its parent
    broken = 0
    with tempfile.TemporaryDirectory() as scratch:
        for path in paths:
            trainer = read_trainer(Path(path).resolve())
            try:
                problem, told = broken_promise(trainer, Path(scratch))
            except Failed as error:
                problem, told = "fails", str(error)
            broken += bool(problem)
            sys.stdout.write(f"{trainer.path.stem}: {problem or 'as it says'}; {told}\n")
            sys.stdout.flush()
    return broken


if __name__ == "__main__":
    sys.exit(min(main(sys.argv[1:]), 1))

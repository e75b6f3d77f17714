"""The digits example resumes bit by bit, and every group of state is needed for that."""

from __future__ import annotations

import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from lastro.checkpoint import store
from lastro.journal.signals import read_beat
from lastro.rules import CheckpointPolicy, Corpus, StopKind, StopRule
from lastro.storage.digest import sha256_file
from tests.job.conftest import Nursery
from tests.job.hand import EXAMPLE, Run, environment, kinds, make_run, signals

#: 23 updates in each epoch: two micro-batches to an update, the last one of an epoch alone.
EPOCHS, UPDATES = 2, 46
SHORT = ("--epochs", str(EPOCHS), "--shift", "1")
SCRIPT = EXAMPLE / "train.py"


def corpus() -> Corpus:
    path = EXAMPLE / "data" / "digits.npz"
    return Corpus(path="data/digits.npz", digest=sha256_file(path), rows=1797)


def digits(root: Path) -> Run:
    return make_run(
        root,
        checkpoint=CheckpointPolicy(every_steps=10, keep=2),
        stop=(StopRule(kind=StopKind.TRUNCATED_INPUT),),
        corpus=corpus(),
    )


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory, nursery: Nursery) -> dict[str, bytes]:
    """The outputs of a run that nothing happened to."""
    run = digits(tmp_path_factory.mktemp("undisturbed"))
    ended = nursery.run(run.attempt(), SCRIPT, *SHORT)
    assert ended.code == 0, ended.log
    return run.outputs()


@pytest.fixture(scope="module")
def killed(tmp_path_factory: pytest.TempPathFactory, nursery: Nursery) -> Run:
    """A run that was killed at step 17, seven steps after its last checkpoint."""
    run = digits(tmp_path_factory.mktemp("killed"))
    folder = run.attempt()
    ended = nursery.run(folder, SCRIPT, *SHORT, signal=signal.SIGKILL, step=17)
    assert ended.signal == signal.SIGKILL, ended.log
    assert [path.name for path in store.names(run.folder.checkpoints)] == ["10-a1"]
    return run


def copy_of(run: Run, root: Path) -> Run:
    shutil.copytree(run.folder.root, root / "runs" / "r1")
    return digits(root)


def test_killed_between_checkpoints_and_resumed_gives_the_same_bits(
    killed: Run, tmp_path: Path, nursery: Nursery, undisturbed: dict[str, bytes]
) -> None:
    run = copy_of(killed, tmp_path)
    folder = run.attempt()

    ended = nursery.run(folder, SCRIPT, *SHORT)

    assert ended.code == 0, ended.log
    assert signals(folder)[2] | {"mono": 0, "seconds": 0} == {
        "kind": "restored", "step": 10, "folder": "10-a1", "mono": 0, "seconds": 0,
    }  # fmt: skip
    assert run.outputs() == undisturbed


@pytest.mark.parametrize("group", ["model", "optimizer", "scheduler", "random", "position"])
def test_without_any_one_group_the_weights_differ(
    group: str, killed: Run, tmp_path: Path, nursery: Nursery, undisturbed: dict[str, bytes]
) -> None:
    run = copy_of(killed, tmp_path)

    ended = nursery.run(run.attempt(leave_out=(group,)), SCRIPT, *SHORT)

    assert ended.code == 0, ended.log
    assert run.outputs()["model.safetensors"] != undisturbed["model.safetensors"]


def test_a_process_that_is_asked_to_leave_saves_and_goes_on_later(
    tmp_path: Path, nursery: Nursery, undisturbed: dict[str, bytes]
) -> None:
    run = digits(tmp_path)
    first = run.attempt()
    ended = nursery.run(first, SCRIPT, *SHORT, signal=signal.SIGTERM, step=17)
    assert ended.code == 85, ended.log
    assert kinds(first)[-2:] == ["checkpoint", "left"]
    assert signals(first)[-2]["step"] == 17

    ended = nursery.run(run.attempt(), SCRIPT, *SHORT)

    assert ended.code == 0, ended.log
    assert run.outputs() == undisturbed


def test_lost_three_times_once_at_the_end_of_an_epoch_gives_the_same_bits(
    tmp_path: Path, nursery: Nursery, undisturbed: dict[str, bytes]
) -> None:
    run = digits(tmp_path)
    for number, step in ((signal.SIGKILL, 12), (signal.SIGTERM, 23), (signal.SIGKILL, 23 + 11)):
        ended = nursery.run(run.attempt(), SCRIPT, *SHORT, signal=number, step=step)
        assert ended.signal == number or ended.code == 85, ended.log
    assert "23-a2" in [path.name for path in store.names(run.folder.checkpoints)]

    ended = nursery.run(run.attempt(), SCRIPT, *SHORT)

    assert ended.code == 0, ended.log
    assert run.outputs() == undisturbed


def test_a_finished_run_that_is_started_again_writes_the_same_outputs(
    tmp_path: Path, nursery: Nursery, undisturbed: dict[str, bytes]
) -> None:
    run = digits(tmp_path)
    assert nursery.run(run.attempt(), SCRIPT, *SHORT).code == 0
    shutil.rmtree(run.folder.outputs)
    again = run.attempt()

    ended = nursery.run(again, SCRIPT, *SHORT)

    assert ended.code == 0, ended.log
    assert kinds(again) == ["started", "read", "restored", "finished", "output", "output"]
    assert run.outputs() == undisturbed


def test_as_a_real_process_killed_at_any_moment(tmp_path: Path, undisturbed: dict[str, bytes]) -> None:
    """Started as a user does, with nothing prepared, and killed from outside wherever it happens to be."""
    run = digits(tmp_path)
    folder = run.attempt()
    command = [sys.executable, str(SCRIPT), *SHORT]
    with folder.log.open("wb") as log:
        job = subprocess.Popen(command, env=environment(folder), stdout=log, stderr=log)
        while (beat := read_beat(folder.heartbeat)) is None or beat.step < 12:
            assert job.poll() is None, folder.log.read_text()
            time.sleep(0.002)
        job.kill()
        job.wait()
    last = run.attempt()

    again = subprocess.run(command, env=environment(last), capture_output=True, text=True, check=False)

    assert again.returncode == 0, again.stderr
    assert run.outputs() == undisturbed


def test_a_truncated_corpus_stops_the_run_before_it_trains(tmp_path: Path, nursery: Nursery) -> None:
    run = digits(tmp_path)
    wrong = Corpus(path="data/digits.npz", digest=corpus().digest, rows=2000)
    folder = run.attempt(corpus=wrong)

    ended = nursery.run(folder, SCRIPT, *SHORT)

    assert ended.code == 6
    assert "1797 rows of data/digits.npz were read, the plan says 2000" in ended.log
    assert kinds(folder) == ["started", "read", "stop"]


def test_a_fresh_process_recomputes_the_predictions_from_the_weights(
    tmp_path: Path, undisturbed: dict[str, bytes]
) -> None:
    copy = tmp_path / "code"
    shutil.copytree(EXAMPLE, copy)
    (tmp_path / "model.safetensors").write_bytes(undisturbed["model.safetensors"])

    subprocess.run(
        [sys.executable, "reload.py", str(tmp_path / "model.safetensors")],
        cwd=copy,
        env={"LASTRO_OUTPUTS": str(tmp_path), "OMP_NUM_THREADS": "1"},
        check=True,
    )

    assert (tmp_path / "predictions.csv").read_bytes() == undisturbed["predictions.csv"]

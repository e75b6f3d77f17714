"""Whole lives of a small training process, as its supervisor would see them."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from lastro import strictjson
from lastro.checkpoint import store
from lastro.journal.signals import read_beat
from lastro.paths import AttemptFolder, RunFolder
from lastro.rules import CheckpointPolicy, StopKind, StopRule
from tests.job.conftest import Ended, Nursery
from tests.job.hand import Run, environment, kinds, make_run, signals

TOY = Path(__file__).with_name("toy.py")
EVERY_TEN = CheckpointPolicy(every_steps=10, keep=2)


def live(
    run: Run, nursery: Nursery, *, strike: int | None = None, at: int | None = None, **wish: Any
) -> tuple[Ended, AttemptFolder]:
    folder = run.attempt()
    environ = {**environment(folder), "TOY": json.dumps({"steps": 35, **wish})}
    return nursery.run(folder, TOY, signal=strike, step=at, environ=environ), folder


def checkpoints(run: Run) -> list[str]:
    return [path.name for path in store.names(run.folder.checkpoints)]


def test_an_undisturbed_life_tells_what_it_did(tmp_path: Path, nursery: Nursery) -> None:
    run = make_run(tmp_path)

    ended, folder = live(run, nursery)

    assert ended.code == 0, ended.log
    assert kinds(folder) == [
        "started", "first_step", "checkpoint", "checkpoint", "checkpoint", "checkpoint", "finished", "output",
    ]  # fmt: skip
    saved = [(line["step"], line["why"]) for line in signals(folder) if line["kind"] == "checkpoint"]
    assert saved == [(10, "due"), (20, "due"), (30, "due"), (35, "end")]
    assert checkpoints(run) == ["35-a1", "30-a1"]
    beat = read_beat(folder.heartbeat)
    assert beat is not None and beat.step == 35


def test_the_manifest_of_a_life_says_where_it_stood(tmp_path: Path, nursery: Nursery) -> None:
    run = make_run(tmp_path)
    live(run, nursery)

    manifest = store.committed(run.folder.checkpoint(30, 1))

    assert isinstance(manifest, store.Manifest)
    assert manifest.facts.position == {
        "step": 30, "epoch": 0, "batch": 30, "data": {"foreign": 35, "accumulate": 1},
    }  # fmt: skip


def test_killed_and_resumed_gives_the_same_total(tmp_path: Path, nursery: Nursery) -> None:
    undisturbed, run = make_run(tmp_path / "a"), make_run(tmp_path / "b")
    live(undisturbed, nursery)
    live(run, nursery, strike=signal.SIGKILL, at=27)

    ended, folder = live(run, nursery)

    assert ended.code == 0, ended.log
    assert signals(folder)[1]["step"] == 20
    assert run.outputs() == undisturbed.outputs()


def test_a_damaged_checkpoint_is_told_and_passed_over(tmp_path: Path, nursery: Nursery) -> None:
    undisturbed, run = make_run(tmp_path / "a"), make_run(tmp_path / "b")
    live(undisturbed, nursery)
    live(run, nursery, strike=signal.SIGKILL, at=27)
    damaged = run.folder.checkpoint(20, 1) / "state.json"
    damaged.write_bytes(damaged.read_bytes().replace(b"total", b"totol"))

    ended, folder = live(run, nursery)

    assert ended.code == 0
    assert "checkpoint 20-a1 is passed over: state.json does not have the digest" in ended.log
    assert kinds(folder)[:3] == ["started", "passed_over", "restored"]
    assert run.outputs() == undisturbed.outputs()


def test_a_checkpoint_that_another_run_has_made_is_passed_over(tmp_path: Path, nursery: Nursery) -> None:
    run = make_run(tmp_path)
    live(run, nursery, strike=signal.SIGKILL, at=27)
    foreign = run.folder.checkpoints / "30-a1"
    shutil.copytree(run.folder.checkpoints / "20-a1", foreign)
    manifest = json.loads((foreign / "manifest.json").read_text())
    (foreign / "manifest.json").write_text(json.dumps({**manifest, "run": "0" * 16, "step": 30}))

    ended, second = live(run, nursery)

    assert ended.code == 0
    assert "30-a1 is passed over: it belongs to run 0000000000000000" in ended.log
    assert next(told for told in signals(second) if told["kind"] == "restored")["step"] == 20


def test_with_nothing_usable_a_run_never_begins_again_at_step_0(tmp_path: Path, nursery: Nursery) -> None:
    run = make_run(tmp_path)
    live(run, nursery, strike=signal.SIGKILL, at=27)
    for folder in store.names(run.folder.checkpoints):
        (folder / "state.json").unlink()

    ended, second = live(run, nursery)

    assert ended.code == 6
    assert "step 20 was committed before, but no checkpoint can be used here" in ended.log
    assert kinds(second) == ["started", "passed_over", "passed_over", "stop"]


def test_a_loss_that_is_not_finite_stops_before_it_is_saved(tmp_path: Path, nursery: Nursery) -> None:
    run = make_run(tmp_path, stop=(StopRule(kind=StopKind.NON_FINITE, metric="loss"),))

    ended, folder = live(run, nursery, nan_at=20)

    assert ended.code == 6
    assert checkpoints(run) == ["10-a1"]
    told = signals(folder)[-1]
    assert (told["kind"], told["rule"], told["metric"], told["step"]) == ("stop", "non_finite", "loss", 20)
    assert told["value"] == "NaN"
    assert '{"loss":"NaN"}' in folder.measurements().read_text()


def test_a_floor_is_judged_at_the_next_safe_point(tmp_path: Path, nursery: Nursery) -> None:
    floor = StopRule(kind=StopKind.FLOOR, metric="loss", below=1000.0, after_steps=12)
    run = make_run(tmp_path, stop=(floor,))

    ended, folder = live(run, nursery)

    assert ended.code == 6
    assert signals(folder)[-1]["step"] == 12


def test_asked_to_leave_it_saves_at_the_next_safe_point(tmp_path: Path, nursery: Nursery) -> None:
    run = make_run(tmp_path)

    ended, folder = live(run, nursery, strike=signal.SIGTERM, at=13)

    assert ended.code == 85
    assert [(line["kind"], line["step"]) for line in signals(folder)[-2:]] == [
        ("checkpoint", 13),
        ("left", 13),
    ]
    assert signals(folder)[-2]["why"] == "asked"


def test_asked_before_the_first_step_it_leaves_without_saving_nothing(
    tmp_path: Path, nursery: Nursery
) -> None:
    run = make_run(tmp_path)

    ended, folder = live(run, nursery, strike=signal.SIGTERM, at=0)

    assert (ended.code, checkpoints(run)) == (85, [])
    assert kinds(folder) == ["started", "left"]


def test_asked_at_a_step_that_is_safe_already_it_saves_no_second_time(
    tmp_path: Path, nursery: Nursery
) -> None:
    run = make_run(tmp_path)
    live(run, nursery, strike=signal.SIGTERM, at=13)

    ended, folder = live(run, nursery, strike=signal.SIGTERM, at=13)

    assert ended.code == 85
    assert kinds(folder) == ["started", "restored", "left"]


def test_the_first_interrupt_from_the_keyboard_saves_like_a_request(tmp_path: Path, nursery: Nursery) -> None:
    ended, folder = live(make_run(tmp_path), nursery, strike=signal.SIGINT, at=13)

    assert ended.code == 85
    assert "Ctrl-C again stops at once" in ended.log
    assert kinds(folder)[-2:] == ["checkpoint", "left"]


def test_an_exception_is_told_with_its_step_and_keeps_its_traceback(tmp_path: Path, nursery: Nursery) -> None:
    ended, folder = live(make_run(tmp_path), nursery, fail_at=17)

    assert ended.code == 1
    assert 'raise RuntimeError("the data ran out")' in ended.log
    told = signals(folder)[-1]
    assert (told["kind"], told["failure"], told["step"]) == (
        "exception", "RuntimeError: the data ran out", 16,
    )  # fmt: skip


def test_a_checkpoint_that_does_not_fit_is_told_without_a_traceback(tmp_path: Path, nursery: Nursery) -> None:
    run = make_run(tmp_path)
    live(run, nursery, strike=signal.SIGKILL, at=27)

    ended, folder = live(run, nursery, steps=36)

    assert ended.code == 8
    assert "error: position/foreign is 35 in the checkpoint and 36 here" in ended.log
    assert "Traceback" not in ended.log
    assert kinds(folder)[-1] == "exception"


def test_a_replaced_attempt_that_thaws_publishes_nothing(tmp_path: Path) -> None:
    run, thaw = make_run(tmp_path), tmp_path / "thaw"
    first = run.attempt()
    environ = {**environment(first), "TOY": json.dumps({"steps": 35, "linger_at": 15, "until": str(thaw)})}
    with first.log.open("wb") as log:
        frozen = subprocess.Popen([sys.executable, str(TOY)], env=environ, stderr=log)
        wait_for_step(first, 14)
        frozen.send_signal(signal.SIGSTOP)
        run.attempt()
        frozen.send_signal(signal.SIGTERM)
        frozen.send_signal(signal.SIGCONT)
        thaw.touch()
        frozen.wait(timeout=60)

    assert frozen.returncode == 12, first.log.read_text()
    assert checkpoints(run) == ["10-a1"]


def wait_for_step(folder: AttemptFolder, step: int) -> None:
    deadline = time.monotonic() + 60
    while (beat := read_beat(folder.heartbeat)) is None or beat.step < step:
        assert time.monotonic() < deadline
        time.sleep(0.005)


def by_hand(folder: Path, *args: str, **wish: Any) -> subprocess.CompletedProcess[str]:
    environ = {key: value for key, value in os.environ.items() if not key.startswith("LASTRO_")}
    environ["TOY"] = json.dumps({"steps": 35, **wish})
    return subprocess.run(
        [sys.executable, str(TOY), *args],
        cwd=folder,
        env=environ,
        capture_output=True,
        text=True,
        check=False,
    )


def test_started_by_hand_it_works_and_resumes_in_a_folder_of_its_own(tmp_path: Path) -> None:
    first = by_hand(tmp_path)
    run = RunFolder(tmp_path / "lastro-run")
    total = (run.outputs / "total.txt").read_text()
    assert first.returncode == 0, first.stderr
    assert first.stderr.count("started by hand: attempt 1") == 1
    (run.outputs / "total.txt").unlink()

    second = by_hand(tmp_path)

    assert "goes on at step 35" in second.stderr
    assert (run.outputs / "total.txt").read_text() == total


def test_by_hand_another_command_does_not_go_on_with_this_ones_work(tmp_path: Path) -> None:
    by_hand(tmp_path)

    other = by_hand(tmp_path, "--lr", "1")

    assert other.returncode == 2
    assert "holds the work of" in other.stderr and "Traceback" not in other.stderr


def test_attaching_loads_nothing_heavy(tmp_path: Path) -> None:
    code = (
        "import sys, lastro; lastro.attach(); assert lastro.attach() is lastro.attach();"
        "print([name for name in ('torch', 'numpy', 'pydantic', 'click', 'sqlite3') if name in sys.modules])"
    )
    ended = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True,
        env={key: value for key, value in os.environ.items() if not key.startswith("LASTRO_")},
    )  # fmt: skip

    assert ended.stdout == "[]\n"


def test_a_folder_that_is_no_attempt_is_told(tmp_path: Path) -> None:
    ended = subprocess.run(
        [sys.executable, "-c", "import lastro; lastro.attach()"],
        env={**os.environ, "LASTRO_ATTEMPT": str(tmp_path)}, capture_output=True, text=True, check=False,
    )  # fmt: skip

    assert ended.returncode == 8
    assert "attempt.json cannot be read" in ended.stderr and "Traceback" not in ended.stderr


LOGGER = """
import os, sys, lastro
attempt = lastro.attach()
number = 0
while True:
    attempt.log(loss=number)
    number += 1
    os.write(1, b"%d\\n" % number)
"""


def kill_while_logging(tmp_path: Path, kills: int) -> None:
    """Each acknowledged point (its number came through the pipe) is in the file after a SIGKILL."""
    run = make_run(tmp_path)
    for _ in range(kills):
        folder = run.attempt()
        with subprocess.Popen(
            [sys.executable, "-c", LOGGER], env=environment(folder), stdout=subprocess.PIPE
        ) as job:
            assert job.stdout is not None
            job.stdout.read(4096)
            job.kill()
            rest = job.stdout.read()
        acknowledged = int(rest.split(b"\n")[-2]) if b"\n" in rest[:-1] else 1
        lines = folder.measurements().read_bytes().split(b"\n")
        points = [strictjson.loads(line)["v"]["loss"] for line in lines[:-1]]
        assert points == list(range(len(points)))
        assert len(points) >= acknowledged > 0


def test_no_acknowledged_point_is_lost_in_30_kills(tmp_path: Path) -> None:
    kill_while_logging(tmp_path, 30)


@pytest.mark.long
@pytest.mark.timeout(900)
def test_no_acknowledged_point_is_lost_in_200_kills(tmp_path: Path) -> None:
    kill_while_logging(tmp_path, 200)

"""A drill that is interrupted leaves nothing running; one that is killed is cleaned up by the next."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from lastro.drill.arm import marker_of
from lastro.procs.killtree import end_tree, members
from tests.procs.real import eventually

SLEEPER = "import time\nprint('began', flush=True)\ntime.sleep(600)\n"


def begin(folder: Path) -> tuple[subprocess.Popen[bytes], tuple[str, str]]:
    """Start a drill of a job that never ends; returns it when the job runs, with the mark of its arm."""
    job = folder / "job"
    job.mkdir(exist_ok=True)
    (job / "train.py").write_text(SLEEPER)
    command = [sys.executable, "-m", "lastro.cli", "drill", "--json", "--", "python", "train.py"]
    process = subprocess.Popen(
        command,
        cwd=job,
        env={**os.environ, "LASTRO_HOME": str(folder / "home")},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    (log, *_others) = eventually(lambda: _begun(folder))
    place = next(parent for parent in log.parents if parent.name == "plain-1")
    return process, marker_of(place.parent)


def _begun(folder: Path) -> list[Path]:
    """Return the logs of lives whose job has begun; what is renamed meanwhile is looked at again."""
    with contextlib.suppress(FileNotFoundError):
        return [one for one in folder.rglob("log.txt") if "began" in one.read_text()]
    return []


def test_an_interrupted_drill_leaves_nothing_running(tmp_path: Path) -> None:
    process, mark = begin(tmp_path)

    process.send_signal(signal.SIGINT)

    assert process.wait(60) in (130, -signal.SIGINT)
    assert not members(mark).all
    assert not Path(mark[1]).exists(), "half a drill proves nothing"


def test_what_a_killed_drill_has_left_is_ended_by_the_next_one(tmp_path: Path) -> None:
    first, mark = begin(tmp_path)
    first.kill()
    first.wait()
    left = members(mark).all
    assert left

    look = (
        "for pid in {pids}:\n"
        "    try: state = open(f'/proc/{{pid}}/stat').read().rpartition(')')[2].split()[0]\n"
        "    except OSError: state = 'gone'\n"
        "    print('ended' if state in ('gone', 'Z', 'X') else 'lives')\n"
    )
    (tmp_path / "job" / "train.py").write_text(look.format(pids=[one.pid for one in left]))
    command = [sys.executable, "-m", "lastro.cli", "drill", "--", "python", "train.py"]
    environment = {**os.environ, "LASTRO_HOME": str(tmp_path / "home")}
    try:
        subprocess.run(command, cwd=tmp_path / "job", env=environment, check=False, capture_output=True)
        (log,) = (tmp_path / "home").rglob("log.txt")
        assert "ended" in log.read_text(), "before the next life began"
        assert "lives" not in log.read_text()
    finally:
        end_tree(mark)


def test_two_drills_of_one_job_at_once_are_refused(tmp_path: Path) -> None:
    first, mark = begin(tmp_path)
    command = [sys.executable, "-m", "lastro.cli", "drill", "--", "python", "train.py"]
    environment = {**os.environ, "LASTRO_HOME": str(tmp_path / "home")}
    try:
        second = subprocess.run(
            command, cwd=tmp_path / "job", env=environment, check=False, capture_output=True, text=True
        )
        assert second.returncode == 2
        assert "another drill of this job is under way" in second.stderr
        assert members(mark).all, "the first one goes on"
    finally:
        first.send_signal(signal.SIGINT)
        first.wait(60)


@pytest.mark.parametrize("left", ["saves/step-5.pt", "saves/step-10.pt"])
def test_what_the_job_has_saved_before_is_not_given_to_a_life_that_begins(tmp_path: Path, left: str) -> None:
    job = tmp_path / "job"
    (job / "saves").mkdir(parents=True)
    (job / left).write_text("an old save")
    (job / "train.py").write_text("import os\nprint(sorted(os.listdir('.')))\n")
    command = [sys.executable, "-m", "lastro.cli", "drill", "--checkpoints", "saves/step-*.pt",
               "--resume-arg", "--resume {latest}", "--", "python", "train.py"]  # fmt: skip
    environment = {**os.environ, "LASTRO_HOME": str(tmp_path / "home")}
    subprocess.run(command, cwd=job, env=environment, check=False, capture_output=True)

    (log,) = (tmp_path / "home").rglob("log.txt")
    assert "train.py" in log.read_text()
    assert "saves" not in log.read_text()
    assert (job / left).read_text() == "an old save"

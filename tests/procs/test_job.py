from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from lastro.errors import Fenced, ProviderError
from lastro.paths import AttemptFolder
from lastro.procs.identity import is_alive, send
from lastro.procs.job import Exit, JobProcess, adopt, launch, take_over
from lastro.procs.killtree import end_tree
from tests.procs.real import DEADLINE, FAMILY, SLEEPER, environment, eventually, family_in, python, who_wrote


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[AttemptFolder]:
    folder = AttemptFolder(tmp_path / "attempts" / "1")
    folder.root.mkdir(parents=True)
    yield folder
    end_tree(("JOB_TEST", str(tmp_path)))


def start(folder: AttemptFolder, argv: list[str]) -> JobProcess:
    tmp_path = folder.root.parent.parent
    return launch(folder, argv, tmp_path, environment(JOB_TEST=str(tmp_path)))


def end_of(job: JobProcess) -> Exit:
    end = job.wait(DEADLINE)
    assert end is not None
    return end


def test_the_exit_code_and_the_output_are_kept(folder: AttemptFolder) -> None:
    end = end_of(start(folder, ["sh", "-c", "echo out; echo err >&2; exit 85"]))

    assert (end.code, end.signal, end.lost) == (85, None, False)
    assert folder.log.read_text() == "out\nerr\n"
    assert sorted(path.name for path in folder.root.iterdir()) == ["exit.json", "log.txt", "process.json"]


def test_the_signal_that_ended_a_job_is_kept(folder: AttemptFolder) -> None:
    job = start(folder, ["sleep", "600"])

    assert job.wait(0) is None
    send(job.job, signal.SIGKILL)

    end = end_of(job)
    assert (end.code, end.signal, end.lost) == (None, signal.SIGKILL, False)


def test_a_job_that_is_killed_at_its_gate_has_a_known_end(folder: AttemptFolder, tmp_path: Path) -> None:
    """The shim is stopped and the job killed as early as they can be seen; the shim then goes on."""
    shim = Path(sys.modules["lastro.procs"].__path__[0]) / "shim.py"
    argv = [shim, folder.process, folder.exit, folder.log, tmp_path, "--", "sleep", "600"]
    process = subprocess.Popen([sys.executable, "-I", "-S", *map(str, argv)], env=environment())
    job = eventually(lambda: adopt(folder))
    assert job is not None
    os.kill(process.pid, signal.SIGSTOP)
    send(job.job, signal.SIGKILL)
    os.kill(process.pid, signal.SIGCONT)

    assert process.wait() == 0
    assert end_of(job).signal == signal.SIGKILL


def test_a_command_that_is_not_there_is_an_exit_with_127_and_a_sentence_in_the_log(
    folder: AttemptFolder,
) -> None:
    end = end_of(start(folder, ["no-such-command", "--now"]))

    assert end.code == 127
    assert folder.log.read_text() == (
        "lastro: no-such-command could not be started: No such file or directory: no-such-command\n"
    )


def test_a_job_that_ignores_term_runs_on_until_it_is_killed(folder: AttemptFolder, tmp_path: Path) -> None:
    code = (
        "import signal, sys\n"
        "signal.signal(15, lambda *_: open(sys.argv[1] + '.told', 'w').close())\n"
        + SLEEPER.replace("time.sleep(600)", "\nwhile True: time.sleep(600)")
    )
    job = start(folder, python(code, tmp_path / "pid"))
    assert who_wrote(tmp_path / "pid") == job.job

    assert job.terminate()

    eventually((tmp_path / "pid.told").exists)
    assert job.exited() is None
    send(job.job, signal.SIGKILL)
    assert end_of(job).signal == signal.SIGKILL
    assert not job.terminate()


def test_term_reaches_the_leader_alone(folder: AttemptFolder, tmp_path: Path) -> None:
    code = (
        "import os, signal, sys, time\n"
        "def here(name): open(os.path.join(sys.argv[1], name), 'w').close()\n"
        "if os.fork() == 0:\n"
        "    signal.signal(15, lambda *_: here('worker-told')); here('worker'); time.sleep(600)\n"
        "def save(*_):\n"
        "    time.sleep(0.3); here('saved'); os._exit(85)\n"
        "signal.signal(15, save); here('leader')\n"
        "while True: time.sleep(1)\n"
    )
    job = start(folder, python(code, tmp_path))
    eventually(lambda: (tmp_path / "leader").exists() and (tmp_path / "worker").exists())

    job.terminate()

    end = end_of(job)
    assert (end.code, end.left) == (85, 1)
    assert (tmp_path / "saved").exists() and not (tmp_path / "worker-told").exists()


def test_when_the_exit_is_told_nothing_of_the_job_is_left(folder: AttemptFolder, tmp_path: Path) -> None:
    job = start(folder, python(FAMILY, tmp_path))
    family = family_in(tmp_path)
    assert family[0] == job.job

    send(job.job, signal.SIGKILL)

    assert end_of(job).left == len(family) - 1
    assert not any(map(is_alive, family))


def test_a_spared_shim_tells_how_its_tree_was_ended(folder: AttemptFolder, tmp_path: Path) -> None:
    job = start(folder, python(FAMILY, tmp_path))
    family_in(tmp_path)

    ended = end_tree(("JOB_TEST", str(tmp_path)), spare=[job.shim])

    assert job.shim not in ended.all and job.job in ended.all
    assert end_of(job).signal == signal.SIGKILL


def test_the_shim_ignores_what_ends_a_terminal(folder: AttemptFolder) -> None:
    job = start(folder, ["sh", "-c", "sleep 0.5; exit 7"])

    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        send(job.shim, number)

    assert end_of(job).code == 7


def test_when_the_shim_is_killed_the_job_goes_on_and_its_end_is_lost(
    folder: AttemptFolder, tmp_path: Path
) -> None:
    job = start(folder, python(SLEEPER, tmp_path / "pid"))
    who_wrote(tmp_path / "pid")

    send(job.shim, signal.SIGKILL)
    eventually(lambda: not is_alive(job.shim))

    assert job.exited() is None and is_alive(job.job)
    threading.Timer(0.1, send, (job.job, signal.SIGKILL)).start()
    assert end_of(job) == Exit(code=None, signal=None, lost=True)


_LAUNCHER = """
import os, sys, time
from pathlib import Path
from lastro.paths import AttemptFolder
from lastro.procs.job import launch
launch(AttemptFolder(Path(sys.argv[1])), sys.argv[2:], Path(sys.argv[1]), os.environ)
time.sleep(600)
"""


def test_a_job_is_adopted_after_its_launcher_was_killed(folder: AttemptFolder, tmp_path: Path) -> None:
    argv = [sys.executable, "-c", _LAUNCHER, str(folder.root), "sh", "-c", "sleep 1; exit 5"]
    launcher = subprocess.Popen(argv, env=environment(JOB_TEST=str(tmp_path)), start_new_session=True)
    job = eventually(lambda: adopt(folder))
    os.killpg(launcher.pid, signal.SIGKILL)
    launcher.wait()

    assert job is not None and take_over(folder) == job
    assert end_of(job).code == 5


def test_an_attempt_is_launched_once(folder: AttemptFolder) -> None:
    first = start(folder, ["sleep", "600"])

    with pytest.raises(Fenced):
        start(folder, ["sleep", "600"])

    assert adopt(folder) == first and is_alive(first.job)


def test_two_that_launch_one_attempt_at_once_start_one_job(folder: AttemptFolder, tmp_path: Path) -> None:
    argv = [sys.executable, "-c", _LAUNCHER, str(folder.root), "sh", "-c", "echo ran; sleep 600"]
    both = [
        subprocess.Popen(argv, env=environment(JOB_TEST=str(tmp_path)), stderr=subprocess.PIPE)
        for _ in range(2)
    ]
    eventually(lambda: any(launcher.poll() for launcher in both))
    job = adopt(folder)
    end_tree(("JOB_TEST", str(tmp_path)))

    for launcher in both:
        launcher.communicate()
    assert job is not None
    assert folder.log.read_text() == "ran\n"


def test_after_a_take_over_of_an_attempt_that_had_not_begun_it_never_begins(folder: AttemptFolder) -> None:
    assert adopt(folder) is None
    assert take_over(folder) is None

    with pytest.raises(Fenced):
        start(folder, ["echo", "ran"])

    assert not folder.log.exists()


def test_a_shim_that_comes_after_the_take_over_does_not_run_its_job(
    folder: AttemptFolder, tmp_path: Path
) -> None:
    assert take_over(folder) is None
    shim = Path(sys.modules["lastro.procs"].__path__[0]) / "shim.py"
    argv = [shim, folder.process, folder.exit, folder.log, tmp_path, "--", "echo", "ran"]

    done = subprocess.run([sys.executable, "-I", "-S", *map(str, argv)], check=False)

    assert done.returncode == 12
    assert [path.name for path in folder.root.iterdir()] == ["process.json"]


def test_a_job_whose_record_cannot_be_written_does_not_run(folder: AttemptFolder, tmp_path: Path) -> None:
    shim = Path(sys.modules["lastro.procs"].__path__[0]) / "shim.py"
    nowhere = tmp_path / "nowhere" / "process.json"
    argv = [shim, nowhere, folder.exit, folder.log, tmp_path, "--", "touch", str(tmp_path / "ran")]

    done = subprocess.run([sys.executable, "-I", "-S", *map(str, argv)], check=False, capture_output=True)

    assert done.returncode != 0
    assert not (tmp_path / "ran").exists()


def test_a_folder_that_is_not_there_is_told(folder: AttemptFolder, tmp_path: Path) -> None:
    with pytest.raises(ProviderError):
        launch(AttemptFolder(tmp_path / "attempts" / "2"), ["true"], tmp_path, environment())

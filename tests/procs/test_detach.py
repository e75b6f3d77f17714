from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from lastro.errors import ProviderError
from lastro.procs.detach import start_detached
from lastro.procs.identity import entry_of, is_alive, send, table
from lastro.procs.killtree import end_tree
from tests.procs.real import SLEEPER, environment, eventually, python, who_wrote

_CALLER = """
import os, sys, time
from pathlib import Path
from lastro.procs.detach import start_detached
folder = Path(sys.argv[1])
start_detached(sys.argv[2:], cwd=folder, env=os.environ, log=folder / "log")
(folder / "started").touch()
time.sleep(600)
"""


def test_it_survives_a_kill_9_of_the_whole_session_of_its_starter(tmp_path: Path) -> None:
    argv = [sys.executable, "-c", _CALLER, str(tmp_path), *python(SLEEPER, tmp_path / "pid")]
    caller = subprocess.Popen(argv, env=environment(DETACH_TEST=str(tmp_path)), start_new_session=True)
    try:
        process = who_wrote(tmp_path / "pid")
        eventually((tmp_path / "started").exists)
        session = os.getsid(caller.pid)
        for pid in table():
            if _session_of(pid) == session:
                os.kill(pid, signal.SIGKILL)
        caller.wait()

        assert is_alive(process)
        assert os.getsid(process.pid) == process.pid
    finally:
        end_tree(("DETACH_TEST", str(tmp_path)))


def _session_of(pid: int) -> int | None:
    try:
        return os.getsid(pid)
    except ProcessLookupError:
        return None


def test_it_is_no_child_of_its_starter_and_leaves_no_zombie(tmp_path: Path) -> None:
    process = start_detached(["sleep", "600"], cwd=tmp_path, env=environment(), log=tmp_path / "log")
    entry = entry_of(process.pid)
    assert entry is not None and entry.parent != os.getpid()

    send(process, signal.SIGKILL)

    eventually(lambda: not is_alive(process))
    assert not any(child.parent == os.getpid() and child.dead for child in table().values())


def test_it_inherits_no_descriptor_no_ignored_signal_and_no_input(tmp_path: Path) -> None:
    code = (
        "import os, signal, sys\n"
        "print(sorted(n for n in os.listdir('/proc/self/fd') if os.path.exists('/proc/self/fd/' + n)))\n"
        "print(os.readlink('/proc/self/fd/0'))\n"
        "print([line.split()[1] for line in open('/proc/self/status') if line.startswith('SigBlk')])\n"
        "print(signal.getsignal(signal.SIGTERM) == signal.SIG_DFL, flush=True)\n"
        "print('end', file=sys.stderr, flush=True)\n"
    )
    secret = (tmp_path / "held").open("w")
    os.set_inheritable(secret.fileno(), True)
    before = signal.signal(signal.SIGTERM, signal.SIG_IGN)
    blocked = signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGUSR1])
    try:
        start_detached(python(code), cwd=tmp_path, env=environment(), log=tmp_path / "log")
    finally:
        signal.signal(signal.SIGTERM, before)
        signal.pthread_sigmask(signal.SIG_SETMASK, blocked)
        secret.close()

    said = eventually(lambda: "end" in (text := _text(tmp_path / "log")) and text)
    assert str(said).splitlines() == [
        "['0', '1', '2']",
        "/dev/null",
        "['0000000000000000']",
        "True",
        "end",
    ]


def _text(path: Path) -> str:
    return path.read_text() if path.exists() else ""


def test_output_is_appended_to_the_log(tmp_path: Path) -> None:
    log = tmp_path / "log"
    log.write_text("before\n")

    start_detached(["sh", "-c", "echo out; echo err >&2"], cwd=tmp_path, env=environment(), log=log)

    eventually(lambda: log.read_text() == "before\nout\nerr\n")


def test_a_command_or_folder_that_is_not_there_is_told_with_its_name(tmp_path: Path) -> None:
    with pytest.raises(ProviderError, match="no-such-command"):
        start_detached(["no-such-command"], cwd=tmp_path, env=environment(), log=tmp_path / "log")
    with pytest.raises(ProviderError, match="nowhere"):
        start_detached(["true"], cwd=tmp_path / "nowhere", env=environment(), log=tmp_path / "log")

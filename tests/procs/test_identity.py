from __future__ import annotations

import dataclasses
import os
import select
import signal
import subprocess
import threading

import pytest

from lastro.procs.identity import ProcessId, entry_of, identity_of, is_alive, open_handle, send
from tests.procs.real import eventually, python


def test_this_process_is_alive_and_survives_json() -> None:
    me = identity_of(os.getpid())

    assert me is not None and is_alive(me)
    assert ProcessId.from_json(me.as_json()) == me


@pytest.mark.parametrize("change", [{"boot_id": "another-boot"}, {"start_ticks": 1}])
def test_the_same_pid_in_another_boot_or_started_at_another_time_is_somebody_else(
    change: dict[str, object],
) -> None:
    me = identity_of(os.getpid())
    assert me is not None
    other = dataclasses.replace(me, **change)  # type: ignore[arg-type]  # one of two fields, of its type

    assert not is_alive(other)
    assert open_handle(other) is None
    assert not send(other, signal.SIGKILL)


def test_a_zombie_is_dead() -> None:
    child = subprocess.Popen(["true"])
    process = identity_of(child.pid)
    assert process is not None

    eventually(lambda: (entry := entry_of(child.pid)) is not None and entry.state == "Z")

    assert not is_alive(process)
    child.wait()
    assert identity_of(child.pid) is None


def test_a_process_whose_first_thread_alone_has_ended_is_alive() -> None:
    code = (
        "import ctypes, threading, time\n"
        "threading.Thread(target=time.sleep, args=(600,)).start()\n"
        "ctypes.CDLL(None).pthread_exit(None)\n"
    )
    child = subprocess.Popen(python(code))
    process = identity_of(child.pid)
    assert process is not None
    try:
        eventually(lambda: (entry := entry_of(child.pid)) is not None and entry.state == "Z")
        assert is_alive(process)
    finally:
        child.kill()
        child.wait()


def test_a_name_with_spaces_and_parentheses_does_not_confuse_the_table() -> None:
    code = "import time; open('/proc/self/comm', 'w').write('a) R 1 (b'); print(flush=True); time.sleep(600)"
    with subprocess.Popen(python(code), stdout=subprocess.PIPE) as child:
        assert child.stdout is not None
        child.stdout.readline()
        entry = entry_of(child.pid)
        child.kill()

    assert entry is not None and entry.parent == os.getpid()


def test_a_handle_is_readable_when_the_process_ends() -> None:
    child = subprocess.Popen(["sleep", "600"])
    process = identity_of(child.pid)
    assert process is not None
    handle = open_handle(process)
    assert handle is not None
    try:
        killer = threading.Timer(0.05, send, (process, signal.SIGKILL))
        killer.start()
        poll = select.poll()
        poll.register(handle, select.POLLIN)
        assert poll.poll(60_000)
        killer.join()
    finally:
        os.close(handle)
        child.wait()

    assert child.returncode == -signal.SIGKILL

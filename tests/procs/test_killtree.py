from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lastro.procs.hunt import hunt, newest_pid
from lastro.procs.identity import identity_of, is_alive, send
from lastro.procs.killtree import descendants, end_tree, members
from tests.procs.real import FAMILY, SLEEPER, environment, eventually, family_in, python, who_wrote

NAME = "KILLTREE_TEST"


@pytest.fixture
def marker(tmp_path: Path) -> Iterator[tuple[str, str]]:
    yield (NAME, str(tmp_path))
    end_tree((NAME, str(tmp_path)))


def test_descendants_by_hand() -> None:
    """1 -> 2 -> 4, 1 -> 3; 9 is a stranger. Roots are not their own descendants."""
    parents = {2: 1, 3: 1, 4: 2, 9: 8}

    assert descendants(parents, [1]) == {2, 3, 4}
    assert descendants(parents, [2, 8]) == {4, 9}
    assert descendants(parents, [4]) == set()


@given(st.dictionaries(st.integers(1, 30), st.integers(1, 30)), st.sets(st.integers(1, 30), max_size=4))
def test_descendants_are_exactly_those_whose_line_meets_a_root(
    parents: dict[int, int], roots: set[int]
) -> None:
    def line(pid: int) -> set[int]:
        seen: set[int] = set()
        while pid in parents and parents[pid] not in seen:
            pid = parents[pid]
            seen.add(pid)
        return seen

    expected = {pid for pid in parents if line(pid) & roots} - roots

    assert descendants(parents, roots) == expected


def test_workers_in_their_own_sessions_and_orphans_end_with_the_rest(
    tmp_path: Path, marker: tuple[str, str]
) -> None:
    leader = subprocess.Popen(python(FAMILY, tmp_path), env=environment(**dict([marker])))
    family = family_in(tmp_path)

    ended = end_tree(marker, [leader.pid])

    leader.wait()
    assert not any(map(is_alive, family))
    assert set(family) <= ended.environment
    assert {process.pid for process in ended.descent} >= {p.pid for p in family if p != family[1]}


def test_the_orphans_of_a_leader_that_was_killed_before_are_found_by_their_environment(
    tmp_path: Path, marker: tuple[str, str]
) -> None:
    leader = subprocess.Popen(python(FAMILY, tmp_path), env=environment(**dict([marker])))
    family = family_in(tmp_path)
    leader.kill()
    leader.wait()
    assert members(marker, [family[0]]).all == set(family[1:])

    end_tree(marker, [family[0]])

    assert not any(map(is_alive, family))


def test_a_child_that_cleared_its_environment_is_found_by_descent(
    tmp_path: Path, marker: tuple[str, str]
) -> None:
    code = "import os, sys, time; os.spawnve(os.P_NOWAIT, sys.argv[1], sys.argv[1:], {}); time.sleep(600)"
    argv = python(code, *python(SLEEPER, tmp_path / "pid"))
    leader = subprocess.Popen(argv, env=environment(**dict([marker])))
    hidden = who_wrote(tmp_path / "pid")

    ended = end_tree(marker)

    leader.wait()
    assert not is_alive(hidden)
    assert hidden in ended.descent - ended.environment


def test_a_family_that_forks_all_the_time_is_ended(tmp_path: Path, marker: tuple[str, str]) -> None:
    """No member lives longer than about a millisecond, so its own trace, not a look, says that it is over."""
    code = (
        "import os, sys, time\n"
        "trace = os.open(sys.argv[1], os.O_WRONLY | os.O_CREAT | os.O_APPEND)\n"
        "while True:\n"
        "    os.write(trace, b'.')\n"
        "    time.sleep(0.0005)\n"
        "    if os.fork():\n"
        "        os._exit(0)\n"
        "    os.setsid()\n"
    )
    trace = tmp_path / "trace"
    subprocess.run(python(code, trace), env=environment(**dict([marker])), check=True)
    eventually(lambda: trace.exists() and trace.stat().st_size > 20)

    end_tree(marker)

    size = trace.stat().st_size
    time.sleep(0.5)
    assert trace.stat().st_size == size


def test_who_was_born_during_a_look_is_asked_after_it(tmp_path: Path, marker: tuple[str, str]) -> None:
    """It gets no processor, so no fork of its own tells of it. A busy box may hide it: tried again."""

    def caught() -> bool:
        since = newest_pid()
        with subprocess.Popen(["sleep", "600"], env=environment(**dict([marker]))) as child:
            found = hunt(marker, {os.getpid()}, since)
            child.kill()
            return child.pid in {process.pid for process in found}

    eventually(caught)


def test_a_stopped_process_that_ignores_term_is_ended(tmp_path: Path, marker: tuple[str, str]) -> None:
    code = "import signal; signal.signal(15, signal.SIG_IGN)\n" + SLEEPER
    child = subprocess.Popen(python(code, tmp_path / "pid"), env=environment(**dict([marker])))
    who_wrote(tmp_path / "pid")
    child.send_signal(signal.SIGSTOP)

    end_tree(marker)

    assert child.wait() == -signal.SIGKILL


def test_with_a_grace_the_root_may_end_by_itself(tmp_path: Path, marker: tuple[str, str]) -> None:
    code = (
        "import signal, sys, time\n"
        "def end(*_): open(sys.argv[1] + '.saved', 'w').close(); sys.exit(0)\n"
        "signal.signal(15, end)\n" + SLEEPER
    )
    child = subprocess.Popen(python(code, tmp_path / "pid"), env=environment(**dict([marker])))
    who_wrote(tmp_path / "pid")

    end_tree(marker, [child.pid], grace_seconds=60)

    assert child.wait() == 0
    assert (tmp_path / "pid.saved").exists()


def test_the_caller_and_what_it_descends_from_are_spared(tmp_path: Path, marker: tuple[str, str]) -> None:
    """The middle process carries the marker and calls for the end of its own tree."""
    code = (
        "import os, subprocess, sys\n"
        "from lastro.procs.killtree import end_tree\n"
        "other = subprocess.Popen(['sleep', '600'])\n"
        "end_tree((sys.argv[1], sys.argv[2]), [os.getpid(), os.getppid()])\n"
        "print(other.wait())\n"
    )
    argv = ["sh", "-c", '"$@"; echo still here', "sh", os.sys.executable, "-c", code, *marker]  # type: ignore[attr-defined]
    done = subprocess.run(argv, env=environment(**dict([marker])), capture_output=True, text=True, check=True)

    assert done.stdout.split("\n")[:2] == ["-9", "still here"]


def test_a_stranger_under_a_dead_roots_pid_is_spared(marker: tuple[str, str]) -> None:
    stranger = subprocess.Popen(["sleep", "600"])
    now = identity_of(stranger.pid)
    assert now is not None
    earlier = type(now)(now.boot_id, now.pid, now.start_ticks - 1)
    try:
        end_tree(marker, [earlier])
        assert is_alive(now)
    finally:
        send(now, signal.SIGKILL)
        stranger.wait()


def test_a_value_that_only_begins_like_the_marker_is_another(tmp_path: Path, marker: tuple[str, str]) -> None:
    stranger = subprocess.Popen(["sleep", "600"], env=environment(**{NAME: marker[1] + "-more"}))
    try:
        assert eventually(lambda: members((NAME, marker[1] + "-more")).all)
        assert not members(marker).all
    finally:
        stranger.kill()
        stranger.wait()

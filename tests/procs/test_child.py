from __future__ import annotations

import sys
from pathlib import Path

import pytest

from lastro.errors import UsageError
from lastro.procs.child import run_with_deadline
from tests.procs.real import FAMILY, SLEEPER, environment, python, runs


def test_output_code_and_input_are_carried(tmp_path: Path) -> None:
    done = run_with_deadline(
        ["sh", "-c", "cat; echo problem >&2; exit 3"],
        seconds=60,
        cwd=tmp_path,
        env=environment(),
        input=b"a" * 500_000,
    )

    assert (done.code, done.err, done.timed_out, done.cut) == (3, "problem\n", False, False)
    assert done.out == "a" * 500_000


def test_at_the_deadline_the_whole_tree_is_killed(tmp_path: Path) -> None:
    done = run_with_deadline(python(FAMILY, tmp_path), seconds=3, cwd=tmp_path, env=environment())

    assert done.timed_out and done.code == -9
    written = [path for path in tmp_path.iterdir() if path.suffix != ".new"]
    assert written
    assert not any(runs(int(path.read_text())) for path in written)


def test_what_a_child_leaves_behind_ends_with_it_and_does_not_hold_the_caller(tmp_path: Path) -> None:
    """The setsid child holds the output pipe for ten minutes; the call returns at once all the same."""
    code = (
        "import os, subprocess, sys, time\n"
        "subprocess.Popen(sys.argv[2:], start_new_session=True)\n"
        "while not os.path.exists(sys.argv[1]): time.sleep(0.01)\n"
        "print('done')\n"
    )
    pid = tmp_path / "pid"

    done = run_with_deadline(
        python(code, pid, *python(SLEEPER, pid)), seconds=100, cwd=tmp_path, env=environment()
    )

    assert (done.code, done.out, done.timed_out) == (0, "done\n", False)
    assert not runs(int(pid.read_text()))


def test_of_endless_output_only_the_end_is_kept(tmp_path: Path) -> None:
    code = "import sys; sys.stdout.write('x' * 3_000_000 + 'end')"

    done = run_with_deadline(python(code), seconds=60, cwd=tmp_path, env=environment(), keep_bytes=1000)

    assert done.cut and len(done.out) == 1000 and done.out.endswith("xend")


def test_a_child_that_closes_its_output_is_still_waited_for(tmp_path: Path) -> None:
    done = run_with_deadline(
        ["sh", "-c", "exec >&- 2>&-; sleep 0.3; exit 4"], seconds=60, cwd=tmp_path, env=environment()
    )

    assert (done.code, done.timed_out) == (4, False)


def test_a_child_that_does_not_read_its_input_is_no_error(tmp_path: Path) -> None:
    done = run_with_deadline(["true"], seconds=60, cwd=tmp_path, env=environment(), input=b"a" * 1_000_000)

    assert done.code == 0


def test_a_command_that_is_not_there_is_a_wrong_use(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no-such-command"):
        run_with_deadline(["no-such-command"], seconds=60, cwd=tmp_path, env=environment())


def test_a_child_within_a_child_is_ended_by_the_outer_deadline(tmp_path: Path) -> None:
    code = (
        "import os, sys\n"
        "from pathlib import Path\n"
        "from lastro.procs.child import run_with_deadline\n"
        "run_with_deadline(sys.argv[1:], seconds=600, cwd=Path('.'), env=os.environ)\n"
    )
    argv = [sys.executable, "-c", code, *python(SLEEPER, tmp_path / "pid")]

    done = run_with_deadline(argv, seconds=5, cwd=tmp_path, env=environment())

    assert done.timed_out
    assert not runs(int((tmp_path / "pid").read_text()))

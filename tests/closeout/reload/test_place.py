"""Where a reload runs: what it sees of this machine at each level, and that the level is told."""

from __future__ import annotations

import json
import os
import socket
import sys
from pathlib import Path

import pytest

from lastro.closeout.reload.level import FRESH, JAILED, WISH, level_for
from lastro.closeout.reload.place import GIVEN, Place
from lastro.sandbox.sealed import why_not

LEVELS = [
    FRESH,
    pytest.param(JAILED, marks=pytest.mark.skipif(why_not() is not None, reason=str(why_not()))),
]
PYTHON = sys.executable


@pytest.fixture(params=LEVELS)
def level(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def said(place: Place, code: str) -> str:
    """Return what a Python says inside, or how it failed."""
    place.prepare()
    command = [PYTHON, "-c", code]
    done = place.run(command, place.python_of(command), 60)
    assert done.code == 0, done.err
    return done.out.strip()


def place(tmp_path: Path, level: str, environment: dict[str, str] | None = None, **given: Path) -> Place:
    return Place(
        level=level,
        room=tmp_path / "room",
        environment={"PATH": os.environ["PATH"]} if environment is None else environment,
        given=given,
    )


def test_only_what_finds_programs_and_threads_is_kept_of_the_environment(tmp_path: Path, level: str) -> None:
    given = {"PATH": os.environ["PATH"], "OMP_NUM_THREADS": "1", "HF_TOKEN": "x", "PYTHONPATH": "/x"}

    names = said(place(tmp_path, level, given), "import os; print(*os.environ)").split()

    assert {"PATH", "OMP_NUM_THREADS", "HOME", "TMPDIR", "LASTRO_OUTPUTS", "HF_HUB_OFFLINE"} <= set(names)
    assert not {"HF_TOKEN", "PYTHONPATH"} & set(names)


def test_home_and_tmp_are_there_and_empty(tmp_path: Path, level: str) -> None:
    code = "import json, os; print(json.dumps([os.listdir(os.environ[name]) for name in ('HOME', 'TMPDIR')]))"

    home, temporary = json.loads(said(place(tmp_path, level), code))

    # Where the interpreter itself lies below /tmp, the way to it is there.
    way = {
        Path(part).parts[2] for part in (sys.prefix, sys.base_prefix, __file__) if part.startswith("/tmp/")
    }
    assert (home, set(temporary) - way) == ([], set())


def test_where_nothing_is_called_python_our_own_interpreter_is_found_last(tmp_path: Path) -> None:
    (tmp_path / "bin").mkdir()
    there = place(tmp_path, FRESH, {"PATH": str(tmp_path / "bin")})

    path = said(there, "import os; print(os.environ['PATH'])")

    assert path == f"{tmp_path / 'bin'}:{Path(PYTHON).parent}"


def test_what_the_child_does_to_what_it_reads_is_not_done_to_the_original(tmp_path: Path, level: str) -> None:
    (tmp_path / "model.bin").write_bytes(b"w")
    there = place(tmp_path, level, model=tmp_path / "model.bin")
    code = (
        "import sys\n"
        f"path = {there.seen(GIVEN, 'model')!r}\n"
        "try:\n    open(path, 'wb').write(b'spoilt')\nexcept OSError as error:\n    pass\n"
        "print(open(path, 'rb').read())"
    )

    said(there, code)

    assert (tmp_path / "model.bin").read_bytes() == b"w"


@pytest.mark.skipif(why_not() is not None, reason=str(why_not()))
def test_in_a_jail_nothing_of_this_machine_is_there_but_what_was_given(tmp_path: Path) -> None:
    vocabulary = tmp_path / "vocabulary"
    vocabulary.write_text("x")
    there = place(tmp_path, JAILED)
    paths = [str(vocabulary), str(tmp_path / "room" / "outputs"), str(Path(__file__)), "/home"]

    assert said(there, f"import os; print([path for path in {paths!r} if os.path.exists(path)])") == "[]"
    assert said(place(tmp_path, FRESH), f"import os; print(os.path.exists({str(vocabulary)!r}))") == "True"


@pytest.mark.skipif(why_not() is not None, reason=str(why_not()))
def test_in_a_jail_there_is_no_network_not_even_of_this_machine(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        code = (
            "import socket\n"
            f"try:\n    socket.create_connection(('127.0.0.1', {port}), 2); print('reached')\n"
            "except OSError as error:\n    print(type(error).__name__)"
        )

        assert said(place(tmp_path, JAILED), code) == "ConnectionRefusedError"
        assert said(place(tmp_path / "fresh", FRESH), code) == "reached"


@pytest.mark.skipif(why_not() is not None, reason=str(why_not()))
def test_a_signal_inside_a_jail_is_told_as_a_signal(tmp_path: Path) -> None:
    there = place(tmp_path, JAILED)
    there.prepare()
    command = [PYTHON, "-c", "import os; os.kill(os.getpid(), 11)"]

    assert there.run(command, there.python_of(command), 60).code == -11


def test_a_jail_that_cannot_be_had_is_a_fresh_process_with_its_reason(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tool = tmp_path / "bwrap"
    tool.write_text("#!/bin/sh\necho 'bwrap: no permissions' >&2\nexit 1\n")
    tool.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert level_for({}) == (FRESH, "bwrap: no permissions")

    tool.unlink()
    assert level_for({}) == (FRESH, "bubblewrap (bwrap) is not installed")


def test_the_weaker_level_can_be_asked_for() -> None:
    assert level_for({WISH: "fresh"}) == (FRESH, "LASTRO_RELOAD_LEVEL=fresh asks for it")

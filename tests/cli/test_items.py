"""`lastro items`, as a shell user meets it: real commands, real kills."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.job.hand import environment, make_run, signals

PYTHON = sys.executable


def call(
    folder: Path, *arguments: str, stdin: str | None = None, env: dict[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [PYTHON, "-m", "lastro.cli", "items", *arguments],
        cwd=folder,
        env=env or os.environ,
        input=stdin if stdin is not None else "",
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )


def made(folder: Path, name: str = "out") -> dict[str, str]:
    where = folder / "lastro-run" / "outputs" / name
    return {path.name: path.read_text() for path in sorted(where.iterdir())} if where.exists() else {}


COPY: Sequence[str] = ("--out", "out/{id}.txt", "--", "sh", "-c", "echo {id} > {path}; echo {id} >> calls")


def test_ids_come_from_arguments_a_file_or_a_pipe_and_nothing_is_made_twice(tmp_path: Path) -> None:
    (tmp_path / "ids").write_text("2\n\n3\n")

    assert call(tmp_path, "1", *COPY).returncode == 0
    assert call(tmp_path, "--from", "ids", *COPY).returncode == 0
    done = call(tmp_path, *COPY, stdin="1\n2\n3\n4 and more\n")

    assert done.returncode == 0, done.stderr
    assert done.stderr.endswith(f"4 items in {tmp_path}/lastro-run/outputs\n")
    assert made(tmp_path) == {
        "1.txt": "1\n", "2.txt": "2\n", "3.txt": "3\n", "4%20and%20more.txt": "4 and more\n",
    }  # fmt: skip
    assert (tmp_path / "calls").read_text().splitlines() == ["1", "2", "3", "4 and more"]


def test_the_first_failure_ends_it_and_the_next_call_goes_on_there(tmp_path: Path) -> None:
    command = ("--out", "out/{id}", "--", "sh", "-c", "test {id} != 3 -o -e go && echo {id} > {path}")

    failed = call(tmp_path, "--batch", "10", "1", "2", "3", "4", *command)
    told = made(tmp_path)
    (tmp_path / "go").touch()
    done = call(tmp_path, "1", "2", "3", "4", *command)

    assert failed.returncode == 1
    assert "item 3: the command ended with exit code 1" in failed.stderr
    assert "next: the same command makes only what is missing" in failed.stderr
    assert told == {"1": "1\n", "2": "2\n"}
    assert done.returncode == 0 and len(made(tmp_path)) == 4


def test_with_keep_going_the_failures_are_listed_at_the_end(tmp_path: Path) -> None:
    script = (
        "case {id} in bad) exit 3;; empty) : > {path};; none) ;; killed) kill -9 $$;; *) echo > {path};; esac"
    )
    ids = ["bad", "a", "empty", "none", "killed", "b"]

    done = call(tmp_path, "--keep-going", "--json", "--out", "out/{id}", *ids, "--", "sh", "-c", script)

    assert done.returncode == 1
    told = json.loads(done.stdout)
    assert {failure["id"]: failure["why"] for failure in told["failed"]} == {
        "bad": "the command ended with exit code 3",
        "empty": "what the command wrote is empty",
        "none": "the command wrote nothing to {path}",
        "killed": "the command was killed by signal 9",
    }
    assert (told["done"], told["total"], told["exit_code"]) == (2, 6, 1)
    assert sorted(made(tmp_path)) == ["a", "b"]


def test_an_id_is_put_in_once_whatever_it_holds(tmp_path: Path) -> None:
    done = call(
        tmp_path,
        "{path}",
        "--out",
        "out/{id}",
        "--",
        "sh",
        "-c",
        'printf %s "$1" > "$2"',
        "sh",
        "{id}",
        "{path}",
    )

    assert done.returncode == 0, done.stderr
    assert made(tmp_path) == {"%7Bpath%7D": "{path}"}


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--out", "out/{id}", "1"], "there is no command to call"),
        (["--out", "out/{id}", "1", "--", "true"], "does not say where {path} belongs"),
        (["--out", "out", "1", "--", "cp", "a", "{path}"], "has no {id}"),
        (["--out", "../{id}", "1", "--", "cp", "a", "{path}"], "leads out"),
        (["--out", "out/{id}", "1", "1", "--", "cp", "a", "{path}"], "'1' stands there twice"),
        (
            ["--out", "out/{id}", "1", "--", "no-such-program", "{path}"],
            "no-such-program could not be started",
        ),
        (["--out", "out/{id}", "--from", "gone", "--", "cp", "a", "{path}"], "gone"),
    ],
)
def test_wrong_use_is_an_error_with_its_reason(tmp_path: Path, arguments: list[str], said: str) -> None:
    done = call(tmp_path, *arguments)

    assert done.returncode == 2
    assert said in done.stderr
    assert "Traceback" not in done.stderr


def test_items_of_another_command_are_not_taken_for_its_own(tmp_path: Path) -> None:
    """By hand two commands can share a folder, but not the names of their items."""
    assert call(tmp_path, "1", "--out", "a/{id}", "--", "no-such-program", "{path}").returncode == 2
    assert call(tmp_path, "1", "--out", "a/{id}", "--", "cp", "/proc/self/status", "{path}").returncode == 0
    assert call(tmp_path, "1", "--out", "b/{id}", "--", "cp", "/proc/self/stat", "{path}").returncode == 0

    refused = call(tmp_path, "1", "2", "--out", "a/{id}", "--", "cp", "/proc/self/stat", "{path}")

    assert refused.returncode == 2
    assert "holds the work of `cp /proc/self/status {path}`" in refused.stderr


def test_killed_in_the_middle_of_an_item_it_is_made_again_alone(tmp_path: Path) -> None:
    script = (
        "echo {id} >> calls; echo half > {path}; test {id} != 2 -o -e go || sleep 600; echo whole > {path}"
    )
    arguments = ("1", "2", "3", "--out", "out/{id}", "--", "sh", "-c", script)
    process = subprocess.Popen(
        [PYTHON, "-m", "lastro.cli", "items", *arguments],
        cwd=tmp_path,
        env={**os.environ, "MARK": str(tmp_path)},
    )
    _wait_for_call(tmp_path, "2")
    process.kill()
    process.wait()
    _end(tmp_path)
    assert made(tmp_path)["1"] == "whole\n" and "2" not in made(tmp_path)
    (tmp_path / "go").touch()

    done = call(tmp_path, *arguments)

    assert done.returncode == 0, done.stderr
    assert made(tmp_path) == {"1": "whole\n", "2": "whole\n", "3": "whole\n"}
    assert (tmp_path / "calls").read_text().split() == ["1", "2", "2", "3"]


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_asked_to_leave_it_lets_the_command_end_and_publishes(tmp_path: Path, number: int) -> None:
    script = "echo {id} >> calls; while [ ! -e go ]; do sleep 0.02; done; echo whole > {path}"
    process = subprocess.Popen(
        [
            PYTHON,
            "-m",
            "lastro.cli",
            "items",
            "--json",
            "1",
            "2",
            "--out",
            "out/{id}",
            "--",
            "sh",
            "-c",
            script,
        ],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        text=True,
    )
    _wait_for_call(tmp_path, "1")
    process.send_signal(number)
    (tmp_path / "go").touch()
    output, _nothing = process.communicate(timeout=60)

    assert process.returncode == 85
    assert json.loads(output)["exit_code"] == 85
    assert made(tmp_path) == {"1": "whole\n"}


def test_in_a_job_of_a_run_the_items_are_the_runs(tmp_path: Path) -> None:
    run = make_run(tmp_path / "disk")
    folder = run.attempt()

    done = call(tmp_path, "1", "2", *COPY, env=environment(folder))

    assert done.returncode == 0, done.stderr
    assert not (tmp_path / "lastro-run").exists()
    assert (run.folder.outputs / "out" / "2.txt").read_text() == "2\n"
    assert [line["kind"] for line in signals(folder)] == ["started", "items", "first_step"]


def test_a_failure_in_a_job_is_told_so_that_the_same_one_twice_ends_the_run(tmp_path: Path) -> None:
    run = make_run(tmp_path / "disk")
    told = []
    for _attempt in range(2):
        folder = run.attempt()
        assert (
            call(
                tmp_path, "1", "--out", "o/{id}", "--", "sh", "-c", "exit 3 {path}", env=environment(folder)
            ).returncode
            == 1
        )
        told.append({**signals(folder)[-1], "mono": 0})

    assert told[0] == told[1]
    assert told[0]["failure"] == "item 1: the command ended with exit code 3"


def test_it_loads_nothing_heavy(tmp_path: Path) -> None:
    code = (
        "import sys; from lastro.cli import main\n"
        "try: main(sys.argv[1:])\n"
        "finally: print(*[name for name in sys.modules if name in "
        "('torch', 'pydantic', 'rich', 'ruamel', 'sqlite3', 'jinja2', 'numpy')])"
    )
    done = subprocess.run(
        [PYTHON, "-c", code, "items", "1", *COPY], cwd=tmp_path, capture_output=True, text=True, check=False
    )

    assert (done.returncode, done.stdout) == (0, "\n")


def _wait_for_call(folder: Path, item: str) -> None:
    deadline = time.monotonic() + 60
    while not (folder / "calls").exists() or item not in (folder / "calls").read_text().split():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def _end(folder: Path) -> None:
    """End what a killed `lastro items` has left behind, by the mark in its environment."""
    for entry in Path("/proc").iterdir():
        try:
            if entry.name.isdigit() and f"MARK={folder}".encode() in (entry / "environ").read_bytes().split(
                b"\0"
            ):
                os.kill(int(entry.name), signal.SIGKILL)
        except (OSError, ProcessLookupError):
            continue

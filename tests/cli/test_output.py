"""What a program reads from a command, however the command ends and wherever its output goes."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

CAMPAIGN = "campaign: tiny\ncommand: python train.py\ncontrol: {width: 1}\n"


def lastro(folder: Path, *arguments: str, redirect: str = "") -> subprocess.CompletedProcess[str]:
    """Run a command in `folder` through a shell, which redirects its output."""
    return subprocess.run(
        ["/bin/sh", "-c", f'exec "$@" {redirect}', "sh", sys.executable, "-m", "lastro.cli", *arguments],
        cwd=folder,
        env={**os.environ, "LASTRO_HOME": str(folder / "home")},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def as_object(text: str) -> dict[str, Any]:
    value: dict[str, Any] = json.loads(text)
    return value


@pytest.mark.parametrize(
    "arguments", [("run", "--bogus", "--json"), ("--json", "runn"), ("run", "a", "b", "--json")]
)
def test_wrong_use_is_one_object_for_programs_too(tmp_path: Path, arguments: tuple[str, ...]) -> None:
    done = lastro(tmp_path, *arguments)

    told = as_object(done.stdout)
    assert done.returncode == told["exit_code"] == 2
    assert told["error"]["kind"] == "UsageError"


def test_a_journal_without_streams_is_one_object_with_its_code(tmp_path: Path) -> None:
    done = lastro(tmp_path, "journal", "verify", ".", "--json")

    assert as_object(done.stdout) == {"streams": [], "damaged": 0, "exit_code": 0}


def test_a_refusal_of_the_system_names_the_path_and_is_no_bug(tmp_path: Path) -> None:
    (tmp_path / "campaign.yaml").write_text(CAMPAIGN)
    (tmp_path / "home").write_text("a file where a folder has to be")

    done = lastro(tmp_path, "plan", "--freeze")

    assert done.returncode == 8
    assert str(tmp_path / "home") in done.stderr
    assert "next:" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_disk_below_a_file_is_refused_by_name(tmp_path: Path) -> None:
    (tmp_path / "campaign.yaml").write_text(CAMPAIGN)
    (tmp_path / "file").touch()

    done = lastro(tmp_path, "run", "--disk", "file/disk", "--json")

    assert done.returncode == as_object(done.stdout)["exit_code"] == 8
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("arguments", [("plan",), ("plan", "--json"), ("init", "--json"), ("--help",)])
def test_closed_output_is_no_error(tmp_path: Path, arguments: tuple[str, ...]) -> None:
    if "init" not in arguments:
        (tmp_path / "campaign.yaml").write_text(CAMPAIGN)

    done = lastro(tmp_path, *arguments, redirect=">&-")

    assert (done.returncode, done.stderr) == (0, "")


def test_output_that_cannot_be_written_is_told_without_a_traceback(tmp_path: Path) -> None:
    (tmp_path / "campaign.yaml").write_text(CAMPAIGN)

    done = lastro(tmp_path, "plan", "--json", redirect=">/dev/full")

    assert done.returncode == 8
    assert "No space left" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.fixture
def interrupts() -> Iterator[None]:
    """Children answer to SIGINT as usual, also where a shell has put these tests in the background."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("interrupts")
def test_ctrl_c_is_one_object_for_programs_too(tmp_path: Path) -> None:
    # A pipe that nobody writes to holds the command where it reads its campaign file.
    os.mkfifo(tmp_path / "campaign.yaml")
    process = subprocess.Popen(
        [sys.executable, "-m", "lastro.cli", "plan", "--json"],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    with (tmp_path / "campaign.yaml").open("w"):  # returns when the command has opened its end
        process.send_signal(signal.SIGINT)
        out, _err = process.communicate(timeout=60)

    assert process.returncode == as_object(out)["exit_code"] == 130

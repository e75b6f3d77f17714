from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from lastro import strictjson
from lastro.cli import main
from lastro.flow import machine_check
from lastro.preflight.lock import Answer, Lock, read_lock, write_lock
from tests.preflight.conftest import library

__all__ = ["library"]


def lastro(*arguments: str) -> int:
    with pytest.raises(SystemExit) as left:
        main(arguments)
    return int(left.value.code or 0)


@pytest.fixture
def campaign(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("LASTRO_HOME", str(tmp_path / "home"))
    path = tmp_path / "campaign.yaml"
    path.write_text(
        f"campaign: c\ncommand: {sys.executable} train.py\ncontrol: {{}}\nwant: {{python: '>=3.10'}}\n"
    )
    return path


def checked(campaign: Path, capsys: pytest.CaptureFixture[str], *options: str) -> dict[str, Any]:
    """What `lastro preflight --json` prints; the exit code is in it too."""
    code = lastro("preflight", str(campaign), *options, "--json")
    report: dict[str, Any] = strictjson.loads(capsys.readouterr().out)
    assert report["exit_code"] == code
    return report


def change(campaign: Path, **facts: object) -> None:
    """Change facts in a lock as if another machine had been locked."""
    old = read_lock(campaign.parent, "c").lock
    assert old is not None
    answer = old.answers["cpu"]
    new = Answer(at=answer.at, node_id=answer.node_id, facts={**answer.facts, **facts})  # type: ignore[dict-item]
    write_lock(campaign.parent, Lock(campaign="c", answers={"cpu": new}))


def test_a_good_machine_ends_with_code_0(campaign: Path, capsys: pytest.CaptureFixture[str]) -> None:
    report = checked(campaign, capsys)

    assert report["verdict"] in ("pass", "warn") and report["exit_code"] == 0
    assert report["node_id"] == report["stack"]["node"] and report["budget_s"] <= 60
    assert {"code", "consequence"} <= report["findings"][0].keys()


def test_the_first_machine_that_passes_is_locked_and_the_second_look_changes_nothing(
    campaign: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    first = checked(campaign, capsys)
    text = (campaign.parent / "lastro.lock").read_bytes()
    second = checked(campaign, capsys)

    assert first["lock_written"] == second["lock"] != second["lock_written"]
    assert (campaign.parent / "lastro.lock").read_bytes() == text
    assert "lock" in [finding["code"] for finding in second["findings"]]


def test_one_changed_fact_is_named_and_ends_with_code_4_until_it_is_locked_anew_with_a_reason(
    campaign: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    checked(campaign, capsys)
    change(campaign, python="3.9.1")

    drifted = checked(campaign, capsys)
    again = checked(campaign, capsys, "--relock", "--why", "a newer Python")

    (wrong,) = [finding for finding in drifted["findings"] if finding["level"] == "fail"]
    assert (drifted["verdict"], drifted["exit_code"], wrong["code"]) == ("fail", 4, "lock.python")
    assert "3.9.1, as locked" in wrong["expected"] and wrong["consequence"] and "--relock" in wrong["next"]
    assert again["exit_code"] == 0
    lock = read_lock(campaign.parent, "c").lock
    assert lock is not None and lock.relock is not None and lock.relock.why == "a newer Python"


def test_a_lock_that_cannot_be_written_is_told_and_the_machine_is_well(
    campaign: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_arguments: object) -> None:
        raise OSError(30, "Read-only file system")

    monkeypatch.setattr(machine_check, "write_lock", refuse)

    assert lastro("preflight", str(campaign)) == 0
    assert "could not be kept: [Errno 30] Read-only file system" in capsys.readouterr().out


def test_a_machine_that_must_not_be_trusted_ends_with_code_4_and_locks_nothing(
    campaign: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    campaign.write_text(campaign.read_text().replace(">=3.10", ">=9.9"))

    assert lastro("preflight", str(campaign)) == 4

    out = " ".join(capsys.readouterr().out.split())
    assert "Python of the job" in out and "next: use another environment or image" in out
    assert "fail: " in out and "by: the campaign file, `want`" in out
    assert not (campaign.parent / "lastro.lock").exists()


@pytest.mark.parametrize(
    "options", [("--cpu", "--full"), ("--relock",), ("--why", "x"), ("--relock", "--why", " ")]
)
def test_options_that_contradict_each_other_are_wrong_use(campaign: Path, options: tuple[str, ...]) -> None:
    assert lastro("preflight", str(campaign), *options) == 2


def test_a_disk_that_is_named_on_the_command_line_wins(campaign: Path, tmp_path: Path) -> None:
    assert lastro("preflight", str(campaign), "--disk", "/proc/none", "--json") == 4


def apart(campaign: Path, library: Path, state: str, size: str = "--canary") -> dict[str, Any]:
    """What it prints where the stand-in is NVIDIA's library, which has to be said before a process starts."""
    (campaign.parent / "state").write_text(state)
    done = subprocess.run(
        [sys.executable, "-m", "lastro.cli", "preflight", size, "--json"],
        cwd=campaign.parent,
        env={
            **os.environ,
            "LD_LIBRARY_PATH": str(library),
            "STAND_IN_STATE": str(campaign.parent / "state"),
        },
        capture_output=True,
        text=True,
        check=False,
    )
    report: dict[str, Any] = json.loads(done.stdout)
    assert report["exit_code"] == done.returncode
    return report


def test_a_driver_that_hangs_gets_a_verdict_and_a_record(campaign: Path, library: Path) -> None:
    report = apart(campaign, library, "hang = nvmlDeviceGetCount_v2\n", "--full")

    assert (report["verdict"], report["exit_code"]) == ("no_answer", 4)
    # Nothing that could take long, or hang as well, stands between the deadline and the verdict.
    assert [step["name"] for step in report["steps"]] == ["host", "driver", "lock"]
    (left_out,) = [finding for finding in report["findings"] if finding["code"] == "step"]
    assert left_out["fact"] == "steps io, trial" and left_out["level"] == "no_answer"
    (silent,) = [finding for finding in report["findings"] if finding["code"] == "driver_silent"]
    assert "nvmlDeviceGetCount" in silent["value"] and silent["required"]
    assert not (campaign.parent / "lastro.lock").exists()


def test_a_card_is_compared_through_the_real_client_and_listened_to(campaign: Path, library: Path) -> None:
    text = campaign.read_text().replace("want: {", "want: {gpu: 'RTX 4090', ")
    campaign.write_text(text)

    report = apart(campaign, library, "count = 1\n")

    codes = {finding["code"]: finding["level"] for finding in report["findings"]}
    assert (codes["gpu_name"], codes["driver"], codes["gpu_xid"]) == ("fail", "pass", "pass")
    assert report["stack"]["node_source"] == "gpu"

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

import pytest

from lastro.preflight import (
    command,
    disk_space,
    disk_write,
    memory,
    packages,
    python_version,
    shared_memory,
)
from lastro.preflight.check import Finding, Level, Subject
from lastro.stack.versions import Versions

from .subjects import GB, stack, subject


def only(findings: Iterable[Finding]) -> Finding:
    (finding,) = findings
    if finding.level in (Level.FAIL, Level.WARN):
        assert finding.consequence and finding.next_step, "what is not well says its cost and the next step"
    return finding


@pytest.mark.parametrize(
    ("wanted", "level"), [(">=3.10", "pass"), ("3.11.*", "pass"), (">=3.12", "fail"), ("==3.11.6", "fail")]
)
def test_the_python_of_the_job_is_compared_with_what_is_wanted(
    tmp_path: Path, wanted: str, level: str
) -> None:
    assert only(python_version.check(subject(tmp_path, python=wanted))).level == level


def test_a_python_that_cannot_be_asked_fails_only_when_one_was_wanted(tmp_path: Path) -> None:
    silent = replace(subject(tmp_path), versions=Versions(reason="python9 is not there"))

    assert only(python_version.check(silent)).level is Level.NO_ANSWER
    assert only(python_version.check(replace(silent, want={"python": ">=3.10"}))).level is Level.FAIL


@pytest.mark.parametrize(
    ("wanted", "level"), [("2.13.*", "pass"), ("==2.13.0", "pass"), ("2.13.0", "pass"), (">=2.14", "fail")]
)
def test_a_build_s_local_label_is_no_other_version(tmp_path: Path, wanted: str, level: str) -> None:
    finding = only(packages.check(subject(tmp_path, torch=wanted)))

    assert (finding.level, finding.value) == (level, "2.13.0+cpu")


def test_a_missing_package_fails_and_the_campaign_s_setup_is_the_next_step(tmp_path: Path) -> None:
    missing = subject(tmp_path, jax=">=0.4")

    finding = only(packages.check(missing))
    assert (finding.level, finding.value) == (Level.FAIL, "not installed")
    prepared = only(packages.check(replace(missing, setup="pip install -r requirements.txt")))
    assert prepared.next_step is not None and "pip install -r requirements.txt" in prepared.next_step


def test_sizes_are_no_packages(tmp_path: Path) -> None:
    wants = subject(tmp_path, memory=">=1 GB", shared_memory="1 GB", disk="1 GB", python=">=3.10")

    assert list(packages.check(wants)) == []


@pytest.mark.parametrize(("wanted", "level"), [(">=2 GB", "pass"), (">=8 GB", "pass"), (">=9 GB", "fail")])
def test_memory_is_compared_with_what_is_wanted(tmp_path: Path, wanted: str, level: str) -> None:
    assert only(memory.check(subject(tmp_path, memory=wanted))).level == level


def test_memory_that_the_container_limits_is_told_as_such(tmp_path: Path) -> None:
    limited = replace(subject(tmp_path), stack=replace(stack(), memory_limited=True))

    assert "limited by the container" in only(memory.check(limited)).value


@pytest.mark.parametrize(
    ("size", "want", "level"),
    [
        (4 * GB, {}, Level.PASS),
        (64 * 2**20, {}, Level.WARN),
        (64 * 2**20, {"shared_memory": ">=1 GB"}, Level.FAIL),
        (None, {}, Level.NO_ANSWER),
    ],
)
def test_shared_memory_of_docker_s_default_is_told(
    tmp_path: Path, size: int | None, want: dict[str, str], level: Level
) -> None:
    here = replace(subject(tmp_path, **want), stack=replace(stack(), shared_memory_bytes=size))

    assert only(shared_memory.check(here)).level is level


def test_room_on_the_disk_is_compared_with_what_is_wanted(tmp_path: Path) -> None:
    assert only(disk_space.check(subject(tmp_path, disk="1 MB"))).level is Level.PASS
    assert only(disk_space.check(subject(tmp_path, disk="1000 PB"))).level is Level.FAIL


def test_a_corpus_larger_than_the_disk_fails_without_being_asked(tmp_path: Path) -> None:
    assert only(disk_space.check(replace(subject(tmp_path), corpus_bytes=10**18))).level is Level.FAIL


def test_writing_leaves_nothing_behind_and_measures(tmp_path: Path) -> None:
    finding = only(disk_write.check(subject(tmp_path)))

    assert finding.level in (Level.PASS, Level.WARN) and "ms" in finding.value
    assert list(tmp_path.iterdir()) == []


def test_a_disk_that_cannot_be_written_fails_by_name() -> None:
    finding = only(disk_write.check(subject(Path("/proc"))))

    assert finding.level is Level.FAIL and "/proc" in finding.value


def test_a_file_in_the_way_of_the_disk_fails_by_name(tmp_path: Path) -> None:
    (tmp_path / "disk").touch()

    finding = only(disk_write.check(replace(subject(tmp_path), disk=tmp_path / "disk" / "deeper")))

    assert (finding.level, str(tmp_path / "disk") in finding.value) == (Level.FAIL, True)


def test_a_program_that_is_not_there_fails(tmp_path: Path) -> None:
    here = subject(tmp_path)
    gone = replace(here, command=("no-such-program-here", "x"))

    assert only(command.check(here)).level is Level.PASS
    assert only(command.check(gone)).level is Level.FAIL


def test_a_script_beside_the_campaign_is_found_by_its_path(tmp_path: Path) -> None:
    here: Subject = replace(subject(tmp_path), command=("./run.sh",))
    (tmp_path / "run.sh").write_text("#!/bin/sh\n")
    assert only(command.check(here)).level is Level.FAIL

    (tmp_path / "run.sh").chmod(0o755)
    assert only(command.check(here)).level is Level.PASS

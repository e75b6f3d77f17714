"""What a machine behind ssh tells of itself is judged as this box is; what is still to come is no fault."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from lastro import strictjson
from lastro.clock import SystemClock, iso
from lastro.flow.far_check import judge, subject_of
from lastro.flow.freeze import draw_up
from lastro.flow.trust import Trusting
from lastro.paths import Home
from lastro.preflight.check import Finding, Level, Subject
from lastro.preflight.lock import Answer, Lock, Reading, State
from lastro.preflight.machine_facts import facts_of
from lastro.providers.telling import tell
from lastro.spec.load import load_campaign

CLOCK = SystemClock()


def told(*command: str) -> dict[str, Any]:
    """What this box tells, as it comes out of the connection."""
    here = Path.cwd()
    facts = tell(command, ["pytest"], [], disk=here, before=(), environment=os.environ)
    at = iso(CLOCK.now())
    value: dict[str, Any] = strictjson.loads(strictjson.dumps({**facts, "node": "n", "at": at}))
    return value


@pytest.fixture(scope="module")
def facts() -> dict[str, Any]:
    return told(sys.executable, "train.py")


def subject(folder: Path, facts: Mapping[str, Any], campaign: str) -> Subject:
    path = folder / "campaign.yaml"
    path.write_text(f"campaign: c\ncontrol: {{}}\nprovider: local\n{campaign}\n")
    draft = draw_up(load_campaign(path), CLOCK, on="local")
    trusting = Trusting(draft=draft, home=Home(folder / "home"), clock=CLOCK, tell=print)
    return subject_of(facts, trusting)


def found(here: Subject, facts: Mapping[str, Any], reading: Reading | None = None) -> dict[str, Finding]:
    absent = Reading(path=Path("lastro.lock"), state=State.ABSENT)
    return {one.code: one for one in judge(here, facts, reading or absent, CLOCK.now())}


def locked(here: Subject, **changes: Any) -> Reading:
    answer = Answer(at="2026-11-30", node_id="n", facts={**facts_of(here), **changes})
    return Reading(
        path=Path("lastro.lock"), state=State.READ, lock=Lock(campaign="c", answers={"cpu": answer})
    )


def test_what_is_wanted_is_compared_with_what_the_machine_tells(
    tmp_path: Path, facts: dict[str, Any]
) -> None:
    here = subject(
        tmp_path,
        facts,
        f"command: {sys.executable} train.py\n"
        "want: {python: '>=9', pytest: '>=8', memory: '>=1 MB', disk: 1000 PB, gpu: RTX 4090}",
    )

    one = found(here, facts)

    levels = {code: finding.level for code, finding in one.items()}
    assert (levels["python_version"], levels["packages"]) == (Level.FAIL, Level.PASS)
    assert (levels["memory"], levels["disk_space"], levels["gpu"]) == (Level.PASS, Level.FAIL, Level.FAIL)
    assert one["clock_offset"].level is Level.PASS and one["lock_missing"].level is Level.PASS


def test_a_machine_is_held_to_the_lock_fact_by_fact(tmp_path: Path, facts: dict[str, Any]) -> None:
    here = subject(tmp_path, facts, f"command: {sys.executable} train.py")
    other = {"architecture": "pdp11", "package.pytest": "1.0"}

    assert found(here, facts, locked(here))["lock"].level is Level.PASS
    assert {code for code, one in found(here, facts, locked(here, **other)).items() if one.forbids} == {
        "lock.architecture",
        "lock.package.pytest",
    }


@pytest.mark.parametrize(
    "campaign",
    [
        "command: python train.py\nsetup: pip install -r requirements.txt",
        "command: .venv/bin/python train.py",
    ],
)
def test_software_that_is_still_to_come_is_no_fault_yet_and_no_proof(tmp_path: Path, campaign: str) -> None:
    command = campaign.removeprefix("command: ").splitlines()[0].split()
    facts = told(*command)
    here = subject(tmp_path, facts, f"{campaign}\nwant: {{no-such-package: '>=1', python: '>=9'}}")
    full = locked(here, architecture="pdp11", **{"package.no-such-package": "1.0", "python": "9.0"})

    one = found(here, facts, full)

    assert one["packages"].level is one["python_version"].level is one["lock"].level is Level.NO_ANSWER
    assert "may still bring it" in str(one["python_version"].expected)
    assert {code for code, finding in one.items() if finding.forbids} == {"lock.architecture"}


def test_a_clock_far_off_and_a_full_disk_are_told(tmp_path: Path, facts: dict[str, Any]) -> None:
    here = subject(tmp_path, facts, f"command: {sys.executable} train.py")
    late = iso(CLOCK.now() - timedelta(minutes=20))

    one = found(here, {**facts, "at": late, "free": 0, "names_free": 9})

    assert one["clock_offset"].level is Level.FAIL and "-1200 s" in one["clock_offset"].value
    assert (one["disk_space"].level, one["disk_inodes"].level) == (Level.FAIL, Level.WARN)


def test_the_image_and_the_cards_that_the_job_would_see_are_those_of_its_own_environment(
    tmp_path: Path, facts: dict[str, Any]
) -> None:
    versions = {
        **facts["versions"],
        "environment": {"LASTRO_IMAGE": "a@sha256:1", "CUDA_VISIBLE_DEVICES": "7"},
    }
    here = subject(tmp_path, {**facts, "versions": versions}, f"command: {sys.executable} train.py")

    card = {"index": 0, "name": "RTX 4090", "uuid": "GPU-1", "memory_bytes": 24 * 10**9}
    driver = {**facts["driver"], "state": "answered", "why": None, "version": "580.65", "cards": [card]}
    seen = found(replace(here, driver=type(here.driver).from_json(driver)), facts)

    assert here.image == "a@sha256:1"
    assert seen["gpu_visible"].level is Level.FAIL and "7 is no card" in seen["gpu_visible"].value

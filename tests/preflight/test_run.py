from __future__ import annotations

import sys
import time
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from lastro import strictjson
from lastro.clock import SystemClock
from lastro.errors import PreflightFailed
from lastro.preflight.budget import Step, Yielded
from lastro.preflight.check import Finding, Level, Subject, verdict_of
from lastro.preflight.lock import Reading, State, Value
from lastro.preflight.run import Extra, Looked, Report, Scope, driver_seconds, examine, preflight
from lastro.preflight.size import TRIAL, Due, Size
from lastro.spec.load import load_campaign

from .subjects import subject


def run(folder: Path, want: str) -> Report:
    path = folder / "campaign.yaml"
    path.write_text(f"campaign: c\ncommand: {sys.executable} train.py\ncontrol: {{}}\nwant: {want}\n")
    loaded = load_campaign(path)
    return preflight(loaded.spec, loaded.folder, folder / "disk")


def test_a_good_machine_is_told_as_json_and_left_as_it_was(tmp_path: Path) -> None:
    report = run(tmp_path, "{python: '>=3.10', pytest: '>=8', memory: '>=1 MB', disk: 1 MB}")
    value = strictjson.loads(strictjson.dumps(report.as_json()))

    assert value["verdict"] in ("pass", "warn") and report.failed == ()
    assert [item["code"] for item in value["findings"]][:4] == [
        "command",
        "python_version",
        "packages",
        "memory",
    ]
    assert value["node_id"] == value["stack"]["node"]
    assert value["size"] == "canary" and value["budget_s"] <= 60
    assert {"host", "lock"} <= {step["name"] for step in value["steps"]}
    report.require_trust()
    assert [path.name for path in tmp_path.iterdir()] == ["campaign.yaml"]


def test_what_fails_is_named_with_its_next_step(tmp_path: Path) -> None:
    report = run(tmp_path, "{python: '>=9.9'}")

    with pytest.raises(PreflightFailed, match=r"Python of the job: .*>=9\.9") as caught:
        report.require_trust()
    assert (report.verdict, caught.value.exit_code) == (Level.FAIL, 4)
    assert caught.value.hint


@pytest.mark.parametrize(
    ("levels", "verdict"),
    [
        ([], Level.PASS),
        ([Level.PASS, Level.NO_ANSWER], Level.PASS),
        ([Level.WARN, Level.PASS], Level.WARN),
        ([Level.WARN, Level.FAIL], Level.FAIL),
        ([Level.WARN, Level.NO_ANSWER], Level.WARN),
    ],
)
def test_the_verdict_is_the_worst_that_was_answered(levels: list[Level], verdict: Level) -> None:
    findings = tuple(Finding(code="x", level=level, fact="x", value="x") for level in levels)

    assert verdict_of(findings) is verdict


def test_no_answer_to_what_is_required_is_a_verdict_of_its_own_and_forbids() -> None:
    silent = Finding(code="x", level=Level.NO_ANSWER, fact="x", value="x", required=True)
    worse = Finding(code="y", level=Level.FAIL, fact="y", value="y")

    assert silent.forbids
    assert (verdict_of([silent]), verdict_of([silent, worse])) == (Level.NO_ANSWER, Level.FAIL)


@pytest.mark.parametrize(("gone", "seconds"), [(0.0, 5.0), (1.5, 3.5), (2.0, 3.0), (60.0, 3.0)])
def test_a_driver_has_five_seconds_from_the_command_on_and_three_at_least(
    gone: float, seconds: float
) -> None:
    assert driver_seconds(gone) == seconds


def test_what_is_gone_since_the_command_is_taken_off_the_last_step_and_no_size_grows(tmp_path: Path) -> None:
    """Of the 56 s of --cpu 40 are gone before the trial: it has 16 left, less what the other steps take."""
    given: list[float] = []

    def work(_subject: Subject, seconds: float, _locked: Mapping[str, Mapping[str, Value]]) -> list[Yielded]:
        given.append(seconds)
        return []

    here = replace(subject(tmp_path), cpu_only=True, look_seconds=40.0)
    host = Step(name="host", budget_seconds=10.0, seconds=10.0, findings=())
    scope = Scope(due=Due(size=Size.CPU, why=""), extras={TRIAL: Extra(work)})
    began = time.monotonic()

    report = examine(
        Looked(subject=here, host=host), Reading(path=tmp_path, state=State.ABSENT), scope, SystemClock()
    )

    assert 16.0 - (time.monotonic() - began) <= given[0] <= 16.0
    assert [step.name for step in report.steps] == ["host", "lock", "launch", "io", "trial"]
    assert report.seconds >= 40.0

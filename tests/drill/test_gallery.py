"""The gallery: trainers that resume wrongly and rightly. Half were unseen when the rules were made."""

from __future__ import annotations

import ast
import json
import os
import subprocess
import sys
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

GALLERY = Path(__file__).parent / "gallery"
OWN_SAVES = ("--checkpoints", "saves/step-*.pt", "--resume-arg", "--resume {latest}")
_VERDICTS = {"different": ("different",), "exact": ("exact",), "noise": ("within_noise", "exact")}
#: Jobs at once.
_AT_ONCE = 4


def expected(script: Path) -> Mapping[str, Any]:
    """The literal `EXPECT` at the top of a script."""
    for statement in ast.parse(script.read_text()).body:
        if isinstance(statement, ast.Assign) and ast.unparse(statement.targets[0]) == "EXPECT":
            value: Mapping[str, Any] = ast.literal_eval(statement.value)
            return value
    raise AssertionError(f"{script} says not what is expected of it")


def drill(script: Path, folder: Path, *options: str) -> dict[str, Any]:
    """Drill one script as its user would."""
    job = folder / script.stem / "job"
    job.mkdir(parents=True)
    (job / script.name).write_bytes(script.read_bytes())
    saves = () if "lastro.attach()" in script.read_text() else OWN_SAVES
    command = [
        sys.executable,
        "-m",
        "lastro.cli",
        "drill",
        "--json",
        *options,
        *saves,
        "--",
        "python",
        script.name,
    ]
    environment = {**os.environ, "LASTRO_HOME": str(folder / script.stem / "home")}
    done = subprocess.run(command, cwd=job, env=environment, capture_output=True, text=True, check=False)
    assert done.stdout, done.stderr
    result: dict[str, Any] = json.loads(done.stdout)
    return result


def judge(script: Path, result: Mapping[str, Any]) -> tuple[bool, bool | None, str]:
    """Say whether the verdict is right, whether the cause is (None: there is none to name), and a line."""
    want = expected(script)
    right = result.get("verdict") in _VERDICTS[want["verdict"]]
    cause = (result.get("cause") or {}).get("kind")
    named = None if want["cause"] is None else cause in (want["cause"], *want["also"])
    line = f"{script.stem}: {want['verdict']} {want['cause']}, told {result.get('verdict')} {cause}"
    return right, named, f"{line}; {result.get('why', result)}"


@pytest.mark.long
@pytest.mark.timeout(3 * 3600)
@pytest.mark.parametrize("half", ["open", "blind"])
def test_the_verdict_is_right_on_all_and_the_cause_on_nine_of_ten(half: str, tmp_path: Path) -> None:
    scripts = sorted((GALLERY / half).glob("*.py"))
    assert len(scripts) > 30
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        judged = list(pool.map(lambda script: judge(script, drill(script, tmp_path)), scripts))
    wrong = [line for right, _named, line in judged if not right]
    named = [cause for _right, cause, _line in judged if cause is not None]

    assert wrong == []
    assert sum(named) >= 0.9 * len(named), [line for _right, cause, line in judged if cause is False]


@pytest.mark.long
@pytest.mark.timeout(3600)
@pytest.mark.parametrize(
    ("name", "agrees", "put_back"),
    [
        ("api_optimizer_untracked", "agrees", [["optimizer"]]),
        ("plain_average_from_weights", "agrees", [["ema"]]),
        ("plain_temperature", "not_tried", [[]]),
    ],
)
def test_the_cause_is_checked_by_putting_it_back(
    name: str, agrees: str, put_back: list[list[str]], tmp_path: Path
) -> None:
    result = drill(GALLERY / f"open/{name}.py", tmp_path)

    assert result["verdict"] == "different"
    assert result["check"]["answer"] == agrees, result["check"]
    assert [trial["put_back"] for trial in result["check"]["trials"]] == put_back


@pytest.mark.long
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("name", ["open/api_validation", "blind/plain_validation_between"])
def test_every_kind_of_kill_is_made_and_survived(name: str, tmp_path: Path) -> None:
    result = drill(GALLERY / f"{name}.py", tmp_path, "--full")

    assert result["verdict"] == "exact", result
    assert [arm["name"] for arm in result["arms"][:-1]] == [
        "between", "save", "twice", "epoch", "term", "notice", "validation",
    ]  # fmt: skip
    assert all(arm["measured"] for arm in result["arms"])
    assert not list((tmp_path / Path(name).name / "home" / "drill").glob("*/*")), "nothing large stays"

"""Each mechanism that a promise rests on is missed by its test when it is taken away."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.mechanisms.table import MECHANISMS, Mechanism

ROOT = Path(__file__).resolve().parents[2]
SOURCE = ROOT / "src" / "lastro"


def _name(mechanism: Mechanism) -> str:
    return mechanism.name


@pytest.mark.parametrize("mechanism", MECHANISMS, ids=_name)
def test_the_mechanism_stands_where_the_table_says(mechanism: Mechanism) -> None:
    assert (SOURCE / mechanism.file).read_text().count(mechanism.old) == 1
    file, _colons, name = mechanism.test.partition("::")
    assert f"def {name}(" in (ROOT / file).read_text()


def _run(root: Path, test: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", "--timeout", "200", test],
        cwd=root,
        env={**os.environ, "PYTHONPATH": str(root / "src")},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.long
@pytest.mark.timeout(900)
@pytest.mark.parametrize("mechanism", MECHANISMS, ids=_name)
def test_without_the_mechanism_its_test_fails(mechanism: Mechanism, tmp_path: Path) -> None:
    for part in ("src", "tests", "docs", "examples"):
        shutil.copytree(ROOT / part, tmp_path / part, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    place = tmp_path / "src" / "lastro" / mechanism.file
    place.write_text(place.read_text().replace(mechanism.old, mechanism.new))

    done = _run(tmp_path, mechanism.test)

    assert done.returncode == 1, done.stdout[-2000:] + done.stderr[-2000:]

"""Each mechanism that a promise rests on is missed by its test when it is taken away."""

from __future__ import annotations

import os
import re
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
    assert f"def {name.partition('[')[0]}(" in (ROOT / file).read_text()


def test_every_row_of_the_table_of_failures_hangs_on_a_mechanism() -> None:
    """A row whose mechanism nobody has named could be a promise that no line of code keeps."""
    known = {mechanism.test.partition("[")[0] for mechanism in MECHANISMS}
    rows = [
        re.findall(r"`(tests/[^`]+::[^`]+)`", line)
        for line in (ROOT / "docs" / "reliability.md").read_text().splitlines()
        if line.startswith("| ")
    ]

    assert [row for row in rows if row and known.isdisjoint(row)] == []


def _python(test: str) -> str:
    """Return the Python that has what a test needs: the frameworks are in an environment of their own."""
    apart = ROOT / ".venv-adapters" / "bin" / "python"
    if not test.startswith("tests/adapters/"):
        return sys.executable
    if not apart.exists():
        pytest.skip("needs the frameworks: make test-adapters installs them")
    return str(apart)


#: Of pytest: a test may be a long one, and the first failure is enough.
_OPTIONS = "-x -q -p no:cacheprovider --timeout 200 -m".split()  # noqa: SIM905


def _run(root: Path, test: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [
            _python(test),
            "-m",
            "pytest",
            *["-x", "-q", "-p", "no:cacheprovider", "--timeout", "200", "-m"],
            "",
            test,
        ],
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
        # With its bytecode, which knows its source by time and size: only what is changed is compiled again.
        shutil.copytree(ROOT / part, tmp_path / part)
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    place = tmp_path / "src" / "lastro" / mechanism.file
    place.write_text(place.read_text().replace(mechanism.old, mechanism.new))

    done = _run(tmp_path, mechanism.test)

    assert done.returncode == 1, done.stdout[-2000:] + done.stderr[-2000:]

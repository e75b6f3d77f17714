"""The list of benchmarks is complete, and each of them returns figures. Nothing is timed here."""

from __future__ import annotations

import importlib
import subprocess
import sys
import typing
from pathlib import Path

import pytest

from benchmarks.__main__ import NAMES
from benchmarks.result import Measure, Result, median

ROOT = Path(__file__).resolve().parents[2]


def test_every_module_that_measures_is_in_the_list() -> None:
    modules = {path.stem for path in (ROOT / "benchmarks").glob("*.py")}

    assert {name for name in modules if "\ndef run()" in (ROOT / f"benchmarks/{name}.py").read_text()} == set(
        NAMES
    )


@pytest.mark.parametrize("name", NAMES)
def test_a_benchmark_takes_nothing_and_returns_a_result(name: str) -> None:
    module = importlib.import_module(f"benchmarks.{name}")

    assert typing.get_type_hints(module.run) == {"return": Result}


@pytest.mark.parametrize("name", NAMES)
def test_every_benchmark_is_documented(name: str) -> None:
    assert f"## {name}\n" in (ROOT / "docs" / "benchmarks.md").read_text()


def test_an_unknown_name_is_refused_before_anything_is_measured() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks", "speed"], cwd=ROOT, capture_output=True, text=True, check=False
    )

    assert done.returncode == 2
    assert "speed" in done.stderr and "supervisor" in done.stderr


def test_a_figure_meets_its_target_when_it_is_not_above_it() -> None:
    exactly, above = (
        median("a", [1.0, 2.0, 6.0], "s", 2.0),
        Measure(name="b", value=2.1, unit="s", target=2.0),
    )

    assert (exactly.value, exactly.spread, exactly.ratio, exactly.met) == (2.0, (1.0, 6.0), 1.0, True)
    assert above.met is False
    assert Measure(name="c", value=9.0, unit="s").met is None

"""docs/preflight.md has a row for each check, with the bound's source, and the budgets as they are."""

from __future__ import annotations

import re
from pathlib import Path

from lastro.preflight.lock_drift import RULES, Rule
from lastro.preflight.risk import NEVER
from lastro.preflight.size import BUDGETS, Size, seconds_of
from lastro.preflight.sources import SOURCES
from tests.docs.markdown import rows

from .test_faults import IN_THE_DRIVER, OUTSIDE_THE_DRIVER

PAGE = (Path(__file__).parents[2] / "docs" / "preflight.md").read_text(encoding="utf-8")
CHECKS = (Path(__file__).parents[2] / "docs" / "preflight-checks.md").read_text(encoding="utf-8")
ROOM = Path(__file__).parents[2] / "src" / "lastro" / "preflight"


def section(title: str) -> str:
    return PAGE.split(f"# {title}\n", 1)[1].split("\n## ", 1)[0]


def test_each_check_has_its_row_with_the_source_of_its_bound() -> None:
    told = {cells[0].strip("`"): cells[3] for cells in rows(section("The checks")) if cells[0] != "code"}

    assert told == dict(SOURCES)


def test_each_code_in_the_sources_has_a_source() -> None:
    text = "\n".join(path.read_text(encoding="utf-8") for path in sorted(ROOM.glob("**/*.py")))
    codes = set(re.findall(r'Finding\(\s*code="(\w+)"', text)) | set(
        re.findall(r'_finding\(\s*card,\s*"(\w+)"', text)
    )

    assert {"gpu_ecc", "gpu_throttled", "kernel", "trial"} <= codes
    assert codes - set(SOURCES) == set()


def test_the_budgets_are_the_real_ones() -> None:
    told = [cells for cells in rows(section("How much is due")) if len(cells) == 5 and cells[0] != "step"]
    order = (Size.CANARY, Size.FULL, Size.BURN_IN, Size.CPU)
    real = [
        [name, *(f"{BUDGETS[size][name]:g}" if name in BUDGETS[size] else "–" for size in order)]
        for name in BUDGETS[Size.BURN_IN]
    ]

    assert told == [*real, ["all", *(f"{seconds_of(size):g}" for size in order)]]


def test_what_nobody_may_accept_is_told() -> None:
    paragraph = section("The verdict").rpartition("Nobody can accept")[2]

    assert set(re.findall(r"`(\w+)`", paragraph)) == NEVER


def test_how_each_locked_fact_is_compared_is_told() -> None:
    table = {cells[0]: cells[1] for cells in rows(PAGE.split("### What is locked")[1])}
    words = {Rule.EXACT: "exactly", Rule.NEAR: "within 1 %", Rule.NOTE: "told"}

    for name, rule in RULES.items():
        row = next(rule_text for facts, rule_text in table.items() if f"`{name}`" in facts)
        assert row.startswith(words[rule]), name


def test_each_code_has_its_file_and_a_test_in_the_table_of_what_is_asked() -> None:
    root = ROOM.parents[2]
    table = [cells for cells in rows(CHECKS.split("\n## ", 1)[0]) if cells[0] != "what is asked"]
    codes = [code for cells in table for code in re.findall(r"`([^`]+)`", cells[1])]

    assert sorted(codes) == sorted(SOURCES)
    for cells in table:
        files, tests = (re.findall(r"`([^`]+)`", cell) for cell in cells[2:4])
        assert files and tests, cells
        assert all((ROOM.parent / file).is_file() for file in files), files
        for file, name in (test.split("::") for test in tests):
            assert f"def {name}(" in (root / file).read_text(encoding="utf-8"), name


def test_the_number_of_faults_that_are_tried_is_told() -> None:
    tried = len(IN_THE_DRIVER) + len(OUTSIDE_THE_DRIVER)

    assert tried >= 60
    assert f"| {tried} faults and drifts, all of them |" in CHECKS

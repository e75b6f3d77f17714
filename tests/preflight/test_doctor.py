from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta, timezone
from pathlib import Path

import pytest

from lastro.preflight import doctor
from lastro.preflight.doctor import Health, can_run, examine
from lastro.stack import capture


def test_everything_has_its_line_and_what_is_not_well_its_cost_and_cure(tmp_path: Path) -> None:
    found = examine(tmp_path / "home", tmp_path / "disk")

    assert {"python", "system", "home", "disk", "shared_memory", "clock"} <= {item.code for item in found}
    assert all((item.health is Health.OK) == (item.cost is None) == (item.cure is None) for item in found)
    assert can_run(found)
    assert list(tmp_path.iterdir()) == []


def test_a_home_that_cannot_be_written_lets_nothing_run(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")

    found = examine(tmp_path / "file" / "home", tmp_path)

    home = next(item for item in found if item.code == "home")
    assert home.health is Health.MISSING
    assert not can_run(found)


def test_a_disk_that_cannot_be_written_is_missing_and_no_reason_to_give_up(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")

    found = examine(tmp_path, tmp_path / "file" / "disk")

    assert next(item for item in found if item.code == "disk").health is Health.MISSING
    assert can_run(found)


def test_an_old_python_and_another_system_let_nothing_run() -> None:
    assert not can_run((doctor._python((3, 9, 1)),))
    assert can_run((doctor._python((3, 10, 0)),))
    assert not can_run((doctor._system("Darwin", False),))
    assert not can_run((doctor._system("Linux", False),))


def test_what_is_not_installed_says_what_it_costs() -> None:
    found = {item.code: item for item in doctor._packages(lambda name: name != "torch")}

    assert found["package.torch"].health is Health.MISSING
    assert found["package.xxhash"].health is Health.OK
    assert all(item.health is Health.WEAKER for item in doctor._programs(lambda _name: None))


def test_a_clock_before_its_own_installation_is_wrong() -> None:
    now = datetime(2026, 11, 30, tzinfo=timezone.utc)

    assert doctor._clock(now, now + timedelta(days=1)).health is Health.WEAKER
    assert doctor._clock(now, now - timedelta(days=1)).health is Health.OK


def test_a_group_that_may_be_written_is_found(tmp_path: Path) -> None:
    (tmp_path / "cgroup").write_text("0::/lastro\n")
    (tmp_path / "lastro").mkdir()

    assert doctor._own_cgroup(tmp_path / "cgroup", tmp_path) is None
    (tmp_path / "lastro" / "cgroup.procs").touch()
    assert doctor._own_cgroup(tmp_path / "cgroup", tmp_path) == tmp_path / "lastro"


@pytest.mark.parametrize(("size", "health"), [(None, "weaker"), (64 * 2**20, "weaker"), (2**30, "ok")])
def test_the_shared_memory_of_a_container_is_told(size: int | None, health: str) -> None:
    assert doctor._shared_memory(replace(capture(), shared_memory_bytes=size)).health.value == health

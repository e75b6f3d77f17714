"""Samples of real processes; the NVIDIA client library is the real one, before a stand-in for its driver."""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from lastro import strictjson
from lastro.paths import RunFolder
from lastro.procs.killtree import end_tree, members
from lastro.run.gpus import Gpus
from lastro.run.telemetry import pause
from tests.run import fake_nvml
from tests.run.jobs import events_of, order_for, start_supervisor, wait_for


def lines(folder: RunFolder, number: int = 1) -> list[dict[str, Any]]:
    data = folder.attempt(number).telemetry.read_bytes()
    return [strictjson.loads(line) for line in data.splitlines()]


def samples(folder: RunFolder) -> list[dict[str, Any]]:
    return [line for line in lines(folder) if "rss" in line]


_WORKS = """
import os, subprocess, sys, time
worker = subprocess.Popen([sys.executable, "-c", "while True: pass"])
kept = bytearray(os.urandom(1 << 20) * 64)
with open(os.environ["LASTRO_OUTPUTS"] + "/big", "wb") as file:
    file.write(kept)
    file.flush()
    os.fsync(file.fileno())
time.sleep(2.5)
worker.kill()
"""


def test_a_job_is_sampled_with_its_children_soon_after_its_start(tmp_path: Path) -> None:
    folder, _order = order_for(tmp_path, sys.executable, "-c", _WORKS)

    assert start_supervisor(folder).wait(60) == 0

    found = samples(folder)
    times = [sample["t"] for sample in found]
    assert len(found) >= 3 and times == sorted(times) and times[0] < 2.0
    assert max(sample["processes"] for sample in found) >= 3  # shim, job, worker
    assert max(sample["cpu"] for sample in found if sample["cpu"] is not None) > 0.1
    assert max(sample["rss"] for sample in found) > 64 << 20
    assert max(sample["written"] for sample in found) >= 64 << 20
    assert all(0 < sample["memory"] < sample["limit"] for sample in found)
    assert all(sample["free"] > 0 for sample in found)


@pytest.mark.parametrize(
    ("age", "cost", "seconds"),
    [(0.0, 0.001, 0.5), (1.0, 0.001, 1.0), (3600.0, 0.001, 5.0), (36000.0, 0.001, 50.0), (1e7, 0.001, 60.0),
     (100.0, 0.05, 25.0), (1.0, 0.05, 1.0)],
)  # fmt: skip
def test_the_pace_is_fast_at_first_and_slow_with_age_or_where_a_look_is_dear(
    age: float, cost: float, seconds: float
) -> None:
    assert pause(age, cost) == pytest.approx(seconds)


def test_a_month_of_samples_is_a_small_file() -> None:
    age, count = 0.0, 0
    while age < 30 * 86400:
        age += pause(age, 0.003)
        count += 1

    assert count < 60_000


def test_gpus_are_sampled_through_the_client_library(tmp_path: Path) -> None:
    facts = {"use_percent": 93, "memory_used": 5 << 30, "temperature": 81, "reasons": 0x41, "second_lost": 0}
    variables = fake_nvml.environment(tmp_path, **facts)
    folder, _order = order_for(tmp_path, "sleep", "3")

    start_supervisor(folder, **variables).wait(60)

    (devices,) = [line["devices"] for line in lines(folder) if "devices" in line]
    assert devices[0] == {
        "name": "NVIDIA Stand-In", "uuid": "GPU-0", "memory": 24 << 30, "power_limit": 450.0,
    }  # fmt: skip
    gpus = [sample["gpus"] for sample in samples(folder) if sample.get("gpus")]
    assert gpus[-1][1] == {
        "use": 0.93, "memory": 5 << 30, "power": None, "temperature": 81, "held_back": ["hardware_thermal"],
    }  # fmt: skip
    assert [line["gpu_level"] for line in lines(folder) if "gpu_level" in line] == ["nvml"]


@pytest.fixture
def gpus() -> Iterator[list[Gpus]]:
    made: list[Gpus] = []
    yield made
    for each in made:
        each.close()


def _answer(gpus: Gpus) -> dict[str, Any]:
    gpus.ask(0.0)
    deadline = time.monotonic() + 60
    while (told := gpus.answer(0.0)) is None and time.monotonic() < deadline:
        time.sleep(0.02)
    assert told is not None
    return told


def test_a_card_that_fell_off_the_bus_is_null_and_the_other_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, gpus: list[Gpus]
) -> None:
    for name, value in fake_nvml.environment(tmp_path, use_percent=50, second_lost=1).items():
        monkeypatch.setenv(name, value)
    asked = Gpus()
    gpus.append(asked)

    first, second = _answer(asked)["gpus"]
    assert first["use"] == 0.5
    assert set(second.values()) == {None}


def test_a_driver_that_hangs_blocks_nothing_and_is_left_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, gpus: list[Gpus]
) -> None:
    for name, value in fake_nvml.environment(tmp_path, sleep=3600).items():
        monkeypatch.setenv(name, value)
    asked = Gpus(patience=5.0)
    gpus.append(asked)

    asked.ask(0.0)
    states = [(asked.answer(now), asked.waiting) for now in (1.0, 5.1)]
    asked.ask(6.0)

    assert states == [(None, True), (None, False)]
    assert (asked.level, asked.waiting) == ("silent", False)


def test_a_hanging_driver_delays_no_job_and_no_sample(tmp_path: Path) -> None:
    folder, _order = order_for(tmp_path, "sleep", "2.5")

    assert start_supervisor(folder, **fake_nvml.environment(tmp_path, sleep=3600)).wait(60) == 0

    assert len(samples(folder)) >= 2
    assert events_of(folder, 1)[-1].facts["verdict"] == "completed"
    wait_for(lambda: not _askers(tmp_path))


def test_a_supervisor_that_is_killed_leaves_nobody_behind_in_the_driver(tmp_path: Path) -> None:
    folder, _order = order_for(tmp_path, "sleep", "600")
    supervisor = start_supervisor(folder, **fake_nvml.environment(tmp_path, sleep=3600))
    wait_for(lambda: bool(_askers(tmp_path)))

    try:
        os.kill(supervisor.pid, signal.SIGKILL)
        supervisor.wait(60)
        wait_for(lambda: not _askers(tmp_path))
    finally:
        end_tree(("LASTRO_ATTEMPT", str(folder.attempt(1).root)))


def _askers(tmp_path: Path) -> list[int]:
    """Return the processes that ask the stand-in of this test and have got as far as its first call."""
    marker = ("FAKE_NVML", str(tmp_path / "nvidia" / "facts"))
    found = []
    for process in members(marker).all:
        with contextlib.suppress(OSError):
            command = Path(f"/proc/{process.pid}/cmdline").read_bytes()
            loaded = "libnvidia-ml" in Path(f"/proc/{process.pid}/maps").read_text()
            found += [process.pid] if b"lastro.run.nvml" in command and loaded else []
    return found


def test_a_machine_without_a_driver_is_a_weaker_level_told_once(tmp_path: Path) -> None:
    folder, _order = order_for(tmp_path, "sleep", "2.5")

    start_supervisor(folder, **fake_nvml.environment(tmp_path, no_driver=1)).wait(60)

    assert [line["gpu_level"] for line in lines(folder) if "gpu_level" in line] == ["no_driver"]


def test_without_the_client_library_nothing_is_started(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pynvml", None)

    asked = Gpus()
    asked.ask(time.monotonic())

    assert asked.level == "no_library"
    assert not asked.waiting

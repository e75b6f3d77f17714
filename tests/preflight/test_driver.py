"""The driver through the real nvidia-ml-py: whole, hung, slow, and heard while it works."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from lastro.preflight.check import Level, verdict_of
from lastro.preflight.gpu_driver import cuda_major, judge_absence, judge_answer
from lastro.preflight.gpu_xid import Xid, judge
from lastro.preflight.risk import NEVER
from lastro.preflight.watch import Watch, Watched, understood
from lastro.preflight.watch import judge as judge_watched
from lastro.stack.driver import ANSWERED, NO_LIBRARY, SILENT, Asking, Card, Driver, ask_driver

from .nvml.asked import environment


@pytest.mark.parametrize(
    ("state", "asking"),
    [
        ("hang = nvmlInitWithFlags\n", "nvmlInit"),
        ("hang = nvmlDeviceGetTotalEccErrors\n", "ecc_volatile"),
        ("slow_ms = 2000\n", ""),
    ],
)
def test_a_driver_that_hangs_is_left_behind_at_the_call_that_hung(
    library: Path, tmp_path: Path, state: str, asking: str
) -> None:
    (tmp_path / "state").write_text(state)

    driver = ask_driver(3.0, environment(library, tmp_path / "state"))

    finding = judge_answer(driver, wanted=False)
    assert (driver.state, finding.code, finding.level) == (SILENT, "driver_silent", Level.NO_ANSWER)
    assert asking in (driver.asking or "") and str(driver.asking) in finding.value
    assert finding.required and verdict_of([finding]) is Level.NO_ANSWER


def test_what_was_done_meanwhile_is_none_of_the_drivers_time(library: Path, tmp_path: Path) -> None:
    """Somebody comes back after the deadline of a driver that has answered long ago."""
    (tmp_path / "state").write_text("count = 1\n")
    asking = Asking(2.0, environment(library, tmp_path / "state"))
    time.sleep(2.1)

    driver = asking.answer()

    assert (driver.state, len(driver.cards)) == (ANSWERED, 1) and driver.seconds < 2.0


def test_without_a_library_nothing_is_covered_and_other_makers_are_named() -> None:
    nothing = Driver(state=NO_LIBRARY)

    unasked = judge_absence(nothing, wanted=False, other=None, paid=None)
    amd = judge_absence(nothing, wanted=True, other="AMD", paid=None)
    wanted = judge_absence(nothing, wanted=True, other=None, paid=None)
    paid = judge_absence(nothing, wanted=False, other=None, paid="RTX 4090")

    assert (unasked.level, unasked.forbids) == (Level.NO_ANSWER, False)
    assert "AMD: not covered" in amd.value and amd.level is Level.NO_ANSWER
    assert wanted.level is Level.FAIL and wanted.next_step
    assert paid.level is Level.WARN and "RTX 4090" in str(paid.expected)


@pytest.mark.parametrize(
    ("installed", "major"),
    [
        ({"torch": "2.13.0+cu130"}, 13),
        ({"torch": "2.13.0", "nvidia-cuda-runtime-cu12": "12.8.90"}, 12),
        ({"torch": "2.13.0", "nvidia-cuda-runtime": "13.0.48"}, 13),
        ({"torch": "2.13.0+cpu"}, None),
        ({}, None),
    ],
)
def test_the_cuda_of_pytorch_is_told_by_its_build_or_by_what_it_brings(
    installed: dict[str, str], major: int | None
) -> None:
    assert cuda_major(installed) == major


def test_an_event_is_heard_while_it_is_watched(library: Path, tmp_path: Path) -> None:
    state = tmp_path / "state"
    state.write_text("count = 2\n")
    watch = Watch(environment(library, state))
    deadline = time.monotonic() + 30
    while not watch.begun and time.monotonic() < deadline:
        time.sleep(0.02)
    state.write_text("count = 2\n1.xid = 79\n1.use = 99\n1.throttle = 0x40\n")
    while not watch.events and time.monotonic() < deadline:
        time.sleep(0.02)

    seen = watch.end()

    assert seen.events == (Xid(code=79, card=1),) and seen.watched == (0, 1) and seen.lost is None
    cards = [Card(index=0, name="A"), Card(index=1, name="B")]
    codes = {finding.code for finding in judge_watched(seen, cards) if finding.level is Level.FAIL}
    assert "gpu_xid" in codes


def test_what_holds_a_card_back_counts_in_the_moments_with_load_only() -> None:
    card = Card(index=0, name="A", clock_max=1000, slowdown_at=90)
    idle = {"index": 0, "use": 0.1, "throttle": 0x40, "temperature": 40, "errors": {}}

    def codes(*samples: dict[str, object]) -> set[str]:
        watched = Watched(watched=(0,), samples=samples)
        return {one.code for one in judge_watched(watched, [card]) if one.level is Level.FAIL}

    assert codes(idle) == set()
    assert codes(idle, {**idle, "use": 0.9}) == {"gpu_throttled"}
    assert codes({**idle, "errors": {"use": 15}}) == {"gpu_lost"}


def test_no_event_is_not_seen_and_never_none() -> None:
    (quiet,) = judge([], [0], [], None)
    (deaf,) = judge([], [], [0], None)

    assert quiet.level is Level.PASS and "not seen" in quiet.value
    assert deaf.level is Level.NO_ANSWER


@pytest.mark.parametrize(
    ("code", "finding", "level"),
    [
        (79, "gpu_xid", Level.FAIL),
        (63, "gpu_xid", Level.FAIL),
        (31, "gpu_xid", Level.WARN),
        (92, "gpu_xid", Level.WARN),
        (48, "gpu_xid_corrupt", Level.FAIL),
        (95, "gpu_xid_corrupt", Level.FAIL),
    ],
)
def test_an_event_is_judged_by_its_code(code: int, finding: str, level: Level) -> None:
    (found,) = judge([Xid(code=code, card=0)] * 2, [0], [], None)

    assert (found.code, found.level) == (finding, level)
    assert (found.code in NEVER) == (finding == "gpu_xid_corrupt")


def test_a_watch_that_breaks_off_says_so() -> None:
    assert understood([{"watching": [0], "deaf": []}]).lost is not None
    assert understood([{"problem": "failed", "why": "Timeout"}]).lost == "Timeout"
    assert understood([{"watching": [0], "deaf": []}, {"end": True}]).lost is None

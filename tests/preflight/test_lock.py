"""lastro.lock: written by the first machine that passes, compared with from then on, not believed edited."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lastro import strictjson
from lastro.paths import Disk
from lastro.preflight.check import Level
from lastro.preflight.lock import (
    Answer,
    Lock,
    Reading,
    Relock,
    State,
    Value,
    copy_to_disk,
    filled,
    path_beside,
    read_lock,
    write_lock,
)
from lastro.preflight.lock_drift import judge_drift, judge_reading

ANSWER = Answer(
    at="2026-11-30T00:00:00Z",
    node_id="a" * 12,
    facts={"python": "3.11.7", "package.torch": "2.13.0", "build.torch": "cpu", "memory_bytes": 8 * 10**9},
    measured={"io_read": {"p50_seconds": 1e-4, "samples": 3000, "p999_seconds": None}},
)
LOCK = Lock(campaign="digits", answers={"cpu": ANSWER})


def test_what_is_written_is_read_again(tmp_path: Path) -> None:
    write_lock(tmp_path, LOCK)

    reading = read_lock(tmp_path, "digits")

    assert (reading.state, reading.lock, reading.digest) == (State.READ, LOCK, LOCK.digest)
    assert [finding.level for finding in judge_reading(reading, kind="cpu")] == []


@pytest.mark.parametrize(
    ("spoil", "state", "code"),
    [
        (lambda text: text[: len(text) // 2], State.CUT, "lock_cut"),
        (lambda _text: "", State.CUT, "lock_cut"),
        (lambda _text: "[]", State.CUT, "lock_cut"),
        (lambda text: text.replace('"lock": 1', '"lock": 2'), State.CUT, "lock_cut"),
        (lambda text: text.replace('"facts"', '"fact"'), State.CUT, "lock_cut"),
        (lambda text: text.replace("2.13.0", "2.12.0"), State.EDITED, "lock_edited"),
        (lambda text: text.replace('"digits"', '"letters"'), State.FOREIGN, "lock_campaign"),
    ],
)
def test_a_lock_that_lastro_did_not_write_is_a_finding(
    tmp_path: Path, spoil: object, state: State, code: str
) -> None:
    path = write_lock(tmp_path, LOCK)
    path.write_text(spoil(path.read_text()))  # type: ignore[operator]

    reading = read_lock(tmp_path, "digits")
    (finding,) = judge_reading(reading, kind="cpu")

    assert (reading.state, finding.code, finding.level) == (state, code, Level.FAIL)
    assert finding.consequence and "--relock" in str(finding.next_step)


def test_a_folder_in_the_place_of_a_lock_is_a_finding_too(tmp_path: Path) -> None:
    path_beside(tmp_path).mkdir()

    assert read_lock(tmp_path, "digits").state is State.CUT


def test_the_first_machine_locks_and_the_next_one_changes_nothing(tmp_path: Path) -> None:
    absent = read_lock(tmp_path, "digits")
    first = filled(absent, "digits", "cpu", ANSWER, None)
    assert first == LOCK
    write_lock(tmp_path, first)
    reading = read_lock(tmp_path, "digits")

    other = replace(ANSWER, node_id="b" * 12, facts={"python": "3.12.0"})

    assert filled(reading, "digits", "cpu", other, None) is None
    card = filled(reading, "digits", "gpu", other, None)
    assert card is not None and card.answers == {"cpu": ANSWER, "gpu": other}
    more = filled(reading, "digits", "cpu", replace(other, measured={"trial": {"loss_1": 0.5}}), None)
    assert more is not None and more.answers["cpu"].facts == ANSWER.facts
    assert set(more.answers["cpu"].measured) == {"io_read", "trial"}


def test_a_lock_is_made_anew_with_a_reason_that_it_keeps(tmp_path: Path) -> None:
    path = write_lock(tmp_path, LOCK)
    path.write_text(path.read_text()[:-20])
    relock = Relock(why="a newer torch", at="2026-12-01T00:00:00Z", replaces=LOCK.digest)

    made = filled(read_lock(tmp_path, "digits"), "digits", "cpu", ANSWER, relock)

    assert made is not None and made.digest != LOCK.digest
    write_lock(tmp_path, made)
    again = read_lock(tmp_path, "digits").lock
    assert again is not None and again.relock == relock


def test_an_edited_lock_is_not_filled(tmp_path: Path) -> None:
    edited = Reading(path=tmp_path, state=State.EDITED, lock=LOCK)

    assert filled(edited, "digits", "gpu", ANSWER, None) is None


def test_a_copy_goes_to_a_disk_that_has_the_campaign_and_to_no_other(tmp_path: Path) -> None:
    write_lock(tmp_path, LOCK)
    place = Disk(tmp_path / "disk").campaign("digits")

    copy_to_disk(tmp_path, place)
    assert not place.lock.exists()
    place.root.mkdir(parents=True)
    copy_to_disk(tmp_path, place)

    assert place.lock.read_bytes() == path_beside(tmp_path).read_bytes()


scalars = st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.floats(allow_nan=False) | st.text()
tables = st.dictionaries(st.text(min_size=1), scalars, max_size=4)


@given(facts=tables, measured=st.dictionaries(st.text(min_size=1), tables, max_size=2))
def test_any_lock_says_the_same_after_it_was_written(
    facts: dict[str, Value], measured: dict[str, dict[str, Value]]
) -> None:
    answer = Answer(at="x", node_id="y", facts=facts, measured=measured)
    lock = Lock(campaign="c", answers={"cpu": answer})
    value = strictjson.loads(strictjson.pretty(lock.as_json()))

    digest = value.pop("digest")

    assert digest == lock.digest
    assert Answer.from_json(value["answers"]["cpu"]).as_json() == strictjson.mark(answer.as_json())


@given(
    facts=st.dictionaries(
        st.sampled_from(["python", "package.a", "build.a", "gpu.count"]), st.text(), min_size=1
    )
)
def test_a_machine_is_itself(facts: dict[str, Value]) -> None:
    findings = list(judge_drift(Answer(at="x", node_id="y", facts=facts), facts, {}))

    assert [(finding.code, finding.level) for finding in findings] == [("lock", Level.PASS)]


def test_a_driver_that_the_campaign_allows_is_told_only() -> None:
    locked = Answer(at="x", node_id="y", facts={"gpu.driver": "570.1"})

    (strict,) = judge_drift(locked, {"gpu.driver": "575.2"}, {})
    allowed = next(iter(judge_drift(locked, {"gpu.driver": "575.2"}, {"driver": ">=570"})))

    assert (strict.level, allowed.level) == (Level.FAIL, Level.PASS)
    assert "570.1" in str(allowed.expected)


@pytest.mark.parametrize(("memory", "level"), [(79.2, Level.PASS), (80.8, Level.PASS), (79.1, Level.FAIL)])
def test_memory_may_differ_by_one_per_cent(memory: float, level: Level) -> None:
    locked = Answer(at="x", node_id="y", facts={"gpu.memory_bytes": 80.0})

    assert next(iter(judge_drift(locked, {"gpu.memory_bytes": memory}, {}))).level is level

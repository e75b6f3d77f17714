from __future__ import annotations

import pytest

from lastro.rules import HangPolicy, Silence, judge_silence

_USUAL = HangPolicy()


@pytest.mark.parametrize(
    ("silent", "idle", "longest", "hangs"),
    [
        (299, 299, 2.0, False),
        (300, 300, 2.0, True),  # five minutes where steps take seconds
        (599, 599, 60.0, False),  # ten times the longest step, when that is more
        (600, 600, 60.0, True),
        (1799, 10, 2.0, False),  # silent, but it works: an evaluation
        (1800, 10, 2.0, True),
        (5999, 10, 600.0, False),
        (6000, 10, 600.0, True),
        (1799, 1799, None, False),  # before a pace was shown
        (1800, 1800, None, True),
        (86400, 10, None, False),  # works without a word: nobody can tell how long that takes
    ],
)
def test_a_silence_is_judged_by_the_pace_that_was_shown(
    silent: float, idle: float, longest: float | None, hangs: bool
) -> None:
    why = judge_silence(_USUAL, Silence(silent=silent, idle=idle, longest=longest))

    assert (why is not None) is hangs


def test_switched_off_nothing_ever_hangs() -> None:
    assert judge_silence(HangPolicy(least=None), Silence(silent=1e9, idle=1e9, longest=1.0)) is None


def test_a_longer_patience_holds_for_each_of_the_limits() -> None:
    patient = HangPolicy(least=7200.0)

    assert judge_silence(patient, Silence(silent=7000, idle=7000, longest=1.0)) is None
    assert judge_silence(patient, Silence(silent=7000, idle=0, longest=1.0)) is None
    assert judge_silence(patient, Silence(silent=7000, idle=7000, longest=None)) is None


def test_the_reason_says_how_long_and_against_what() -> None:
    why = judge_silence(_USUAL, Silence(silent=310, idle=310, longest=2.5))

    assert why == "no sign of life for 5 min 10 s, where the longest step took 2.5 s"

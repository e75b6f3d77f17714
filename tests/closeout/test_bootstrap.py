"""Intervals, by hand where there is one, and by what they have to hold."""

from __future__ import annotations

from random import Random

import pytest

from lastro.closeout.bootstrap import mean_interval, paired_interval, seeds_interval


def test_three_seeds_by_hand() -> None:
    """0.90, 0.92, 0.94: mean 0.92, deviation 0.02, 4.303 x 0.02 / sqrt(3) = 0.04969."""
    found = seeds_interval([0.90, 0.92, 0.94])

    assert found is not None
    assert found.mean == pytest.approx(0.92)
    assert found.low == pytest.approx(0.87031, abs=1e-5)
    assert found.high == pytest.approx(0.96969, abs=1e-5)


def test_many_examples_by_hand() -> None:
    """5,000 zeros and 5,000 ones: deviation 0.500025, 1.96 x 0.500025 / 100 = 0.0098."""
    found = mean_interval([0.0, 1.0] * 5000)

    assert found is not None
    assert found.method == "normal"
    assert found.low == pytest.approx(0.4902, abs=1e-4)
    assert found.high == pytest.approx(0.5098, abs=1e-4)


def test_one_example_says_nothing_of_how_sure_it_is() -> None:
    assert mean_interval([1.0]) is None
    assert seeds_interval([0.9]) is None
    assert paired_interval({"a": 1.0}, {"b": 1.0}) is None


def test_the_same_scores_give_the_same_interval() -> None:
    scores = [Random(1).random() for _number in range(200)]

    assert mean_interval(scores) == mean_interval(list(scores))


def test_resampling_and_the_normal_interval_agree_where_they_meet() -> None:
    """80 % of 1,000: 1.96 x 0.4 / sqrt(1000) = 0.02479 to either side; drawn, to a fifth of it."""
    found = mean_interval([1.0] * 800 + [0.0] * 200)

    assert found is not None
    assert found.method == "bootstrap, 1000 resamples"
    assert found.mean - found.low == pytest.approx(0.02479, rel=0.2)
    assert found.high - found.mean == pytest.approx(0.02479, rel=0.2)


def test_pairs_are_surer_than_two_runs_by_themselves() -> None:
    """Both runs fail at the same half, but the variant is right once more in twenty."""
    control = {str(number): float(number % 2) for number in range(200)}
    variant = {name: 1.0 if int(name) % 20 == 0 else score for name, score in control.items()}

    paired, alone = paired_interval(control, variant), mean_interval(list(variant.values()))

    assert paired is not None
    assert alone is not None
    assert paired.mean == pytest.approx(0.05)
    assert paired.low > 0
    assert paired.high - paired.low < (alone.high - alone.low) / 2
    assert paired.method == "paired bootstrap, 1000 resamples"


def test_an_interval_holds_the_truth_about_as_often_as_it_says() -> None:
    """40 draws of 60 examples that are right three times in four; 95 % hold it, and 33 of 40 is far below."""
    dice = Random(7)
    held = 0
    for _draw in range(40):
        found = mean_interval([float(dice.random() < 0.75) for _example in range(60)])
        held += found is not None and found.low <= 0.75 <= found.high

    assert held >= 33

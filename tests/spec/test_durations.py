from __future__ import annotations

from pathlib import Path

import pytest

from lastro.errors import CampaignInvalid
from lastro.spec.durations import Durations, Hours, Rate, card, read_durations, read_rate
from lastro.spec.load import load_campaign


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("NVIDIA GeForce RTX 4090", "rtx-4090", True),
        ("RTX4090", "rtx 4090", True),
        ("A100 80GB", "A100 40GB", False),
        ("RTX 4070", "RTX 4070 Ti", False),
        ("Tesla V100", "V100", True),
    ],
)
def test_makers_spaces_and_capitals_do_not_tell_two_cards_apart(one: str, other: str, same: bool) -> None:
    assert (card(one) == card(other)) is same


def test_hours_for_each_card_and_for_any_other() -> None:
    read = read_durations({"RTX 4090": [8, 10, 14], "A100": {"hours": 5, "origin": "pilot"}, "any": 20})

    assert isinstance(read, Durations)
    assert read.on("rtx4090") == Hours(8, 10, 14)
    assert read.on("A100") == Hours(5, 5, 5, "pilot")
    assert read.on("H100") == Hours(20, 20, 20)


def test_hours_for_one_card_say_nothing_of_another() -> None:
    read = read_durations({"RTX 4090": 8})

    assert isinstance(read, Durations)
    assert read.on("A100") is None
    assert read.on(None) == Hours(8, 8, 8)


def test_a_low_rate_takes_long() -> None:
    """60 GB at 100 MB/s are 600 s; at 50 twice, at 200 half of that."""
    rate = read_rate(["50 MB/s", "100 MB/s", "200 MB/s"])

    assert isinstance(rate, Rate)
    hours = rate.hours(60 * 10**9)
    assert (hours.low, hours.likely, hours.high) == pytest.approx((1 / 12, 1 / 6, 1 / 3))


@pytest.mark.parametrize(
    ("stage", "says"),
    [
        ("{hours: 0}", "stages.one.hours: 0 is no time at all"),
        ("{hours: -1}", "has to lie between 0 and 10 years"),
        ("{hours: [3, 2, 4]}", "are not in the order low, likely, high"),
        ("{hours: [1, 2]}", "has to be one number or three"),
        ("{hours: .nan}", ".nan is not a finite number"),
        ("{hours: 1.0e+9}", "has to lie between 0 and 10 years"),
        ("{hours: {}}", "no card is named"),
        ("{hours: {A100: ten}}", "stages.one.hours.A100: 'ten' is not a number of hours"),
        ("{hours: {A100: 1, a-100: 2}}", "a-100 is named twice"),
        ("{hours: {A100: {hours: 1, from: me}}}", "a duration has the keys hours and origin"),
        ("{moves: {size: 0 GB, rate: 1 MB/s}}", "nothing is moved"),
        ("{moves: {size: 1 GB, rate: 0 MB/s}}", "nothing moves at no rate"),
        ("{moves: {size: 999999999 TB, rate: 1 MB/s}}", "at this rate take longer than 10 years"),
        ("{moves: {size: 1 GB, rate: fast}}", "'fast' is not a rate such as '100 MB/s'"),
        (
            "{moves: {size: 1 GB, rate: [3 MB/s, 2 MB/s, 1 MB/s]}}",
            "3 MB/s, 2 MB/s, 1 MB/s is not in the order",
        ),
        ("{moves: {size: 1 GB, rate: 1 MB/s, from: home, to: home}}", "from home to itself"),
        ("{moves: {size: 1 GB, rate: 1 MB/s, form: home}}", "unknown key 'form', did you mean 'from'?"),
        ("{hours: 1, moves: {size: 1 GB, rate: 1 MB/s}}", "hours and moves both say how long it takes"),
    ],
)
def test_what_means_nothing_is_refused_with_its_place(tmp_path: Path, stage: str, says: str) -> None:
    path = tmp_path / "campaign.yaml"
    path.write_text(f"campaign: tiny\ncommand: python t.py\ncontrol: {{}}\nstages:\n  one: {stage}\n")

    with pytest.raises(CampaignInvalid) as caught:
        load_campaign(path)

    assert says in str(caught.value)
    assert caught.value.exit_code == 3


@pytest.mark.parametrize(
    ("key", "says"),
    [
        ("max_late: 0 %", "is not a part such as '10 %'"),
        ("max_late: 10", "is not a part such as '10 %'"),
        ("plan_b: {other: {gpu: A100}}", "other is not a stage; known are: none"),
        ("work: {amount: 0, unit: corpus}", "has to be at least 1"),
        ("interruption: {save: 0s}", "is no time at all"),
    ],
)
def test_keys_of_the_plan_refuse_what_means_nothing(tmp_path: Path, key: str, says: str) -> None:
    path = tmp_path / "campaign.yaml"
    path.write_text(f"campaign: tiny\ncommand: python t.py\ncontrol: {{}}\n{key}\n")

    with pytest.raises(CampaignInvalid) as caught:
        load_campaign(path)

    assert says in str(caught.value)

from __future__ import annotations

from decimal import Decimal
from pathlib import Path

import pytest

from lastro.units import Money

from .planning import ARTICLE, LOTS, VARIANTS, codes, plan


def usd(amount: str) -> Money:
    return Money(Decimal(amount), "USD")


def test_one_lot_covers_the_calendar_of_the_article(tmp_path: Path) -> None:
    made = plan(tmp_path, ARTICLE + VARIANTS + "budget: 60 USD\n", LOTS)

    assert made.lease is not None and made.lease.offer == "three days"
    assert made.slack_hours == 24.0
    assert [(option.lots, option.cost) for option in made.options] == [
        (1, usd("47.14")),
        (1, usd("110")),
        (1, usd("390")),
    ]
    assert "cheapest that fits" in made.lease_why


def test_thirty_hours_more_need_a_second_lot(tmp_path: Path) -> None:
    """The evaluation takes 38 h: 78 h in all, of which the machine is held for 76: two lots, 94.28 USD."""
    longer = ARTICLE.replace("[4, 8, 9]", "38").replace("window: 72h", "window: 80h")
    made = plan(tmp_path, longer + VARIANTS, LOTS)

    assert made.total_hours is not None and made.total_hours.likely == 78.0
    assert (made.options[0].lots, made.options[0].cost) == (2, usd("94.28"))
    assert (made.options[1].lots, made.options[1].cost) == (1, usd("110"))


def test_each_machine_needs_its_own_lot(tmp_path: Path) -> None:
    made = plan(tmp_path, ARTICLE + VARIANTS + "machines: 2\n", LOTS)

    assert made.options[0].lots == 2


def test_hourly_time_is_billed_in_units_by_interval(tmp_path: Path) -> None:
    """Two runs of 1.5 h, started hours of 2 USD: 2 x 2 h x 2 USD = 8 USD; low 1 h each: 4 USD."""
    stages = "stages:\n  run: {each: run, gpu: 1, hours: [1, 1.5, 3]}\nvariants: {w: {changes: {width: 1}}}\n"
    made = plan(tmp_path, stages, "offers:\n  - {name: h, kind: hourly, price: 2 USD, unit: 1h}\n")

    option = made.options[0]
    assert (option.cost_low, option.cost, option.cost_high) == (usd("4"), usd("8"), usd("12"))
    assert (option.machine_hours, option.lots) == (3.0, None)


def test_an_unknown_duration_makes_an_unknown_cost_with_its_reason(tmp_path: Path) -> None:
    made = plan(tmp_path, VARIANTS, LOTS)

    assert [option.cost for option in made.options] == [None] * 3
    assert made.options[0].reason == "a duration is unknown, so the cost is"
    assert made.lease is not None
    # 390 USD / 720 h = 0.54 USD an hour, less than 47.14 / 72 = 0.65.
    assert (made.lease.offer, "by the hour" in made.lease_why) == ("a month", True)


def test_an_unknown_price_is_never_the_cheapest(tmp_path: Path) -> None:
    text = (
        "offers:\n  - {name: u, kind: hourly, price: unknown}\n"
        "  - {name: a, kind: hourly, price: 3 USD}\n  - {name: b, kind: hourly, price: 2 USD}\n"
    )
    made = plan(tmp_path, ARTICLE, text)

    assert (made.options[0].cost, made.options[0].reason) == (None, "the price is unknown")
    assert made.lease is not None and made.lease.offer == "b"


@pytest.mark.parametrize(
    ("offer", "extra", "says"),
    [
        ("provider: local", "", "it is had from local, the campaign runs on here"),
        ("capacity: 0", "", "none is left"),
        ("jurisdiction: US", "jurisdictions: [BR, EU]\n", "it lies in US, the campaign allows"),
    ],
)
def test_an_offer_that_cannot_be_taken_is_told_with_its_reason(
    tmp_path: Path, offer: str, extra: str, says: str
) -> None:
    text = f"offers:\n  - {{name: a, kind: hourly, price: 1 USD, {offer}}}\n"
    made = plan(tmp_path, f"{ARTICLE}{extra}offers: offers.yaml\n", text)

    assert made.lease is None
    assert says in (made.options[0].reason or "") and says in made.lease_why
    assert codes(made)["no_offer"] == "warn"  # this box is there already; only its price is unknown


def test_without_an_offer_there_is_no_machine_and_no_plan(tmp_path: Path) -> None:
    text = "offers:\n  - {name: a, kind: hourly, price: 1 USD, capacity: 0}\n"
    made = plan(tmp_path, f"{ARTICLE}provider: local\noffers: offers.yaml\n", text)

    assert codes(made)["no_offer"] == "fail"


def test_an_offer_in_a_member_state_lies_in_the_union(tmp_path: Path) -> None:
    text = "offers:\n  - {name: a, kind: hourly, price: 1 USD, jurisdiction: PT}\n"
    made = plan(tmp_path, ARTICLE + "jurisdictions: [EU]\n", text)

    assert made.lease is not None


def test_when_nothing_fits_the_cheapest_is_named_and_the_plan_is_impossible(tmp_path: Path) -> None:
    made = plan(tmp_path, ARTICLE + VARIANTS + "budget: 40 USD\n", LOTS)

    assert made.lease is not None and made.lease.offer == "three days"
    assert "although none fits" in made.lease_why
    assert codes(made)["over_budget"] == "fail"


def test_another_currency_is_neither_in_nor_over_the_budget(tmp_path: Path) -> None:
    made = plan(tmp_path, ARTICLE + VARIANTS + "budget: 40 BRL\n", LOTS)

    assert made.options[0].fits_budget is None
    assert codes(made)["budget_unknown"] == "warn"

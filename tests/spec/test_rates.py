from __future__ import annotations

from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from lastro.errors import CampaignInvalid
from lastro.spec.load import load_offers_file
from lastro.spec.rates import Rate, convert
from lastro.units import Money, parse_money
from tests.spec.test_offers import offers_file


def rate(**given: Any) -> Rate:
    return Rate.model_validate(
        {"from": "BRL", "to": "USD", "rate": 0.18, "seen": "2026-11-30", "source": "my bank", **given}
    )


def test_money_is_converted_by_a_dated_rate_exactly() -> None:
    """120 BRL at 0.18 are 21.60 USD; the float 0.18 of the file is the decimal 0.18."""
    converted = convert(parse_money("120 BRL"), "USD", [rate()], date(2026, 12, 1))

    assert converted.amount == Money(Decimal("21.60"), "USD")
    assert converted.why == "1 BRL = 0.18 USD (my bank, 2026-11-30)"


def test_the_latest_rate_that_was_known_on_the_day_is_taken() -> None:
    rates = [rate(), rate(rate="0.2", seen="2026-12-05"), rate(rate="0.1", seen="2026-01-01")]

    assert convert(parse_money("10 BRL"), "USD", rates, date(2026, 12, 4)).amount == parse_money("1.8 USD")
    assert convert(parse_money("10 BRL"), "USD", rates, date(2026, 12, 5)).amount == parse_money("2 USD")


@pytest.mark.parametrize(
    ("money", "to", "on"),
    [
        ("10 BRL", "USD", date(2026, 11, 29)),
        ("10 USD", "BRL", date(2026, 12, 1)),
        ("10 BRL", "EUR", date(2026, 12, 1)),
    ],
    ids=["later than the day", "the other direction", "another currency"],
)
def test_without_a_rate_of_that_direction_and_day_nothing_is_converted(money: str, to: str, on: date) -> None:
    converted = convert(parse_money(money), to, [rate()], on)

    assert converted.amount is None
    assert "was given" in converted.why


def test_money_of_one_currency_needs_no_rate() -> None:
    assert convert(parse_money("10 USD"), "USD", [], date(2026, 12, 1)).amount == parse_money("10 USD")


@pytest.mark.parametrize(
    ("rows", "says"),
    [
        ("{from: BRL, to: USD, rate: 0.18}", "the key 'seen' is missing"),
        ("{from: BRL, to: BRL, rate: 1, seen: 2026-11-30}", "needs no rate to itself"),
        ("{from: BRL, to: USD, rate: 0, seen: 2026-11-30}", "0 is not a rate"),
        ("{from: BRL, to: USD, rate: -1, seen: 2026-11-30}", "-1 is not a rate"),
        ("{from: BRL, to: USD, rate: 1e-30, seen: 2026-11-30}", "is not a rate"),
        ("{from: BRL, to: USD, rate: true, seen: 2026-11-30}", "true is not a rate"),
        ("{from: real, to: USD, rate: 1, seen: 2026-11-30}", "not a currency code"),
        ("{from: BRL, to: USD, rate: 1, seen: null}", "null is not a date"),
        ("{base: BRL, to: USD, rate: 1, seen: 2026-11-30}", "unknown key 'base'"),
    ],
)
def test_a_rate_that_means_nothing_is_refused_in_its_line(tmp_path: Path, rows: str, says: str) -> None:
    with pytest.raises(CampaignInvalid) as caught:
        load_offers_file(offers_file(tmp_path, f"offers: []\nrates:\n  - {rows}\n"))
    assert says in f"{caught.value.message}\n{caught.value.hint}"
    assert caught.value.line == 3


def test_two_rates_of_one_day_and_two_balances_of_one_provider_are_refused(tmp_path: Path) -> None:
    one = "  - {from: BRL, to: USD, rate: 0.18, seen: 2026-11-30}\n"
    held = "  - {provider: p, amount: 120 BRL, seen: 2026-11-30}\n"
    text = f"offers: []\nrates:\n{one}{one}balances:\n{held}{held}"

    with pytest.raises(CampaignInvalid) as caught:
        load_offers_file(offers_file(tmp_path, text))
    assert caught.value.line == 4
    assert "another rate is of BRL-USD, 2026-11-30 too" in caught.value.message
    assert "another balance is of p, BRL too" in caught.value.message

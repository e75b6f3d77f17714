"""How numbers, money and dates are written in each language."""

from __future__ import annotations

import json
from datetime import datetime, timedelta, timezone
from decimal import Decimal

import pytest

from lastro.locale import _, forms
from lastro.units import Money, show_bytes, show_duration
from lastro.view import show


@pytest.fixture
def portuguese(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LASTRO_LANG", "pt_BR")


@pytest.mark.parametrize(
    ("amount", "currency", "text"),
    [
        ("1234.5", "USD", "US$ 1.234,50"),
        ("1234567.891", "BRL", "R$ 1.234.567,89"),
        ("-0.5", "EUR", "-€ 0,50"),
        ("0.00123", "USD", "US$ 0,0012"),
        ("12", "CHF", "CHF 12,00"),
    ],
)
@pytest.mark.usefixtures("portuguese")
def test_money_has_its_sign_before_it_and_a_comma(amount: str, currency: str, text: str) -> None:
    assert str(Money(Decimal(amount), currency)) == text


@pytest.mark.usefixtures("portuguese")
def test_what_programs_read_stays_as_it_is() -> None:
    assert Money(Decimal("1234.5"), "USD").as_json() == {"amount": "1234.50", "currency": "USD"}
    assert json.loads(json.dumps(_("{a}").format(a=1.5))) == "1,5"


def test_english_keeps_code_and_point() -> None:
    assert str(Money(Decimal("1234.5"), "USD")) == "1234.50 USD"
    assert forms.decimal("0.5") == "0.5"
    assert show.moment("2026-11-30T08:00:00.000000Z") == "2026-11-30 08:00:00 UTC"


@pytest.mark.usefixtures("portuguese")
def test_dates_begin_with_the_day() -> None:
    assert forms.day(datetime(2026, 11, 30, tzinfo=timezone.utc)) == "30/11/2026"
    assert show.moment("2026-11-30T08:00:00.000000Z") == "30/11/2026 08:00:00 UTC"


@pytest.mark.usefixtures("portuguese")
def test_fractions_have_a_comma_and_whole_numbers_no_point() -> None:
    assert show.number(0.97844) == "0,97844"
    assert show.difference(-0.489) == "−0,489"
    assert show_bytes(1_234_567) == "1,23 MB"
    assert show_duration(timedelta(seconds=1.44)) == "1,4 s"


@pytest.mark.usefixtures("portuguese")
@pytest.mark.parametrize(
    ("text", "given", "shown"),
    [
        ("{value:.2f} h", {"value": 1.256}, "1,26 h"),
        ("{value}", {"value": Decimal("0.01")}, "0,01"),
        ("{share:.1%}", {"share": 0.123}, "12,3%"),
        ("{name} of {count}", {"name": "v1.5", "count": 3}, "v1.5 of 3"),
    ],
)
def test_a_text_writes_the_fractions_that_are_put_in_with_a_comma(
    text: str, given: dict[str, object], shown: str
) -> None:
    """Names keep their points: `v1.5` is not a number."""
    assert _(text).format(**given) == shown  # no such text is in the catalogue: the id is shown

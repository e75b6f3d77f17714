from __future__ import annotations

import math
from decimal import Decimal

from lastro.units import Money
from lastro.view import show


def test_what_is_unknown_is_never_shown_as_zero() -> None:
    texts = {show.number(None), show.count(None), show.seconds(None), show.money(None), show.moment(None)}
    assert texts == {"unknown"}


def test_values_that_are_not_finite_are_shown_as_such() -> None:
    assert [show.number(value) for value in (math.nan, math.inf, -math.inf)] == ["NaN", "∞", "−∞"]


def test_a_difference_has_its_sign_and_no_binary_dust() -> None:
    assert show.difference(0.98 - 0.97) == "+0.01"
    assert show.difference(-0.25) == "−0.25"
    assert show.difference(0.0) == "±0"


def test_an_amount_is_read_from_a_plan_in_either_spelling() -> None:
    wanted = Money(Decimal(60), "USD")
    assert show.amount_of("60 USD") == wanted
    assert show.amount_of({"amount": "60", "currency": "USD"}) == wanted
    assert show.amount_of(None) is None
    assert show.amount_of("sixty") is None

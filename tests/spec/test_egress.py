from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lastro.errors import CampaignInvalid
from lastro.spec.egress import Egress, egress_cost, ingress_cost
from lastro.spec.load import load_offers_file
from lastro.units import parse_money
from tests.spec.test_offers import offers_file

GB = 10**9
TB = 10**12
AWS = {
    "price": "0.09 USD",
    "free": "100 GB",
    "tiers": [{"over": "10 TB", "price": "0.085 USD"}, {"over": "50 TB", "price": "0.07 USD"}],
}


def row(**given: Any) -> Egress:
    return Egress.model_validate({"name": "e", "from": "aws", "price": "0.09 USD", **given})


def test_five_hundred_gb_at_nine_cents_are_45_usd() -> None:
    assert egress_cost(row(), 500 * GB).amount == parse_money("45 USD")


def test_what_is_free_in_a_month_is_free_once() -> None:
    """500 GB with 100 free: 400 x 0.09 = 36; after 60 GB of the month only 40 are free: 460 x 0.09 = 41.4."""
    assert egress_cost(row(**AWS), 500 * GB).amount == parse_money("36 USD")
    assert egress_cost(row(**AWS), 500 * GB, used=60 * GB).amount == parse_money("41.4 USD")
    assert egress_cost(row(**AWS), 500 * GB, used=TB).amount == parse_money("45 USD")


def test_each_part_costs_what_its_tier_says() -> None:
    """60 TB: 100 GB free, 9900 GB at 0.09 = 891, 40000 at 0.085 = 3400, 10000 at 0.07 = 700: 4991 USD."""
    priced = egress_cost(row(**AWS), 60 * TB)

    assert priced.amount == parse_money("4991 USD")
    assert priced.why.endswith(
        "9.9 TB at 0.090 USD a GB + 40 TB at 0.085 USD a GB + 10 TB at 0.070 USD a GB, by e"
    )


@given(first=st.integers(0, 10**14), second=st.integers(0, 10**14))
def test_two_transfers_of_a_month_cost_what_one_of_both_does(first: int, second: int) -> None:
    whole = egress_cost(row(**AWS), first + second).amount
    parts = [egress_cost(row(**AWS), first).amount, egress_cost(row(**AWS), second, used=first).amount]

    assert whole is not None and parts[0] is not None and parts[1] is not None
    assert parts[0] + parts[1] == whole


def test_an_unknown_price_is_unknown_and_not_zero() -> None:
    assert egress_cost(row(price="unknown"), GB).amount is None
    assert egress_cost(row(price="0 USD"), GB).amount == parse_money("0 USD")


def test_a_tier_of_unknown_price_makes_unknown_only_what_reaches_it() -> None:
    tiers = [{"over": "1 TB", "price": "unknown"}]

    assert egress_cost(row(tiers=tiers), TB).amount == parse_money("90 USD")
    assert egress_cost(row(tiers=tiers), TB + 1).why == "the price of e beyond 1 TB a month is unknown"
    assert egress_cost(row(tiers=tiers), TB + 1).amount is None


def test_requests_cost_what_the_row_says_or_make_the_cost_unknown() -> None:
    """1 GB at 0.09 and 1000 requests at 0.0004: 0.49 USD."""
    assert egress_cost(row(per_request="0.0004 USD"), GB, requests=1000).amount == parse_money("0.49 USD")
    assert egress_cost(row(per_request="none"), GB, requests=1000).amount == parse_money("0.09 USD")
    assert egress_cost(row(), GB, requests=1000).amount is None
    assert egress_cost(row(), GB).amount == parse_money("0.09 USD")


def test_what_comes_in_has_a_price_of_its_own() -> None:
    """100 GB in: 3 USD at 0.03; at the tiers of a mapping with 50 GB free 1.5 USD; not said: unknown."""
    tiered = {"price": "0.03 USD", "free": "50 GB"}

    assert ingress_cost(row(ingress="0.03 USD"), 100 * GB).amount == parse_money("3 USD")
    assert ingress_cost(row(ingress=tiered), 100 * GB).amount == parse_money("1.5 USD")
    assert ingress_cost(row(ingress="unknown"), GB).amount is None
    assert ingress_cost(row(), GB).amount is None


def test_fewer_bytes_than_none_are_a_mistake() -> None:
    with pytest.raises(ValueError, match="no fewer bytes than none"):
        egress_cost(row(), -1)


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ("price: unknown, free: 100 GB", "free means nothing"),
        ("price: 0.09 USD, free: 0 GB", "a size of 0 bytes"),
        ("price: 0.09 USD, tiers: [{over: 2 TB, price: 1 USD}, {over: 1 TB, price: 2 USD}]", "in order"),
        (
            "price: 0.09 USD, free: 2 TB, tiers: [{over: 1 TB, price: 0.05 USD}]",
            "within the 2 TB that are free",
        ),
        ("price: 0.09 USD, tiers: [{over: 1 TB, price: 0.05 EUR}]", "another currency"),
        ("price: 0.09 USD, ingress: 0.01 EUR", "another currency"),
        ("price: 0.09 USD, per_request: 0.01 EUR", "another currency"),
        ("price: 0.09 USD, ingress: {free: 1 GB}", "the key 'price' is missing"),
        ("price: -1 USD", "less than nothing"),
        ("price: 0.09 USD, origin: aws", "unknown key 'origin'"),
        ("free: 1 GB", "the key 'price' is missing"),
    ],
)
def test_a_row_that_means_nothing_is_refused_in_its_line(tmp_path: Path, given: str, says: str) -> None:
    text = f"offers: []\negress:\n  - {{name: e, from: aws, {given}}}\n"

    with pytest.raises(CampaignInvalid, match=says) as caught:
        load_offers_file(offers_file(tmp_path, text))
    assert caught.value.line == 3

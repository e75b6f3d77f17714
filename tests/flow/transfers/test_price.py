from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from lastro.errors import StorageError
from lastro.flow.transfers.copies import Copy, nearest, read_copies, record_copy
from lastro.flow.transfers.price import Ends, estimate
from lastro.spec.load import made_in_code
from lastro.spec.offers import Offers
from lastro.units import Money

GB = 10**9


def market() -> Offers:
    offer: dict[str, Any] = {"provider": "p", "gpu": "A100", "price": "1 USD", "kind": "hourly"}
    return made_in_code(
        Offers,
        {
            "offers": [
                {**offer, "name": "eu", "region": "eu-west-1", "jurisdiction": "EU"},
                {**offer, "name": "us", "region": "us-east-1", "jurisdiction": "US"},
            ],
            "egress": [
                {"name": "out", "from": "eu-west-1", "price": "0.09 USD", "per_request": "0.001 USD"},
                {
                    "name": "over",
                    "from": "eu-west-1",
                    "to": "us-east-1",
                    "price": "0.02 USD",
                    "per_request": "none",
                },
            ],
        },
    )


def codes(told: Any) -> list[str]:
    return [one.code for one in told.findings]


def test_the_row_that_names_the_target_comes_first() -> None:
    """100 GB at 0.02 are 2 USD, requests are free; to anywhere else 9 USD and ten requests 0.01 USD."""
    over = estimate(market(), Ends(origin="eu-west-1", to="us-east-1"), 100 * GB, 10)
    out = estimate(market(), Ends(origin="eu-west-1", to="mars"), 100 * GB, 10)

    assert over.cost.amount == Money(Decimal(2), "USD")
    assert out.cost.amount == Money(Decimal("9.01"), "USD")
    assert over.price_of_gb == Money(Decimal("0.02"), "USD")


def test_borders_that_are_crossed_are_findings_with_size_and_price() -> None:
    told = estimate(market(), Ends(origin="eu-west-1", to="us-east-1"), 100 * GB, 0)

    assert codes(told) == ["region_crossed", "jurisdiction_crossed"]
    assert "100 GB" in told.findings[0].text
    assert "2.00 USD" in told.findings[0].text


def test_one_region_costs_nothing_and_crosses_nothing() -> None:
    told = estimate(market(), Ends(origin="eu-west-1", to="eu-west-1"), 100 * GB, 10)

    assert told.cost.amount == Money(Decimal(0), "USD")
    assert told.findings == ()


@pytest.mark.parametrize("ends", [Ends(origin=None, to="us-east-1"), Ends(origin="eu-west-1", to=None)])
def test_what_nobody_told_is_unknown_and_not_free(ends: Ends) -> None:
    told = estimate(market(), ends, GB, 0)

    assert codes(told) == ["region_unknown"]
    assert (told.cost.amount is None) == (ends.origin is None)


def test_no_prices_are_no_cost_that_is_known() -> None:
    told = estimate(None, Ends(origin="a", to="b"), GB, 0)

    assert told.cost.amount is None
    assert codes(told) == ["region_crossed", "jurisdiction_unknown"]


def copy(place: str, region: str | None, digest: str = "abc", at: str = "2026-11-01") -> Copy:
    return Copy(digest=digest, name="w", bytes=10 * GB, place=place, region=region, at=at)


def test_the_nearest_copy_is_in_the_region_then_the_cheapest_then_the_latest() -> None:
    eu, us, mars = copy("s3://eu/w", "eu-west-1"), copy("s3://us/w", "us-east-1"), copy("s3://mars/w", "mars")

    assert nearest([eu, us, mars], "abc", "us-east-1", market()).copy == us
    assert nearest([eu, mars], "abc", "us-east-1", market()).copy == eu
    assert (
        nearest([mars, copy("s3://new/w", "mars", at="2026-11-02")], "a", None, None).copy.place
        == "s3://new/w"
    )
    assert "0.20 USD" in nearest([eu, mars], "abc", "us-east-1", market()).why


def test_a_digest_that_is_unknown_or_not_clear_is_refused() -> None:
    with pytest.raises(StorageError, match="no copy"):
        nearest([copy("s3://eu/w", None)], "x", None, None)
    with pytest.raises(StorageError, match="several"):
        nearest([copy("s3://eu/w", None), copy("s3://eu/v", None, digest="abd")], "ab", None, None)


def test_the_last_record_of_a_place_counts(tmp_path: Any) -> None:
    path = tmp_path / "copies.jsonl"
    record_copy(path, copy("s3://eu/w", None, digest="old"))
    record_copy(path, copy("s3://eu/w", None, digest="new"))
    with path.open("a") as file:
        file.write('{"digest": "cut')

    assert [one.digest for one in read_copies(path)] == ["new"]

from __future__ import annotations

from datetime import date
from typing import Any

from lastro.spec.doubts import doubts
from lastro.spec.offers import Offers

TODAY = date(2026, 12, 30)


def codes(*offers: dict[str, Any], **others: Any) -> list[tuple[str, str]]:
    made = [{"name": "a", "kind": "hourly", "price": "1 USD", "seen": "2026-12-30", **one} for one in offers]
    return [(one.row, one.code) for one in doubts(Offers.model_validate({"offers": made, **others}), TODAY)]


def test_a_price_of_thirty_days_is_fresh_and_an_older_one_stale() -> None:
    assert codes({"seen": "2026-11-30"}) == []
    assert codes({"seen": "2026-11-29"}) == [("a", "stale")]


def test_a_price_without_its_day_or_of_a_day_to_come_is_told() -> None:
    assert codes({"seen": None}) == [("a", "undated")]
    assert codes({"seen": "2027-01-01"}) == [("a", "later")]


def test_an_offer_without_a_price_has_none_that_could_be_old() -> None:
    assert codes({"price": "unknown", "seen": None}) == []


def test_a_spot_price_that_saves_nothing_is_told() -> None:
    spot = {"name": "s", "kind": "spot"}

    assert codes({"gpu": "H100"}, {**spot, "gpu": "h100"}) == [("s", "spot_not_cheaper")]
    assert codes({"gpu": "H100"}, {**spot, "gpu": "H100", "price": "1.2 USD"}) == [("s", "spot_not_cheaper")]
    assert codes({"gpu": "H100"}, {**spot, "gpu": "H100", "price": "0.9 USD"}) == []


def test_a_spot_price_is_compared_with_the_same_thing_alone() -> None:
    spot = {"name": "s", "kind": "spot", "gpu": "H100", "price": "2 USD"}

    assert codes({"gpu": "H100"}, {**spot, "gpus": 2}) == []
    assert codes({"gpu": "H100"}, {**spot, "region": "eu"}) == []
    assert codes({"gpu": "H100"}, {**spot, "provider": "p"}) == []
    assert codes({"gpu": "H100"}, {**spot, "price": "2 BRL"}) == []
    assert codes({"gpu": "H100", "price": "unknown"}, spot) == []


def test_a_spot_price_for_one_gpu_is_compared_as_that_of_the_machine() -> None:
    """8 GPUs at 0.5 are 4 USD an hour, no less than the machine's 4 USD."""
    machine = {"gpu": "H100", "gpus": 8}

    found = codes(
        {**machine, "price": "4 USD"},
        {**machine, "name": "s", "kind": "spot", "price": "0.5 USD", "per": "gpu"},
    )
    assert found == [("s", "spot_not_cheaper")]


def test_rows_beside_the_offers_grow_old_too() -> None:
    found = codes(
        disks=[{"name": "d", "price": "0.1 USD", "seen": "2026-01-01"}, {"name": "u", "price": "unknown"}],
        egress=[{"name": "e", "from": "aws", "price": "0.09 USD"}],
        rates=[{"from": "BRL", "to": "USD", "rate": 0.18, "seen": "2026-01-01"}],
        balances=[{"provider": "p", "amount": "1 USD"}],
    )
    assert found == [("d", "stale"), ("e", "undated"), ("BRL-USD", "stale"), ("p", "undated")]

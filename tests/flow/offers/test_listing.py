from __future__ import annotations

from datetime import date
from typing import Any

import pytest

from lastro.flow.offers.listing import derived_price, list_offers
from lastro.flow.offers.wanted import Wanted
from lastro.spec.offers import Offer, Offers

TODAY = date(2026, 11, 30)
LOT = {"kind": "lot", "term": "3d", "price": "47.14 USD"}


def file(*offers: dict[str, Any], **others: Any) -> Offers:
    made = [{"kind": "hourly", "price": "1 USD", "gpu": "A", "seen": "2026-11-30", **one} for one in offers]
    return Offers.model_validate({"offers": made, **others})


def names(*offers: dict[str, Any], order: str = "price") -> list[str]:
    listing = list_offers(file(*offers), Wanted(), TODAY, order=order)
    return [one.offer.name for one_class in listing.classes for one in one_class.offers]


def test_the_cheapest_of_a_card_comes_first_and_the_unknown_last() -> None:
    found = names(
        {"name": "unknown", "price": "unknown"}, {"name": "dear"}, {"name": "cheap", "price": "0.5 USD"}
    )
    assert found == ["cheap", "dear", "unknown"]


def test_a_lot_is_never_ranked_by_an_hour_that_nobody_sells() -> None:
    """0.65 USD an hour would put the lot before the hourly offer at 1 USD: it is not compared with it."""
    lots = ({"name": "week", **LOT, "term": "7d", "price": "10 USD"}, {"name": "days", **LOT})

    assert names(*lots, {"name": "hour"}) == ["hour", "days", "week"]


def test_machines_with_fewer_gpus_come_first() -> None:
    assert names({"name": "eight", "gpus": 8, "price": "0.5 USD"}, {"name": "one"}) == ["one", "eight"]


def test_the_newest_first_or_by_name() -> None:
    offers = (
        {"name": "b", "seen": "2026-01-01"},
        {"name": "c", "seen": None},
        {"name": "a", "seen": "2026-01-02"},
    )

    assert names(*offers, order="age") == ["a", "b", "c"]
    assert names(*offers, order="name") == ["a", "b", "c"]


def test_cards_are_classes_by_name_and_memory() -> None:
    listing = list_offers(
        file(
            {"name": "a", "gpu": "RTX 4090", "memory": "48 GB"},
            {"name": "b", "gpu": "RTX 4090", "memory": "24 GB"},
            {"name": "c", "gpu": None, "gpus": 0},
            {"name": "d", "gpu": None},
        ),
        Wanted(),
        TODAY,
    )
    assert [one.name for one in listing.classes] == [
        "GPU not named", "RTX 4090, 24 GB", "RTX 4090, 48 GB", "without GPU",
    ]  # fmt: skip


def test_spellings_of_one_card_and_sizes_that_drivers_tell_are_one_class() -> None:
    """81559 and 81920 MiB are both 80 GiB; 24 GB of a price list are 24 GB."""
    offers = [
        {"name": str(size), "gpu": gpu, "memory": f"{size} MiB"}
        for gpu, size in (("H100", 81559), ("h-100", 81920))
    ]

    (one,) = list_offers(file(*offers), Wanted(), TODAY).classes

    assert (one.name, len(one.offers)) == ("H100, 80 GiB", 2)


@pytest.mark.parametrize(
    ("given", "amount", "why"),
    [
        (LOT, "0.65 USD", "if all of its 72 h are used"),
        (
            {**LOT, "gpus": 2},
            "0.33 USD",
            "if all of its 72 h are used on all of its GPUs",
        ),
        ({"price": "10.24 USD", "gpus": 8}, "1.28 USD", "if all of its 8 GPUs are used"),
    ],
)
def test_a_figure_that_nobody_quotes_says_how_it_comes_about(
    given: dict[str, Any], amount: str, why: str
) -> None:
    """47.14 / 72 h = 0.6547 an hour, shown as 0.65; of two GPUs half; 10.24 / 8 = 1.28."""
    derived = derived_price(Offer.model_validate({"name": "a", "kind": "hourly", "price": "1 USD", **given}))

    assert derived is not None
    assert str(derived.amount) == amount
    assert derived.why == why


def test_what_is_quoted_for_one_gpu_and_hour_is_not_derived() -> None:
    plain = Offer.model_validate({"name": "a", "kind": "hourly", "price": "1 USD"})
    unknown = Offer.model_validate({"name": "a", "kind": "lot", "term": "3d", "price": "unknown"})

    assert (derived_price(plain), derived_price(unknown)) == (None, None)


def test_what_is_left_out_is_counted_by_its_reason() -> None:
    listing = list_offers(
        file({"name": "a"}, {"name": "b", "gpu": "B"}, {"name": "c", "gpu": "C"}), Wanted(gpu="a"), TODAY
    )

    assert [one.offer.name for one_class in listing.classes for one in one_class.offers] == ["a"]
    assert listing.left_out == {"another GPU": 2}


def test_ages_and_doubts_stand_with_what_they_are_of() -> None:
    listing = list_offers(
        file(
            {"name": "x", "seen": "2026-10-01"},
            disks=[{"name": "x", "price": "0.1 USD", "seen": "2026-10-02"}],
        ),
        Wanted(),
        TODAY,
    )
    (one,) = listing.classes[0].offers

    assert (one.age_days, [doubt.text for doubt in one.doubts]) == (60, ["x was read 60 days ago"])
    assert [doubt.text for doubt in listing.doubts] == ["x was read 59 days ago"]

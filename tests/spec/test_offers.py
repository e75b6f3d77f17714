from __future__ import annotations

from datetime import date, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from lastro.billing import Lease, LeaseKind
from lastro.errors import CampaignInvalid
from lastro.spec.disks import Disk
from lastro.spec.egress import Egress
from lastro.spec.load import load_offers, load_offers_file
from lastro.spec.offers import Offer
from lastro.units import Money, parse_money

OFFERS = """\
offers:
  - {name: 4090-3d, kind: lot, price: 47.14 USD, term: 3d, gpu: RTX4090, source: IteraGPU, seen: 2026-11-30}
  - {name: by-the-minute, kind: hourly, price: 0.5 USD, unit: 1min, minimum: 10min, boot: 2s, provider: local}
  - {name: somewhere, kind: spot, price: unknown, interruptions: 6h, memory: 24 GB}
"""


def offers_file(folder: Path, text: str) -> Path:
    path = folder / "offers.yaml"
    path.write_text(text)
    return path


def test_an_offer_becomes_a_lease_with_its_price_copied(tmp_path: Path) -> None:
    lot, hourly, _spot = load_offers(offers_file(tmp_path, OFFERS))

    assert lot.lease() == Lease(
        offer="4090-3d", kind=LeaseKind.LOT, price=Money(Decimal("47.14"), "USD"), term_seconds=259200,
        source="IteraGPU, 2026-11-30",
    )  # fmt: skip
    assert (hourly.lease().unit_seconds, hourly.lease().minimum_seconds) == (60, 600)
    assert (hourly.boot_seconds, hourly.provider, lot.seen) == (2.0, "local", date(2026, 11, 30))


def test_a_price_that_is_unknown_stays_unknown(tmp_path: Path) -> None:
    spot = load_offers(offers_file(tmp_path, OFFERS))[2]

    assert spot.lease().price is None
    assert (spot.interruptions, spot.memory) == (timedelta(hours=6), 24 * 10**9)


@pytest.mark.parametrize(
    ("offer", "says"),
    [
        ("{name: a, kind: lot, price: 1 USD}", "a lot needs its term"),
        ("{name: a, kind: lot, price: 1 USD, term: 3d, unit: 1h}", "so unit means nothing"),
        ("{name: a, kind: hourly, price: 1 USD, term: 3d}", "hourly has no term"),
        ("{name: a, kind: rented, price: 1 USD}", "'rented' is none of: lot, hourly, spot"),
        ("{name: a, kind: hourly}", "the key 'price' is missing"),
        ("{name: a, kind: hourly, price: -1 USD}", "less than nothing"),
        ("{name: a, kind: hourly, price: 1 USD, seen: soon}", "'soon' is not a date"),
        ("{name: a, kind: hourly, price: 1 USD, unit: 500ms}", "whole seconds"),
    ],
)
def test_an_offer_that_means_nothing_is_refused(tmp_path: Path, offer: str, says: str) -> None:
    with pytest.raises(CampaignInvalid, match=says) as caught:
        load_offers(offers_file(tmp_path, f"offers:\n  - {offer}\n"))
    assert caught.value.line == 2


def test_two_offers_of_one_name_are_refused(tmp_path: Path) -> None:
    twice = "offers:\n" + "  - {name: a, kind: hourly, price: 1 USD}\n" * 2

    with pytest.raises(CampaignInvalid, match="another offer is named a too") as caught:
        load_offers(offers_file(tmp_path, twice))
    assert caught.value.line == 3


def offer(**given: Any) -> Offer:
    return Offer.model_validate({"name": "a", "kind": "hourly", "price": "1 USD", **given})


def test_a_price_for_one_gpu_is_multiplied_and_that_of_a_lot_never() -> None:
    """8 GPUs at 1.28 are 10.24 USD an hour; a lot of two GPUs has its price once."""
    node = offer(price="1.28 USD", per="gpu", gpus=8)
    lot = offer(kind="lot", term="3d", price="400 USD", gpus=2, machines=2)

    assert node.machine_price == parse_money("10.24 USD") == node.lease().price
    assert lot.machine_price == parse_money("400 USD") == lot.lease().price


def test_a_lot_costs_the_same_again_unless_the_file_says_otherwise() -> None:
    lot = {"kind": "lot", "term": "3d", "price": "47.14 USD"}
    renewals = [offer(**lot, **given) for given in ({}, {"renewal": "40 USD"}, {"renewal": "unknown"})]
    never = offer(**lot, renewal="none")

    assert [one.renewal_price for one in renewals] == [parse_money("47.14 USD"), parse_money("40 USD"), None]
    assert all(one.renewable for one in renewals)
    assert (never.renewable, never.renewal_price, offer().renewable) == (False, None, False)


def test_a_price_may_depend_on_the_hour_of_the_day() -> None:
    """2 GPUs at 0.40 are 0.80 an hour; an unknown price is no price of 0, and `none` is no price at all."""
    night = offer(
        by_hour={"22-06": "0.40 USD", "08-18": "none", "20-21": "unknown"}, utc=-3, per="gpu", gpus=2
    )

    assert night.machine_by_hour == {"22-06": parse_money("0.80 USD"), "20-21": None}
    assert night.not_by_hour == ("08-18",)
    assert (offer().machine_by_hour, offer().not_by_hour) == ({}, ())


def test_a_file_of_before_means_what_it_meant(tmp_path: Path) -> None:
    lot, hourly, spot = load_offers(offers_file(tmp_path, OFFERS))

    assert [one.machines for one in (lot, hourly, spot)] == [1, 1, 1]
    assert [one.machine_price for one in (lot, hourly, spot)] == [lot.price, hourly.price, None]
    assert lot.renewal_price == lot.price


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ("kind: lot, term: 3d, per: gpu", "so per means nothing"),
        ("kind: lot, term: 3d, by_hour: {22-06: 1 USD}", "so by_hour means nothing"),
        ("kind: lot, term: 3d, lifetimes: [1]", "so lifetimes means nothing"),
        ("kind: lot, term: 3d, renewal: 1 BRL", "another currency"),
        ("kind: hourly, renewal: same", "no term that could be renewed"),
        ("kind: hourly, machines: 2", "several in one price are a lot"),
        ("kind: hourly, per: card", "'card' is none of: machine, gpu"),
        ("kind: hourly, per: gpu, gpus: 0", "means nothing without GPUs"),
        ("kind: hourly, lifetimes: [1]", "only spot machines are taken away"),
        ("kind: spot, lifetimes: [0]", "has to be more than 0"),
        ("kind: spot, lifetimes: [.inf]", "not a finite number"),
        ("kind: hourly, by_hour: {22-06: 1 USD, 05-07: 2 USD}", "05-07 and 22-06 have an hour in common"),
        ("kind: hourly, by_hour: {noon: 1 USD}", "not a part of the day"),
        ("kind: hourly, by_hour: {22-06: 1 BRL}", "another currency"),
        ("kind: hourly, by_hour: {22-06: same}", "not an amount"),
        ("kind: hourly, utc: -3", "and there are none"),
        ("kind: hourly, memory: 0 GB", "is nothing"),
        ("kind: hourly, memory: 900 PB", "is the unit right"),
        ("kind: hourly, cpus: 0", "at least 1"),
        ("kind: hourly, disk: d", "disks is named d; there are: -"),
        ("kind: hourly, egress: e", "egress is named e; there are: -"),
    ],
)
def test_new_keys_that_mean_nothing_are_refused(tmp_path: Path, given: str, says: str) -> None:
    with pytest.raises(CampaignInvalid, match=says) as caught:
        load_offers(offers_file(tmp_path, f"offers:\n  - {{name: a, price: 1 USD, {given}}}\n"))
    assert caught.value.line == 2


@pytest.mark.parametrize(("key", "there"), [("zone", "eu-2"), ("provider", "q")])
def test_a_disk_that_is_elsewhere_is_no_disk_of_an_offer(tmp_path: Path, key: str, there: str) -> None:
    text = (
        "offers:\n  - {name: a, kind: hourly, price: 1 USD, zone: eu-1, provider: p, disk: d}\n"
        f"disks:\n  - {{name: d, price: 0.1 USD, {key}: {there}}}\n"
    )
    with pytest.raises(CampaignInvalid, match=f"the disk d is in {there}, this offer in") as caught:
        load_offers(offers_file(tmp_path, text))
    assert caught.value.line == 2


def test_an_offer_finds_its_rows(tmp_path: Path) -> None:
    text = (
        "offers:\n  - {name: a, kind: hourly, price: 1 USD, disk: d, egress: e}\n"
        "  - {name: b, kind: hourly, price: 1 USD}\n"
        "disks:\n  - {name: d, price: 0.1 USD}\negress:\n  - {name: e, from: p, price: 0 USD}\n"
    )
    file = load_offers_file(offers_file(tmp_path, text))
    first, second = file.offers

    assert (file.disk_of(first), file.egress_of(first)) == (file.disks[0], file.egress[0])
    assert (file.disk_of(second), file.egress_of(second)) == (None, None)


@pytest.mark.parametrize("rows", ["disks", "egress"])
def test_two_rows_of_one_name_are_refused(tmp_path: Path, rows: str) -> None:
    one = "  - {name: x, price: 1 USD, from: p}\n" if rows == "egress" else "  - {name: x, price: 1 USD}\n"

    with pytest.raises(CampaignInvalid, match="is named x too") as caught:
        load_offers(offers_file(tmp_path, f"offers: []\n{rows}:\n{one}{one}"))
    assert caught.value.line == 4


def test_the_example_has_the_figures_that_plans_are_tested_with() -> None:
    """47.14, 110 and 390 USD; two lots of 3 days are 94.28; the lot of two GPUs has no invented price."""
    file = load_offers_file(Path(__file__).parents[2] / "examples" / "offers" / "offers.yaml")
    by_name = {one.name: one for one in file.offers}
    lots = [by_name[f"rtx4090-{days}-days"].price for days in (3, 7, 30)]

    assert lots == [parse_money("47.14 USD"), parse_money("110 USD"), parse_money("390 USD")]
    assert lots[0] is not None and lots[0].times(2) == parse_money("94.28 USD")
    assert (by_name["b200-lot-of-two"].gpus, by_name["b200-lot-of-two"].price) == (2, None)
    rows: tuple[Offer | Disk | Egress, ...] = (*file.offers, *file.disks, *file.egress)
    assert all(row.seen and row.source != "declared" for row in rows)

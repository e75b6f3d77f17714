from __future__ import annotations

from datetime import date, timedelta
from decimal import Decimal
from pathlib import Path

import pytest

from lastro.billing import Lease, LeaseKind
from lastro.errors import CampaignInvalid
from lastro.spec.load import load_offers
from lastro.units import Money

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

from __future__ import annotations

from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lastro.errors import CampaignInvalid
from lastro.spec.disks import Disk, rented_size, storage_cost
from lastro.spec.load import load_offers_file
from lastro.units import parse_money
from tests.spec.test_offers import offers_file

GB = 10**9


def disk(**given: Any) -> Disk:
    return Disk.model_validate({"name": "d", "price": "0.07 USD", **given})


def test_a_size_is_rounded_up_in_the_steps_of_the_provider() -> None:
    """From 50 GB in steps of 10: 123 GB need 130; 20 GB need the smallest; 50 GB are a size themselves."""
    stepped = disk(smallest="50 GB", largest="10 TB", step="10 GB")

    assert [rented_size(stepped, size * GB).bytes for size in (123, 20, 50)] == [130 * GB, 50 * GB, 50 * GB]
    assert rented_size(stepped, 10_000 * GB).bytes == 10_000 * GB


def test_steps_count_from_the_smallest_size() -> None:
    """From 25 GB in steps of 10: 25, 35, 45; 36 GB need 45."""
    assert rented_size(disk(smallest="25 GB", step="10 GB"), 36 * GB).bytes == 45 * GB


def test_a_size_beyond_the_largest_is_refused_by_name() -> None:
    refused = rented_size(disk(largest="10 TB"), 32_000 * GB)
    priced = storage_cost(disk(largest="10 TB"), 32_000 * GB, Decimal(1), Decimal(1))

    assert (refused.bytes, refused.why) == (None, "32 TB do not fit on d: its largest size is 10 TB")
    assert (priced.amount, priced.refused, priced.why) == (None, True, refused.why)


def test_a_disk_is_paid_while_its_machine_is_stopped() -> None:
    """130 GB for a month of 730 h, half of it stopped: 130 x (0.07 + 0.14) / 2 = 13.65 USD."""
    dearer = disk(stopped="0.14 USD", smallest="50 GB", step="10 GB")

    assert storage_cost(dearer, 123 * GB, Decimal(730), Decimal(365)).amount == parse_money("13.65 USD")


def test_what_a_disk_costs_while_stopped_is_its_price_unless_the_file_says_otherwise() -> None:
    """100 GB at 0.07 for 730 h, none of them running: 7 USD; one that does not outlive its machine: 0."""
    gone = storage_cost(disk(stopped="none"), 100 * GB, Decimal(730), Decimal(0))

    assert storage_cost(disk(), 100 * GB, Decimal(730), Decimal(0)).amount == parse_money("7 USD")
    assert gone.amount == parse_money("0 USD")
    assert not disk(stopped="none").outlives_machine


@pytest.mark.parametrize(
    ("given", "why"),
    [
        ({"price": "unknown"}, "the price of d (price) is unknown"),
        ({"stopped": "unknown"}, "the price of d (stopped) is unknown"),
    ],
)
def test_an_unknown_price_makes_the_cost_unknown_and_not_zero(given: dict[str, str], why: str) -> None:
    priced = storage_cost(disk(**given), GB, Decimal(2), Decimal(1))

    assert (priced.amount, priced.why, priced.refused) == (None, why, False)


def test_a_price_that_is_not_needed_may_be_unknown() -> None:
    assert storage_cost(disk(stopped="unknown"), GB, Decimal(730), Decimal(730)).amount == parse_money(
        "0.07 USD"
    )


def test_hours_that_are_no_part_of_the_whole_are_a_mistake() -> None:
    with pytest.raises(ValueError, match="cannot be a part"):
        storage_cost(disk(), GB, Decimal(1), Decimal(2))


@given(
    needed=st.integers(1, 10**14),
    more=st.integers(0, 10**13),
    smallest=st.integers(1, 10**12),
    step=st.integers(1, 10**12),
)
def test_what_is_rented_holds_what_is_needed_and_more_never_costs_less(
    needed: int, more: int, smallest: int, step: int
) -> None:
    any_disk = Disk.model_validate({"name": "d", "price": "1 USD", "smallest": smallest, "step": step})
    size, larger = rented_size(any_disk, needed).bytes, rented_size(any_disk, needed + more).bytes

    assert size is not None and larger is not None
    assert needed <= size < max(needed, smallest) + step
    assert size <= larger
    assert (size - smallest) % step == 0


@pytest.mark.parametrize(
    ("row", "says"),
    [
        (
            "{name: d, price: 0.07 USD, smallest: 2 TB, largest: 1 TB}",
            r"smallest \(2 TB\) is more than largest",
        ),
        ("{name: d, price: 0.07 USD, step: 2 TB, largest: 1 TB}", r"step \(2 TB\) is more than largest"),
        ("{name: d, price: 0.07 USD, smallest: 0 GB}", "a size of 0 bytes is nothing"),
        ("{name: d, price: 0.07 USD, largest: 900 PB}", "is the unit right"),
        ("{name: d, price: 0.07 USD, stopped: 0.1 BRL}", "another currency"),
        ("{name: d, price: .nan}", "not a finite number"),
        ("{name: d, price: 0.07}", "not an amount with its currency"),
        ("{name: d, price: none}", "not an amount with its currency"),
        ("{name: d, price: 0.07 USD, attach: 0}", "at least 1"),
        ("{name: d, price: 0.07 USD, size: 1 TB}", "unknown key 'size'"),
    ],
)
def test_a_disk_that_means_nothing_is_refused_in_its_line(tmp_path: Path, row: str, says: str) -> None:
    with pytest.raises(CampaignInvalid, match=says) as caught:
        load_offers_file(offers_file(tmp_path, f"offers: []\ndisks:\n  - {row}\n"))
    assert caught.value.line == 3

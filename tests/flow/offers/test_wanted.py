from __future__ import annotations

from typing import Any

import pytest

from lastro.billing import LeaseKind
from lastro.flow.offers.wanted import Wanted, left_out
from lastro.spec.offers import Offer
from lastro.units import parse_money

GB = 10**9


def offer(**given: Any) -> Offer:
    return Offer.model_validate({"name": "a", "kind": "hourly", "price": "1 USD", **given})


@pytest.mark.parametrize("gpu", ["RTX 4090", "RTX-4090", "rtx4090", "4090"])
def test_a_card_is_found_however_it_is_spelt(gpu: str) -> None:
    assert left_out(Wanted(gpu=gpu), offer(gpu="RTX 4090")) is None
    assert left_out(Wanted(gpu=gpu), offer(gpu="RTX 3090")) == "another GPU"
    assert left_out(Wanted(gpu=gpu), offer()) == "another GPU"


def test_what_is_unknown_does_not_count_as_fitting() -> None:
    assert left_out(Wanted(memory=24 * GB), offer()) == "its memory is unknown"
    assert left_out(Wanted(jurisdiction="BR"), offer()) == "its jurisdiction is unknown"
    assert left_out(Wanted(price=parse_money("1 USD")), offer(price="unknown")) == "its price is unknown"


def test_memory_and_price_are_limits_that_may_be_met() -> None:
    fits = Wanted(memory=24 * GB, price=parse_money("1 USD"))

    assert left_out(fits, offer(memory="24 GB")) is None
    assert left_out(fits, offer(memory="16 GB")) == "less memory than 24 GB"
    assert left_out(fits, offer(memory="24 GB", price="1.01 USD")) == "dearer than 1.00 USD"
    assert left_out(fits, offer(memory="24 GB", price="0.1 BRL")) == "its price is in another currency"


def test_a_price_limit_is_for_the_machine_and_not_for_one_of_its_gpus() -> None:
    node = offer(price="0.5 USD", per="gpu", gpus=8)

    assert left_out(Wanted(price=parse_money("3.99 USD")), node) == "dearer than 3.99 USD"
    assert left_out(Wanted(price=parse_money("4 USD")), node) is None


def test_a_member_lies_in_the_union() -> None:
    assert left_out(Wanted(jurisdiction="EU"), offer(jurisdiction="DE")) is None
    assert left_out(Wanted(jurisdiction="DE"), offer(jurisdiction="EU")) == "another jurisdiction"
    assert left_out(Wanted(jurisdiction="EU"), offer(jurisdiction="BR")) == "another jurisdiction"


def test_region_provider_and_kind() -> None:
    there = offer(region="us-east-1", zone="use1-az2", provider="aws", kind="spot")

    assert (
        left_out(Wanted(region="us-", provider="AWS", kinds=(LeaseKind.SPOT, LeaseKind.LOT)), there) is None
    )
    assert left_out(Wanted(region="az2"), there) is None
    assert left_out(Wanted(region="eu"), there) == "another region"
    assert left_out(Wanted(provider="aw"), there) == "another provider"
    assert left_out(Wanted(kinds=(LeaseKind.HOURLY,)), there) == "another kind"

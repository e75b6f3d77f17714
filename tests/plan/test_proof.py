"""The bound under every option: below all candidates, and met where a single offer is best."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path

import pytest

from .planning import ARTICLE, LOTS, VARIANTS, option, plan, usd

pytest.importorskip("ortools")


def test_the_lot_of_the_article_is_proven(tmp_path: Path) -> None:
    """No lot is cheaper than 47.14, and no work can be done without one."""
    best = option(plan(tmp_path, ARTICLE + VARIANTS, LOTS), "three days")

    assert (best.bound, best.gap, best.proven) == (usd("47.14"), 0.0, True)


def test_two_lots_stand_above_the_bound_of_the_same_work(tmp_path: Path) -> None:
    """94.28 where 47.14 would do: half of it."""
    two = option(plan(tmp_path, ARTICLE + VARIANTS, LOTS), "2 x three days")

    assert (two.bound, two.gap, two.proven) == (usd("47.14"), 0.5, False)


def test_a_mixture_that_is_cheaper_is_offered_with_its_calendar(tmp_path: Path) -> None:
    """A: 10 h on a small card at 1 USD, or 9 on a large one at 5. B needs the memory of the large one: 2 h.

    Only the large one can do both: 11 h, 55 USD. The mixture: 10 + 10 = 20 USD.
    """
    stages = (
        "stages:\n"
        "  a: {gpu: 1, memory: 20 GB, hours: {small: 10, large: 9}}\n"
        "  b: {gpu: 1, memory: 60 GB, run: control, hours: {small: 4, large: 2}}\n"
    )
    text = (
        "offers:\n  - {name: small, kind: hourly, price: 1 USD, gpu: small, memory: 24 GB}\n"
        "  - {name: large, kind: hourly, price: 5 USD, gpu: large, memory: 80 GB}\n"
    )
    made = plan(tmp_path, f"window: 48h\n{stages}", text)

    assert made.option == "large"
    assert option(made, "large").cost.total == usd("55")
    mixed = next(one for one in made.options if "mixture" in one.roles)
    assert (mixed.cost.total, mixed.offered, mixed.fits_window) == (usd("20"), True, True)
    assert mixed.end is not None and mixed.end.likely == 12.0
    assert {slot.stage: slot.lane for slot in mixed.calendar} == {"a": "gpu 1", "b": "gpu 2"}
    assert mixed.why == "35.00 USD less than large, by several offers"


@pytest.mark.parametrize("extra", ["", "  - {name: h, kind: hourly, price: 0.5 USD, gpu: RTX 4090}\n"])
@pytest.mark.parametrize("window", ["40h", "60h", "100h"])
def test_no_option_is_below_its_bound(tmp_path: Path, extra: str, window: str) -> None:
    made = plan(tmp_path, ARTICLE.replace("72h", window) + VARIANTS + "machines: 2\n", LOTS + extra)

    bounded = [one for one in made.options if one.bound and one.cost.total]
    assert bounded
    for one in bounded:
        assert one.bound is not None and one.cost.total is not None
        assert one.bound.amount <= one.cost.total.amount + Decimal("0.000001")


def test_one_more_offer_never_makes_the_cheapest_dearer(tmp_path: Path) -> None:
    few = plan(tmp_path, ARTICLE + VARIANTS, LOTS)
    more = plan(
        tmp_path, ARTICLE + VARIANTS, LOTS + "  - {name: h, kind: hourly, price: 9 USD, gpu: RTX 4090}\n"
    )

    costs = [option(made, made.option or "").cost.total for made in (few, more)]
    assert costs[0] is not None and costs[1] is not None and costs[1].amount <= costs[0].amount


def test_disk_and_traffic_are_in_the_bound(tmp_path: Path) -> None:
    """10 h at 1 USD, 100 GB out at 0.09: 19 USD, and nothing does it for less."""
    stages = "stages: {run: {each: run, gpu: 1, hours: 10}}\ntransfers: {out: {size: 100 GB}}\n"
    text = (
        "offers:\n  - {name: a, kind: hourly, price: 1 USD, provider: Acme}\n"
        "egress:\n  - {name: e, from: Acme, price: 0.09 USD}\n"
    )
    best = option(plan(tmp_path, stages, text), "a")

    assert best.cost.total == usd("19")
    assert best.bound is not None and usd("18.9").amount < best.bound.amount <= usd("19").amount


def test_what_ends_in_time_is_no_bound_for_what_does_not(tmp_path: Path) -> None:
    """Only the fast card is done within 10 h, for 20 USD; the slow one takes 16 h and 16 USD: no gap."""
    stages = "window: 10h\nstages: {run: {each: run, gpu: 1, hours: {slow: 16, fast: 5}}}\n"
    text = (
        "offers:\n  - {name: fast lot, kind: lot, price: 20 USD, term: 1d, gpu: fast}\n"
        "  - {name: slow hour, kind: hourly, price: 1 USD, gpu: slow}\n"
    )
    made = plan(tmp_path, stages, text)

    assert (option(made, "fast lot").bound, option(made, "fast lot").proven) == (usd("20"), True)
    late = option(made, "slow hour")
    assert (late.offered, late.cost.total, late.fits_window) == (True, usd("16"), False)
    assert (late.bound, late.gap, late.proven) == (None, None, False)

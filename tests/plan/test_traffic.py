"""What moves and what that costs, by hand; and how it changes which offer is taken."""

from __future__ import annotations

from pathlib import Path

import pytest

from lastro.plan.intervals import work_of
from lastro.plan.model import Plan
from lastro.plan.parts import CostLine
from lastro.plan.traffic import moves_of, out_again, traffic_lines
from lastro.units import Money
from tests.plan.planning import campaign, codes, offers, option, plan, usd

RUN = "window: 72h\nstages:\n  run: {each: run, gpu: 1, hours: 10}\n"
HOME = RUN + "transfers:\n  results: {size: 500 GB}\n"
#: Ten hours cost 5.00 and 30.00; what leaves the cheap one costs 0.09 a GB, the other gives it away.
TWO = """\
offers:
  - {name: cheap, kind: hourly, price: 0.50 USD, gpu: RTX 4090, provider: a, region: a-1, egress: a-out}
  - {name: dear, kind: hourly, price: 3.00 USD, gpu: RTX 4090, provider: b, region: b-1, egress: b-out}
egress:
  - {name: a-out, from: a, price: 0.09 USD}
  - {name: b-out, from: b, price: 0 USD}
"""


def _lines(folder: Path, extra: str, market: str) -> list[CostLine]:
    known, spec = offers(folder, market), campaign(folder, extra)
    return list(traffic_lines(spec, known, known.offers[0], work_of(spec)))


def _amounts(folder: Path, extra: str, market: str = TWO) -> list[Money | None]:
    return [line.amount for line in _lines(folder, extra, market)]


def _taken(made: Plan) -> str | None:
    return made.option


def test_500_gb_on_their_way_home_flip_the_choice(tmp_path: Path) -> None:
    """500 GB at 0.09 are 45.00: 5.00 and 45.00 against 30.00."""
    without, with_transfer = plan(tmp_path, RUN, TWO), plan(tmp_path, HOME, TWO)

    assert _amounts(tmp_path, HOME) == [usd("45.00")]
    assert (_taken(without), _taken(with_transfer)) == ("cheap", "dear")


def test_a_disk_of_32_tb_changes_which_offer_is_cheapest(tmp_path: Path) -> None:
    """For 73 h, a tenth of a month: 32 TB at 0.10 a GB and month are 320 USD, at 0.05 they are 160."""
    market = """\
offers:
  - {name: a, kind: hourly, price: 1.00 USD, gpu: RTX 4090, disk: dear-disk}
  - {name: b, kind: hourly, price: 2.00 USD, gpu: RTX 4090, disk: fair-disk}
disks:
  - {name: dear-disk, price: 0.10 USD}
  - {name: fair-disk, price: 0.05 USD}
"""
    stages = "window: 80h\nstages:\n  run: {each: run, gpu: 1, hours: 73}\n"
    large = plan(tmp_path, stages + "data: {results: 32 TB, slack: 0 %}\n", market)
    small = plan(tmp_path, stages + "data: {results: 32 GB, slack: 0 %}\n", market)

    lines = {line.kind: line.amount for line in large.options[0].cost.lines}
    assert (_taken(small), _taken(large)) == ("a", "b")
    assert lines["disk"] == usd("160.00")


@pytest.mark.parametrize(
    ("size", "amount"),
    [("100 GB", "0"), ("101 GB", "0.09"), ("10 TB", "891"), ("11 TB", "976")],
)
def test_the_first_100_gb_of_a_month_are_free_by_hand(tmp_path: Path, size: str, amount: str) -> None:
    """0.09 a GB beyond 100 GB, 0.085 beyond 10 TB: 9900 * 0.09 = 891.00, and 1000 * 0.085 = 85.00 more."""
    market = TWO.replace(
        "{name: a-out, from: a, price: 0.09 USD}",
        "{name: a-out, from: a, price: 0.09 USD, free: 100 GB, tiers: [{over: 10 TB, price: 0.085 USD}]}",
    )

    assert _amounts(tmp_path, RUN + f"transfers: {{home: {{size: {size}}}}}\n", market) == [usd(amount)]


def test_what_is_free_is_free_once_for_all_moves_of_a_month(tmp_path: Path) -> None:
    market = TWO.replace("price: 0.09 USD", "price: 0.09 USD, free: 100 GB")
    extra = RUN + "transfers:\n  one: {size: 80 GB}\n  two: {size: 80 GB}\n"

    assert _amounts(tmp_path, extra, market) == [usd("0"), usd("5.40")]


def test_data_that_is_streamed_is_read_again_in_every_epoch(tmp_path: Path) -> None:
    """Ten epochs of 200 GB at 0.02 are 40.00, and 3,000,000 requests at 0.0000004 are 1.20."""
    market = TWO + "  - {name: store-out, from: store, price: 0.02 USD, per_request: 0.0000004 USD}\n"
    extra = RUN + (
        "transfers:\n  epochs: {size: 200 GB, from: store, to: machine, times: 10, requests: 3000000}\n"
    )

    (line,) = _lines(tmp_path, extra, market)

    assert line.amount == usd("41.20")
    assert line.quantity == "10 × 200 GB"


def test_what_stays_in_the_region_of_the_machine_is_free(tmp_path: Path) -> None:
    market = TWO + "  - {name: store-out, from: a-1, price: 0.02 USD}\n"
    inside = RUN + "transfers:\n  epochs: {size: 200 GB, from: a-1, to: machine, times: 10}\n"

    assert _amounts(tmp_path, inside, market) == []
    assert "other_region" not in codes(plan(tmp_path, inside, market))


def test_another_place_of_the_region_has_its_own_price_and_a_zone_comes_before_its_provider(
    tmp_path: Path,
) -> None:
    """100 GB from zone a-1b to a-1c of one region at 0.01 are 1; home at the zone's own 0.05 they are 5."""
    market = TWO.replace(", egress: a-out", ", zone: a-1b").replace("dear, kind", "dear, zone: a-1c, kind")
    market = market.replace("region: b-1", "region: a-1")
    market += "  - {name: beside, from: a-1b, to: region, price: 0.01 USD}\n"
    market += "  - {name: away, from: a-1b, price: 0.05 USD}\n"

    assert _amounts(tmp_path, RUN + "transfers:\n  one: {size: 100 GB, to: a-1c}\n", market) == [usd("1.00")]
    assert _amounts(tmp_path, RUN + "transfers:\n  one: {size: 100 GB, to: home}\n", market) == [usd("5.00")]


def test_what_is_read_from_another_region_is_named_each_time(tmp_path: Path) -> None:
    market = TWO + "  - {name: far-out, from: far, price: 0 USD}\n"
    far = RUN + "transfers:\n  epochs: {size: 200 GB, from: far, to: machine, times: 10}\n"

    assert codes(plan(tmp_path, far, market))["other_region"] == "warn"


def test_a_move_without_a_price_is_unknown_and_never_wins(tmp_path: Path) -> None:
    market = TWO.replace(", egress: a-out", "").replace("  - {name: a-out, from: a, price: 0.09 USD}\n", "")

    assert _amounts(tmp_path, HOME, market) == [None]
    assert _taken(plan(tmp_path, HOME, market)) == "dear"


def test_what_comes_in_is_billed_where_that_has_a_price_and_free_bytes_count_once(tmp_path: Path) -> None:
    """100 GB each, 150 GB free: nothing, then 50 GB at 0.01."""
    market = TWO.replace(
        "{name: a-out, from: a, price: 0.09 USD}",
        "{name: a-out, from: a, price: 0.09 USD, ingress: {price: 0.01 USD, free: 150 GB}}",
    )
    extra = RUN + (
        "transfers:\n  one: {size: 100 GB, from: home, to: machine}\n"
        "  two: {size: 100 GB, from: internet, to: machine}\n"
    )

    assert _amounts(tmp_path, extra, market) == [usd("0"), usd("0.50")]


def test_what_is_left_out_moves_nothing(tmp_path: Path) -> None:
    """100 GB for control and for wide, 20 USD at 0.10; without wide 10. Nobody asks for deep."""
    market = TWO + "  - {name: store-out, from: store, price: 0.10 USD}\n"
    extra = """\
window: 72h
variants:
  wide: {changes: {width: 256}, priority: useful}
  deep: {changes: {depth: 4}, priority: exploratory}
stages:
  fetch: {each: run, cpu: 1, moves: {size: 100 GB, rate: 100 MB/s, from: store}}
  run: {each: run, gpu: 1, hours: 1}
  home: {run: deep, cpu: 1, moves: {size: 1 TB, rate: 100 MB/s, from: store, to: home}}
"""
    made = plan(tmp_path, extra, market)

    moved = {
        name: [line.amount for line in option(made, name).cost.lines if line.kind == "egress"]
        for name in ("cheap", "reduced, cheap")
    }
    assert moved == {"cheap": [usd("20.00")], "reduced, cheap": [usd("10.00")]}


def test_another_download_finds_no_free_bytes_left(tmp_path: Path) -> None:
    market = offers(tmp_path, TWO + "  - {name: store-out, from: store, price: 0.02 USD, free: 100 GB}\n")
    extra = RUN + "transfers:\n  first: {size: 50 GB, from: store, to: machine}\n"
    spec = campaign(tmp_path, extra)
    (move,) = moves_of(spec, work_of(spec))

    priced = out_again(market, market.offers[0], move)

    assert priced is not None
    assert priced.amount == usd("1.00")

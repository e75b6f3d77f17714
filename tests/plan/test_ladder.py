"""Which offers follow the one that is taken."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lastro.billing import LeaseKind
from lastro.plan.model import Plan
from lastro.rules import MoveOn
from tests.plan.planning import codes, plan, texts

STAGES = (
    "window: 72h\nbudget: 60 USD\nstages:\n  run: {each: run, gpu: 1, hours: {RTX 4090: 10}, memory: 20 GB}\n"
)
OFFERS = """\
offers:
  - {name: dear, kind: hourly, price: 2 USD, gpu: RTX 4090, memory: 24 GB, jurisdiction: BR, region: br-2}
  - {name: cheap, kind: hourly, price: 1 USD, gpu: RTX 4090, memory: 24 GB, jurisdiction: BR, region: br-1}
  - {name: steep, kind: hourly, price: 4 USD, gpu: RTX 4090, memory: 24 GB, jurisdiction: BR}
  - {name: ruin, kind: hourly, price: 9 USD, gpu: RTX 4090, memory: 24 GB, jurisdiction: BR}
  - {name: small, kind: hourly, price: 0.5 USD, gpu: RTX 4090, memory: 16 GB, jurisdiction: BR}
  - {name: away, kind: hourly, price: 1.1 USD, gpu: RTX 4090, memory: 24 GB, jurisdiction: DE}
  - {name: fast, kind: hourly, price: 3 USD, gpu: A100, memory: 80 GB, jurisdiction: BR}
"""


def names(made: Plan) -> list[str]:
    return [rung.offer for rung in made.ladder]


def test_what_fits_follows_in_the_order_of_its_cost_with_its_price_and_its_reason(tmp_path: Path) -> None:
    """10 h cost 10 USD on cheap and 20 USD on dear; ruin would cost 90 USD of 60, and steep four times 10."""
    made = plan(tmp_path, STAGES + "jurisdictions: [BR]\n", OFFERS)

    assert names(made) == ["cheap", "dear"]
    first, second = made.ladder
    assert first.lease == made.lease and first.region == "br-1"
    assert second.cost is not None and second.cost.as_json() == {"amount": "20.00", "currency": "USD"}
    assert second.slack_hours == 62.0
    assert "next in cost" in second.why


def test_what_costs_more_than_twice_as_much_follows_where_a_person_names_it_alone(tmp_path: Path) -> None:
    second = "jurisdictions: [BR]\nplan_b: {run: {offer: steep}}\n"

    assert names(plan(tmp_path, STAGES + second, OFFERS)) == ["cheap", "steep"]


def test_from_spot_the_way_back_on_demand_is_open_whatever_it_costs(tmp_path: Path) -> None:
    """A fifth of the price: with its interruptions it is still less than half of 10 USD."""
    row = "  - {name: gust, kind: spot, price: 0.2 USD, gpu: RTX 4090, memory: 24 GB, region: br-1"
    spot = f"{row}, interruptions: 20h}}\n"

    made = plan(tmp_path, STAGES, OFFERS.split("  - {name: steep", maxsplit=1)[0] + spot)

    first, second, *_rest = made.ladder
    assert (first.offer, second.offer) == ("gust", "cheap")
    assert first.cost is not None and second.cost is not None
    assert first.cost.amount < second.cost.amount / 2


def test_where_the_campaign_names_a_second_path_only_that_follows(tmp_path: Path) -> None:
    """The A100 is known by the hours of plan B alone: 4 h at 3 USD."""
    second = "plan_b: {run: {gpu: A100, hours: 4}}\n"

    made = plan(tmp_path, STAGES + second, OFFERS)

    assert names(made) == ["cheap", "fast"]
    assert made.ladder[1].cost is not None and str(made.ladder[1].cost) == "12.00 USD"
    assert made.ladder[1].why == "plan B of run: 12.00 USD"


@pytest.mark.parametrize(
    ("second", "extra", "says"),
    [
        ("{offer: small}", "", "its memory of 16 GB is too small"),
        ("{offer: away}", "jurisdictions: [BR]\n", "it lies in DE"),
    ],
)
def test_a_second_path_that_cannot_be_taken_is_no_rung_and_a_finding(
    tmp_path: Path, second: str, extra: str, says: str
) -> None:
    made = plan(tmp_path, f"{STAGES}{extra}plan_b: {{run: {second}}}\n", OFFERS)

    assert made.ladder == ()
    assert codes(made)["plan_b_refused"] == "warn"
    assert says in texts(made)["plan_b_refused"]


def test_a_plan_with_one_offer_is_written_as_ever(tmp_path: Path) -> None:
    made = plan(tmp_path, STAGES, OFFERS.split("  - {name: cheap", maxsplit=1)[0])

    assert {"ladder", "move_on"} & set(made.as_json()) == set()
    assert Plan.from_json(made.as_json()) == made


def test_a_ladder_and_its_rules_are_read_as_they_were_written(tmp_path: Path) -> None:
    made = plan(tmp_path, STAGES + "move_on: {refusals: 5, when_none_left: ask}\n", OFFERS)

    assert made.move_on == MoveOn(refusals=5, when_none_left="ask")
    assert Plan.from_json(made.as_json()).ladder == made.ladder
    assert Plan.from_json(made.as_json()).digest() == made.digest()


_OFFER = st.tuples(st.sampled_from(["spot", "hourly"]), st.integers(1, 9), st.sampled_from(["BR", "DE"]))


@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(offers=st.lists(_OFFER, min_size=2, max_size=5), never_spot=st.booleans(), named=st.booleans())
def test_no_rung_is_on_spot_where_a_stage_forbids_it_nor_outside_of_the_allowed_places(
    tmp_path: Path, offers: list[tuple[str, int, str]], *, never_spot: bool, named: bool
) -> None:
    text = "offers:\n" + "".join(
        f"  - {{name: o{number}, kind: {kind}, price: {price} USD, gpu: RTX 4090, memory: 24 GB, "
        f"jurisdiction: {place}{', interruptions: 6h' if kind == 'spot' else ''}}}\n"
        for number, (kind, price, place) in enumerate(offers)
    )
    stages = STAGES.replace("memory: 20 GB", f"memory: 20 GB, never_spot: {str(never_spot).lower()}")
    second = "plan_b: {run: {gpu: RTX 4090}}\n" if named else ""

    made = plan(tmp_path, f"{stages}{second}jurisdictions: [BR]\n", text)

    kinds = {f"o{number}": (kind, place) for number, (kind, _price, place) in enumerate(offers)}
    assert len(set(names(made))) == len(made.ladder)
    for rung in made.ladder:
        kind, place = kinds[rung.offer]
        assert place == "BR" and not (never_spot and kind == "spot")
        assert rung.kind is LeaseKind(kind) and rung.why

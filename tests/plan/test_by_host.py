"""What a machine costs at each of several hosts."""

from __future__ import annotations

from pathlib import Path

from lastro.plan.build import Code, make_plan
from lastro.plan.model import Plan
from tests.plan import planning
from tests.plan.planning import NOW, codes, plan, texts

STAGES = "stages:\n  run: {each: run, gpu: 1, hours: 10}\njurisdictions: [BR]\nmachines: 2\n"
ONE, TWO = "ssh://root@one", "ssh://root@two:2222"


def offers(*rows: str) -> str:
    return "offers:\n" + "".join(f"  - {{kind: hourly, gpu: RTX 4090, {row}}}\n" for row in rows)


def on_both(folder: Path, market: str) -> Plan:
    """Plan for both hosts; which name they have together is home's affair."""
    spec = planning.campaign(folder, STAGES).model_copy(update={"provider": f"{ONE},{TWO}"})
    return make_plan(spec, planning.offers(folder, market), created_at=NOW, code=Code(digest="c" * 64))


def prices(made: Plan) -> dict[str, str | None]:
    return {
        host: str(lease.price.amount) if lease is not None and lease.price is not None else None
        for host, lease in made.leases_at.items()
    }


def test_each_host_has_its_own_price_and_a_host_without_one_that_which_names_no_place(tmp_path: Path) -> None:
    own = "name: first, price: 1 USD, provider: root@one, jurisdiction: BR"
    other = "name: any, price: 3 USD, jurisdiction: BR"

    made = on_both(tmp_path, offers(own, other))

    assert prices(made) == {ONE: "1", TWO: "3"}
    assert made.lease is not None and made.lease.offer == "first" and made.place == ONE
    assert Plan.from_json(made.as_json()) == made
    assert codes(made)["host_price_differs"] == "warn"
    assert texts(made)["host_price_differs"] == (
        f"{TWO} costs 3.00 USD, and the forecast reckons with first for every machine: 10.00 USD; "
        f"all of it at {TWO} would cost 30.00 USD"
    )
    assert "concentration" not in codes(made)


def test_a_price_that_nobody_says_is_unknown_and_not_that_of_another_host(tmp_path: Path) -> None:
    own = "name: first, price: 1 USD, provider: root@one, jurisdiction: BR"

    made = on_both(tmp_path, offers(own))

    assert prices(made) == {ONE: "1", TWO: None}
    assert codes(made)["host_unpriced"] == "warn"


def test_a_host_whose_own_offer_cannot_be_taken_makes_the_plan_impossible(tmp_path: Path) -> None:
    own = "name: first, price: 1 USD, provider: root@one, jurisdiction: BR"
    abroad = "name: second, price: 1 USD, provider: 'ssh://root@two:2222', jurisdiction: US"
    other = "name: any, price: 3 USD, jurisdiction: BR"

    made = on_both(tmp_path, offers(own, abroad, other))

    assert codes(made)["host_refused"] == "fail"
    assert "its offer second cannot be taken: it lies in US" in texts(made)["host_refused"]


def test_it_is_refused_also_where_no_other_offer_names_a_host(tmp_path: Path) -> None:
    """The host would be taken under the price of the offer for anywhere, in a country that is not allowed."""
    abroad = "name: second, price: 1 USD, provider: 'ssh://root@two:2222', jurisdiction: US"

    made = on_both(tmp_path, offers(abroad, "name: any, price: 3 USD, jurisdiction: BR"))

    assert prices(made) == {ONE: "3", TWO: None}
    assert codes(made)["host_refused"] == "fail"


def test_where_each_host_has_an_offer_a_cheaper_one_for_anywhere_is_not_their_price(tmp_path: Path) -> None:
    own = "name: own, price: 5 USD, provider: root@one, jurisdiction: BR"
    other = "name: any, price: 1 USD, jurisdiction: BR"

    made = plan(tmp_path, STAGES + f"provider: {ONE}\n", offers(own, other))

    assert made.lease is not None and made.lease.offer == "own" and prices(made) == {ONE: "5"}
    refused = {option.offer: option.why for option in made.options if not option.offered}
    assert refused["any"] == "each place of the campaign has an offer of its own"


def test_where_no_offer_names_a_host_one_is_for_all_and_the_plan_says_nothing_of_hosts(
    tmp_path: Path,
) -> None:
    made = on_both(tmp_path, offers("name: any, price: 3 USD, jurisdiction: BR"))

    assert made.leases_at == {} and made.place is None
    assert "leases_at" not in made.as_json() and "place" not in made.as_json()
    assert not {"host_refused", "host_unpriced", "host_price_differs"} & set(codes(made))


def test_an_offer_of_another_place_is_not_taken(tmp_path: Path) -> None:
    here = "name: here, price: 5 USD, provider: root@one, jurisdiction: BR"
    there = "name: there, price: 1 USD, provider: root@three, jurisdiction: BR"
    queue = "name: queue, price: 1 USD, provider: 'slurm://main', jurisdiction: BR"

    made = plan(tmp_path, STAGES + f"provider: {ONE}\n", offers(here, there, queue))

    assert made.lease is not None and made.lease.offer == "here"
    refused = {option.offer: option.why for option in made.options if not option.offered}
    assert refused["there"] == f"it is had from root@three, the campaign runs on {ONE}"
    assert refused["queue"] == f"it is had from slurm://main, the campaign runs on {ONE}"


def test_partitions_of_one_cluster_follow_each_other_and_spot_has_its_twin_there(tmp_path: Path) -> None:
    calm = "name: calm, price: 2 USD, provider: 'slurm://main', jurisdiction: BR"
    storm = (
        "  - {name: storm, kind: spot, price: 0.5 USD, gpu: RTX 4090, provider: 'slurm://scavenge', "
        "jurisdiction: BR, interruptions: 20h}\n"
    )

    made = plan(tmp_path, STAGES + "provider: slurm\n", offers(calm) + storm)

    assert [(rung.offer, rung.place) for rung in made.ladder] == [
        ("storm", "slurm://scavenge"),
        ("calm", "slurm://main"),
    ]
    only = plan(tmp_path, STAGES + "provider: slurm://main\n", offers(calm) + storm)
    assert only.lease is not None and only.lease.offer == "calm" and only.ladder == ()

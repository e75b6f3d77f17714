"""A lot that includes several machines is paid once for all of them."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

from lastro.billing import Lease
from lastro.clock import Stamp
from lastro.flow.money import too_dear
from lastro.journal.events import EventType as E
from lastro.journal.lots import has_room
from lastro.journal.weather import spent_without_progress
from lastro.spec.offers import Offer
from lastro.units import Money
from tests.view.story import Story, planned

PRICE = Money(Decimal("47.14"), "USD")
#: Two machines for one price.
PAIR: dict[str, Any] = {
    "offer": "pair", "kind": "lot", "price": PRICE.as_json(), "unit_seconds": 1, "minimum_seconds": 0,
    "term_seconds": 3600, "source": "declared", "machines": 2,
}  # fmt: skip


def rented(*minutes: float, lease: dict[str, Any] = PAIR) -> Story:
    story = Story(planned("wide"))
    for number, minute in enumerate(minutes, 1):
        story.machine(f"m-{number}", minute, lease)
    return story


def total(story: Story) -> str:
    return str(story.view().cost.total)


def test_two_machines_of_one_lot_cost_its_price_and_the_third_begins_another() -> None:
    """47.14 for two machines; the third is in a second lot: 94.28."""
    assert total(rented(0, 1)) == "47.14 USD"
    assert total(rented(0, 1, 2)) == "94.28 USD"
    assert [line.what for line in rented(0, 1, 2).view().cost.lines] == ["machines m-1, m-2", "machine m-3"]


def test_a_machine_that_is_taken_after_the_term_is_in_another_lot() -> None:
    """The term is one hour: a machine of minute 59 joins the lot of minute 0, one of minute 60 does not."""
    assert total(rented(0, 59)) == "47.14 USD"
    assert total(rented(0, 60)) == "94.28 USD"


def test_a_lease_of_an_old_journal_includes_one_machine() -> None:
    old = {key: value for key, value in PAIR.items() if key != "machines"}

    assert Lease.from_json(old).machines == 1
    assert Lease.from_json(old).as_json() == old, "and is written as it was"
    assert total(rented(0, 1, lease=old)) == "94.28 USD"


def test_a_lot_has_its_price_also_when_nobody_knows_for_how_long_it_was_used() -> None:
    story = rented(0)
    story.home(10, E.MACHINE_GONE, machine="m-1", cause="released", seconds=None)

    assert total(story) == "47.14 USD"


def test_a_place_in_a_lot_that_is_paid_is_never_too_dear() -> None:
    view, budget, lease = rented(0).view(10), Money(Decimal("50"), "USD"), Lease.from_json(PAIR)

    assert has_room(view.machines, lease, Stamp(view.at))
    assert too_dear(view, budget, lease) is None
    assert too_dear(rented(0, 1).view(10), budget, lease) is not None, "both places are taken"


def test_a_lost_machine_of_a_pair_has_cost_half_of_it() -> None:
    """47.14 / 2 = 23.57 for the machine that was taken away before the first save."""
    story = rented(0, 0)
    story.start("control", 1, 1, machine="m-1")
    story.end("control", 1, 10, "lost", 5)

    view = story.view()

    lost = spent_without_progress(view.run("id-control"), view, "USD")

    assert str(lost) == "23.57 USD"


def test_an_offer_tells_its_lease_how_many_machines_are_in_the_price() -> None:
    offer = Offer.model_validate({"name": "x", "kind": "lot", "price": "1 USD", "term": "3d", "machines": 3})

    assert Lease.from_json(offer.lease().as_json()).machines == 3

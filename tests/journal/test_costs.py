"""The bill, from events alone; every amount was worked out by hand."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from lastro.journal.events import EventType as E
from lastro.journal.views import CostView, ShareView
from tests.view.story import HOURLY, Story, planned

#: 100 GB at 0.073 USD a GB and month while held, a tenth of it while not.
DISK: dict[str, Any] = {
    "name": "fast", "disks": 1, "bytes": 100 * 10**9, "price": {"amount": "0.073", "currency": "USD"},
    "stopped": {"amount": "0.0073", "currency": "USD"}, "outlives": True, "source": "list",
    "seen": "2026-11-01",
}  # fmt: skip
RATE = {"base": "BRL", "to": "USD", "rate": "0.18", "seen": "2026-11-29", "source": "bank"}


def told(**tariffs: Any) -> Story:
    return Story(planned("wide", tariffs={"disk": None, "rates": [], **tariffs}))


def spent(story: Story, minutes: float = 100) -> CostView:
    return story.view(minutes).cost


def amount(bill: CostView, kind: str) -> str:
    (line,) = (line for line in bill.lines if line.kind == kind)
    assert line.amount is not None, line.reason
    return f"{line.amount.amount.normalize():f}"


def expense(story: Story, name: str, money: str, currency: str = "USD", ref: str = "") -> None:
    facts = {"amount": money, "currency": currency}
    story.home(30, E.EXPENSE_ADDED, id=name, what="labelling", amount=facts, day="2026-11-30", ref=ref)


def test_a_disk_is_paid_from_the_freezing_by_what_holds_it() -> None:
    """Ten hours, one of them held: 100 x (0.073 x 1 + 0.0073 x 9) / 730 = 0.01 + 0.009 = 0.019 USD."""
    story = told(disk=DISK)
    story.machine("m-1", 0)
    story.home(60, E.MACHINE_GONE, machine="m-1", cause="released", seconds=3600.0)

    bill = spent(story, 600)

    assert amount(bill, "disk") == "0.019"
    assert [(still.what, str(still.unit_price)) for still in bill.may_bill] == [("disk fast", "0.0073 USD")]


@pytest.mark.parametrize(
    ("changed", "reason"),
    [({"price": None}, "disk fast has no price"), ({"bytes": None}, "the size of disk fast is unknown")],
)
def test_a_disk_without_a_price_or_a_size_makes_the_total_unknown(
    changed: dict[str, Any], reason: str
) -> None:
    story = told(disk={**DISK, **changed})
    story.machine("m-1", 0)

    assert (spent(story).total, spent(story).reason) == (None, reason)


def test_other_prices_in_a_revision_count_from_then_on() -> None:
    """One hour of 100 GB at 0.0073 a month, then one at twice that: 0.001 + 0.002 USD."""
    story = told(disk=DISK)
    dearer = {**DISK, "stopped": {"amount": "0.0146", "currency": "USD"}}
    plan = planned("wide", tariffs={"disk": dearer, "rates": []})
    story.home(60, E.PLAN_REVISED, digest="e" * 64, plan=plan, why="other prices")

    lines = [line for line in spent(story, 120).lines if line.kind == "disk"]

    assert [str(line.amount) for line in lines] == ["0.0010 USD", "0.0020 USD"]


def test_moves_of_the_plan_are_billed_once_something_was_rented() -> None:
    move = {
        "kind": "egress", "name": "collect out of box", "quantity": "3 GB", "why": "0.09 a GB (list)",
        "amount": {"amount": "0.27", "currency": "USD"}, "low": None, "high": None,
    }  # fmt: skip
    options = [{"name": "box", "cost": {"lines": [{**move, "kind": "machine"}, move]}}]
    story = Story(planned("wide", option="box", options=options))

    assert not spent(story).lines
    story.machine("m-1", 0)
    line = spent(story).lines[-1]
    assert (str(line.amount), line.kind, line.origin) == ("0.27 USD", "egress", "declared")


def test_an_expense_counts_until_it_is_undone_and_stays_told() -> None:
    story = told()
    expense(story, "e1", "12.50")
    expense(story, "e2", "-2.50")
    assert str(spent(story).total) == "10.00 USD"

    story.home(40, E.EXPENSE_UNDONE, id="e1", why="typed twice")

    assert str(spent(story).total) == "-2.50 USD"
    assert [one.undone for one in story.view().expenses] == ["typed twice", None]


def test_two_currencies_have_a_total_by_a_dated_rate_only() -> None:
    """10 USD and 100 BRL at 0.18: 28 USD. Neither a later rate nor the inverse one counts."""
    story, rated = told(), told(rates=[RATE, {**RATE, "rate": "0.20", "seen": "2026-12-24"}])
    for one in (story, rated):
        expense(one, "e1", "10.00")
        expense(one, "e2", "100", "BRL")
    story.home(41, E.RATE_GIVEN, base="USD", to="BRL", rate="5.5", day="2026-11-30", source="bank")

    assert spent(story).total is None
    assert [str(one) for one in spent(story).by_currency] == ["100.00 BRL", "10.00 USD"]
    assert "from BRL to USD" in str(spent(story).reason)
    assert str(spent(rated).total) == "28.00 USD"
    assert [one.day for one in spent(rated).rates] == ["2026-11-29"]


def lost_and_idle() -> Story:
    """A machine of one hour at 0.60: 30 minutes of work that was cut, of which 40 of 140 steps were lost."""
    story = told()
    story.machine("m-1", 0)
    story.start("control", 1, 0)
    story.save("control", 1, 20, 100)
    story.end("control", 1, 30, "lost", 140)
    story.streams["id-control-1"][-2].facts["seconds"] = 1800.0  # type: ignore[index]
    story.home(60, E.MACHINE_GONE, machine="m-1", cause="released", seconds=3600.0)
    return story


def test_idle_and_lost_time_are_parts_of_the_bill_and_not_added_to_it() -> None:
    """Idle 30 of 60 minutes: 0.30 USD. Lost 40/140 of 30 minutes: 514.3 s, 0.0857 USD."""
    bill = spent(lost_and_idle())

    assert str(bill.total) == "0.60 USD"
    assert isinstance(bill.idle, ShareView)
    assert isinstance(bill.lost, ShareView)
    assert (bill.idle.seconds, [str(one) for one in bill.idle.amounts]) == (1800.0, ["0.30 USD"])
    assert bill.lost.seconds == pytest.approx(514.2857, abs=0.001)
    assert [f"{one.amount:.4f}" for one in bill.lost.amounts] == ["0.0857"]
    assert bill.lost.lines == ("machine m-1",)
    assert bill.lost.gpu_hours is None, "nobody has seen its cards"


def test_lost_hours_are_those_of_all_cards_of_the_machine() -> None:
    """514.3 s on four cards: 0.571 hours."""
    story = lost_and_idle()
    story.home(
        1, E.PREFLIGHT_DONE, machine="m-1", verdict="pass", summary="", findings=[],
        stack={"gpus": [{"name": "A"}] * 4}, node="n", seconds=1.0,
    )  # fmt: skip

    bill = spent(story)

    assert bill.lost is not None
    assert bill.lost.gpu_hours == pytest.approx(0.5714, abs=0.0001)


def test_an_attempt_that_told_no_steps_has_lost_nobody_knows_what() -> None:
    story = told()
    story.machine("m-1", 0)
    story.start("control", 1, 0)
    story.streams["id-control-1"].pop()
    story.end("control", 1, 30, "lost", None)

    bill = spent(story)

    assert bill.lost is not None
    assert (bill.lost.seconds, bill.lost.amounts) == (None, ())
    assert "m-1" in str(bill.lost.reason)


def test_a_closed_campaign_costs_what_it_had_cost_then() -> None:
    story = told(disk=DISK)
    story.home(60, E.CAMPAIGN_CLOSED, exit_code=0, root_digest="r", report_html="h", report_json="j")

    assert spent(story, 60).total == spent(story, 60_000).total


def invoice(story: Story, *lines: tuple[str, str], number: str = "1") -> None:
    told = [{"ref": ref, "what": ref, "amount": {"amount": money, "currency": "USD"}} for ref, money in lines]
    story.home(70, E.INVOICE_ADDED, number=number, day="2026-12-01", source="typed", lines=told)


def test_an_invoice_is_held_against_the_bill_line_by_line_and_changes_nothing() -> None:
    """m-1: 0.60, billed in two lines; the expense differs by 0.10; one line nobody knows of."""
    story = lost_and_idle()
    expense(story, "e1", "5.00", ref="R-7")
    expense(story, "e2", "1.00")
    before = spent(story).total
    invoice(story, ("m-1", "0.40"), ("m-1", "0.20"), ("R-7", "5.10"), ("support", "9.00"))

    found = [(one.status, one.ref, str(one.difference)) for one in spent(story).reconciled]

    assert found == [
        ("matched", "m-1", "0.00 USD"), ("differs", "R-7", "0.10 USD"), ("journal_only", "e2", "None"),
        ("invoice_only", "support", "None"),
    ]  # fmt: skip
    assert spent(story).total == before


def test_an_invoice_in_another_currency_is_not_comparable_and_an_undone_one_is_not_asked() -> None:
    story = lost_and_idle()
    told = [{"ref": "m-1", "what": "x", "amount": {"amount": "3.30", "currency": "BRL"}}]
    story.home(70, E.INVOICE_ADDED, number="2", day="2026-12-01", source="typed", lines=told)
    assert [one.status for one in spent(story).reconciled] == ["unknown"]

    story.home(71, E.INVOICE_UNDONE, number="2", why="of another campaign")
    assert spent(story).reconciled == ()


def test_a_lot_bought_by_hand_shares_its_price_by_the_use_of_its_machines() -> None:
    """A lot of 12 USD, used for 30 minutes of which 10 were idle: 4 USD."""
    story = told()
    lease = {**HOURLY, "kind": "lot", "price": {"amount": "12", "currency": "USD"}, "order": "4711",
             "ends_at": "2026-12-01T09:00:00.000000Z"}  # fmt: skip
    story.home(0, E.LEASE_ADDED, order="4711", host="here", lease=lease)
    story.machine("m-1", 0, lease)
    story.start("control", 1, 0)
    story.end("control", 1, 20, "done", 100)
    story.home(30, E.MACHINE_GONE, machine="m-1", cause="released", seconds=1800.0)

    bill = spent(story)

    assert bill.idle is not None
    assert [one.amount.quantize(Decimal("0.01")) for one in bill.idle.amounts] == [Decimal("4.00")]
    assert str(bill.total) == "12.00 USD"

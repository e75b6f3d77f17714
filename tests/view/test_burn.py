"""Spending over time: each line of the bill where it arose, and at the end the bill."""

from __future__ import annotations

import pytest

from lastro.journal.events import EventType as E
from lastro.journal.views import CampaignView
from lastro.view.burn import Burn, burn_of
from lastro.view.burn_svg import budget_is_drawn, burn_chart, has_common_scale
from lastro.view.model import page_of
from lastro.view.outcome import outcome_of
from tests.view.story import HOURLY, Story, adopted, planned

LOT = {**HOURLY, "offer": "lot", "kind": "lot", "price": {"amount": "6.00", "currency": "USD"},
       "term_seconds": 7200.0}  # fmt: skip


def burnt(campaign: CampaignView) -> Burn:
    found = burn_of(campaign, outcome_of(campaign))
    assert found is not None
    return found


def rounded(found: Burn) -> list[tuple[float, float]]:
    return [(at, round(amount, 9)) for at, amount in found.points]


def test_a_machine_by_the_hour_is_paid_evenly_over_its_life() -> None:
    """One hour at 0.60 USD."""
    assert rounded(burnt(adopted().view())) == [(0.0, 0.0), (3600.0, 0.6)]


def test_a_lot_is_paid_when_it_is_taken_and_an_expense_at_the_end() -> None:
    """6 USD at once after 30 min; 0.60 USD over 60 min; 1.50 USD typed."""
    story = Story(planned())
    story.machine("m-1", 0)
    story.machine("m-2", 30, lease=LOT)
    story.home(60, E.MACHINE_GONE, machine="m-1", cause="released", seconds=3600.0)
    story.home(60, E.MACHINE_GONE, machine="m-2", cause="released", seconds=1800.0)
    story.home(61, E.EXPENSE_ADDED, id="e1", what="labels", amount={"amount": "1.50", "currency": "USD"},
               day="2026-11-30", ref="")  # fmt: skip
    view = story.view()

    points = rounded(burnt(view))

    assert points == [(0.0, 0.0), (1800.0, 0.3), (1800.0, 6.3), (3600.0, 6.6), (3600.0, 8.1)]
    assert view.cost.total is not None
    assert points[-1][1] == float(view.cost.total.amount)


def test_what_is_unknown_or_in_another_currency_is_named_and_not_drawn() -> None:
    story = adopted()
    story.machine("m-2", 10, lease=None)
    story.home(61, E.EXPENSE_ADDED, id="e1", what="labels", amount={"amount": "9.00", "currency": "BRL"},
               day="2026-11-30", ref="")  # fmt: skip

    found = burnt(story.view())

    assert found.currency == "USD"
    assert len(found.left_out) == 2
    assert found.points[-1][1] == pytest.approx(0.60)


def test_before_anything_is_rented_there_is_no_picture() -> None:
    view = Story(planned("wide")).view()

    assert burn_of(view, outcome_of(view)) is None
    assert page_of(view).burn is None


def burn(planned_end: float, budget: float | None) -> Burn:
    ends = ((planned_end / 2, 4.0), (planned_end, 5.0), (planned_end * 1.5, 8.0))
    return Burn(currency="USD", points=((0.0, 0.0), (3600.0, 6.0)), planned=ends, budget=budget, left_out=())


@pytest.mark.parametrize(("planned_end", "common"), [(3600.0, True), (24 * 3600.0, False)])
def test_plans_and_facts_of_other_lengths_have_axes_of_their_own(planned_end: float, common: bool) -> None:
    assert has_common_scale(burn(planned_end, None)) is common


@pytest.mark.parametrize(("budget", "drawn"), [(10.0, True), (60.0, False), (None, False)])
def test_a_budget_far_above_is_told_in_words(budget: float | None, drawn: bool) -> None:
    """The highest amount is 8; up to 24 the line is drawn."""
    assert budget_is_drawn(burn(3600.0, budget)) is drawn
    assert ("burn-budget" in burn_chart(burn(3600.0, budget))) is drawn


def test_the_picture_says_in_words_what_it_draws() -> None:
    assert "spent: 6.00 USD; planned: 4.00 USD to 8.00 USD" in burn_chart(burn(3600.0, None))

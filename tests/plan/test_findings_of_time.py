from __future__ import annotations

from datetime import datetime, timezone
from pathlib import Path

from lastro.plan.build import Code, make_plan
from lastro.plan.model import Plan

from .planning import campaign, codes, offers, option, texts, usd

#: 4 h of work, 1 USD an hour by day and 0.25 from 22 to 6, at UTC-3. NOON is 12:00 there.
STAGES = "stages: {run: {each: run, gpu: 1, hours: 4}}\n"
NIGHT = """\
offers:
  - {name: a, kind: hourly, price: 1 USD, utc: -3, by_hour: {"22-06": 0.25 USD}, seen: 2026-11-30}
"""
NOON = datetime(2026, 11, 30, 15, tzinfo=timezone.utc)


def planned(folder: Path, extra: str = "", text: str = NIGHT, now: datetime = NOON) -> Plan:
    return make_plan(
        campaign(folder, STAGES + extra), offers(folder, text), created_at=now, code=Code(digest="c" * 64)
    )


def test_the_price_is_that_of_the_hours_in_which_it_runs(tmp_path: Path) -> None:
    """Four hours from noon: 4 USD. From 20:00 on: two at 1 and two at 0.25 are 2.50."""
    assert option(planned(tmp_path), "a").cost.total == usd("4")
    evening = datetime(2026, 11, 30, 23, tzinfo=timezone.utc)
    assert option(planned(tmp_path, now=evening), "a").cost.total == usd("2.5")


def test_a_cheaper_start_is_proposed_with_the_difference(tmp_path: Path) -> None:
    """From 22:00 on four hours cost 1 USD: 3 less, ten hours later."""
    text = texts(planned(tmp_path))["start_later"]

    assert "10 h 00 min later, its machine from 2026-12-01 01:00 UTC on" in text
    assert "it costs 1.00 USD, 3.00 USD less" in text


def test_no_start_is_proposed_that_would_end_too_late(tmp_path: Path) -> None:
    assert "start_later" not in codes(planned(tmp_path, "window: 6h\n"))


def test_what_cannot_be_had_within_the_window_is_told(tmp_path: Path) -> None:
    closed = NIGHT.replace('"22-06": 0.25 USD', '"08-23": none')

    assert codes(planned(tmp_path, "window: 5h\n", closed))["not_to_be_had"] == "warn"


def test_a_machine_that_cannot_be_had_now_is_told_even_where_it_costs_no_less_later(tmp_path: Path) -> None:
    closed = NIGHT.replace('"22-06": 0.25 USD', '"08-18": none')

    text = texts(planned(tmp_path, "window: 24h\n", closed))["not_to_be_had"]
    assert text == "a: no machine is to be had before 2026-11-30 21:00 UTC; no later start is cheaper"


def test_what_comes_before_the_machine_moves_with_it_and_stays_in_the_window(tmp_path: Path) -> None:
    """8 h of a person, then 4 h from 20:00: 2 + 2 / 4 = 2.50. Two hours later all of it is by night: 1 USD.

    In a window of 13 h only one hour can be waited: 1 + 3 / 4 = 1.75, 0.75 less.
    """
    before = STAGES.replace("{run:", "{p: {person: 8h}, run:")

    def told(window: str) -> str:
        spec = campaign(tmp_path, before + f"window: {window}\n")
        made = make_plan(spec, offers(tmp_path, NIGHT), created_at=NOON, code=Code(digest="c" * 64))
        assert option(made, "a").cost.total == usd("2.5")
        return texts(made)["start_later"]

    assert "2 h 00 min later, its machine from 2026-12-01 01:00 UTC on, it costs 1.00 USD, 1.50" in told(
        "24h"
    )
    assert "1 h 00 min later, its machine from 2026-12-01 00:00 UTC on, it costs 1.75 USD, 0.75" in told(
        "13h"
    )


def test_units_and_minimums_are_billed_by_the_hour_of_the_day_too(tmp_path: Path) -> None:
    """2.5 h with a minimum of 4 from 21:00: one at 1 USD and three at 0.25 are 1.75."""
    text = NIGHT.replace("utc: -3", "utc: -3, unit: 1h, minimum: 4h")
    spec = campaign(tmp_path, STAGES.replace("hours: 4", "hours: 2.5"))
    evening = datetime(2026, 12, 1, 0, tzinfo=timezone.utc)
    made = make_plan(spec, offers(tmp_path, text), created_at=evening, code=Code(digest="c" * 64))

    assert option(made, "a").cost.total == usd("1.75")


def test_how_often_it_is_too_dear_is_unknown_where_prices_go_by_the_hour(tmp_path: Path) -> None:
    """By day four hours are 4 USD; the draws know one price only."""
    assert option(planned(tmp_path, "budget: 3.9 USD\n"), "a").p_over_budget is None


def test_the_bound_holds_for_every_hour_of_the_day(tmp_path: Path) -> None:
    """Nothing is proven to cost more than by night: 4 x 0.25 = 1 USD."""
    best = option(planned(tmp_path), "a")

    assert best.bound is not None and best.bound.amount <= 1

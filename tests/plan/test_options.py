"""Options against numbers that were worked out by hand; the calendar of the article unless said otherwise."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path

import pytest

from lastro.errors import PlanError
from lastro.plan.possible import is_possible, require_possible
from lastro.units import Money

from .planning import ARTICLE, LOTS, VARIANTS, codes, option, plan, texts, usd

#: 30 hours more of evaluation: 78 hours in all, the machine is held for 76 of them.
LATE = ARTICLE.replace("[4, 8, 9]", "38")


def test_one_lot_covers_the_calendar_of_the_article(tmp_path: Path) -> None:
    """48 hours in a window of 72 leave 24; the lot of three days costs 47.14."""
    made = plan(tmp_path, ARTICLE + VARIANTS + "budget: 60 USD\n", LOTS)

    assert made.lease is not None and made.lease.offer == made.option == "three days"
    assert made.slack_hours == 24.0
    best = option(made, "three days")
    assert (best.cost.total, best.slack_hours, best.fits) == (usd("47.14"), 24.0, True)
    assert "cheapest" in best.roles and "cheapest that fits the window and the budget" in best.why
    assert [line.amount for line in best.cost.lines] == [usd("47.14")]


def test_a_dearer_offer_says_by_how_much(tmp_path: Path) -> None:
    """390 - 47.14 = 342.86."""
    made = plan(tmp_path, ARTICLE + VARIANTS, LOTS)

    month = option(made, "a month")
    assert (month.offered, month.cost.total) == (False, usd("390"))
    assert month.why == "it costs 342.86 USD more than three days and does the same"


def test_two_lots_at_once_cost_twice_and_shorten_only_independent_runs(tmp_path: Path) -> None:
    """Two rounds of runs instead of three: 38 h, 10 h less; 2 x 47.14 = 94.28."""
    made = plan(tmp_path, ARTICLE + VARIANTS, LOTS)

    two = option(made, "2 x three days")
    assert (two.cost.total, two.machines, two.roles) == (usd("94.28"), 2, ("lots in parallel",))
    assert two.end is not None and two.end.likely == 38.0
    assert "10 h 00 min before one machine: only independent runs become shorter" in two.why
    assert "needs `machines: 2` in the campaign file" in two.notes


def test_a_single_run_is_not_offered_two_lots(tmp_path: Path) -> None:
    one_run = "window: 72h\nstages: {run: {each: run, gpu: 1, hours: 40}}\n"

    assert [one.name for one in plan(tmp_path, one_run, LOTS).options if one.offered] == ["three days"]


def test_thirty_hours_more_are_six_over_and_a_longer_lot_and_less_work_are_offered(tmp_path: Path) -> None:
    """78 of 72 hours: 6 over. Without the useful run it takes 68; the lot of a week lasts 168.

    It is held from the second hour on, for 76 hours: 92 of it, 3 days and 20 hours, are slack.
    """
    made = plan(tmp_path, LATE + VARIANTS, LOTS)

    assert (made.total_hours.likely if made.total_hours else None, made.slack_hours) == (78.0, -6.0)
    week, less = option(made, "a week"), option(made, "reduced, three days")
    assert (week.offered, week.fits, week.fits_window) == (True, False, False)
    assert "3 d 20 h of it are slack" in week.why and "the window has to be moved" in week.why
    assert (less.fits, less.slack_hours, less.left_out) == (True, 4.0, ("deep",))
    assert (less.cost.total, less.roles) == (usd("47.14"), ("reduced protocol",))
    assert is_possible(made)
    assert codes(made)["window_too_short"] == "fail"
    assert [one.text for one in made.findings if one.code == "another_option_fits"] == [
        "reduced, three days fits: `lastro plan --reduced --freeze` takes it",
        "2 x three days fits, and needs `machines: 2` in the campaign file",
    ]
    with pytest.raises(PlanError) as caught:
        require_possible(made)
    assert "without deep it fits: `lastro plan --reduced --freeze`" in str(caught.value.hint)


def test_the_reduced_protocol_is_taken_only_when_it_is_asked_for(tmp_path: Path) -> None:
    made = plan(tmp_path, LATE + VARIANTS, LOTS, protocol="reduced")

    assert (made.protocol, made.left_out, made.slack_hours) == ("reduced", ("deep",), 4.0)
    assert [run.name for run in made.runs] == ["control", "wide"]
    assert "window_too_short" not in codes(made)


def test_a_calendar_longer_than_a_lot_needs_a_second_term(tmp_path: Path) -> None:
    """76 h of a machine are two terms of 72: 94.28."""
    made = plan(tmp_path, LATE.replace("window: 72h", "window: 80h") + VARIANTS, LOTS)

    twice = option(made, "three days")
    assert (twice.cost.total, twice.holdings[0].terms) == (usd("94.28"), 2)


def test_another_term_at_its_own_price_and_a_lot_that_cannot_be_renewed(tmp_path: Path) -> None:
    """47.14 and 30 more for the second term are 77.14; without a second term the cost is unknown."""
    text = LOTS.replace("term: 3d", "term: 3d, renewal: 30 USD")
    late = LATE.replace("window: 72h", "window: 80h") + VARIANTS
    assert option(plan(tmp_path, late, text), "three days").cost.total == usd("77.14")

    never = option(plan(tmp_path, late, LOTS.replace("term: 3d", "term: 3d, renewal: none")), "three days")
    assert (never.offered, never.cost.total) == (False, None)
    assert never.why == "it lasts 3 d 0 h and cannot be renewed, and the work takes longer"


def test_the_only_lot_is_not_taken_when_it_ends_before_the_work(tmp_path: Path) -> None:
    """50 hours on a lot of two days that nobody renews."""
    text = "offers:\n  - {name: a, kind: lot, price: 9 USD, term: 2d, renewal: none}\n"
    made = plan(tmp_path, "stages: {run: {each: run, gpu: 1, hours: 50}}\n", text)

    assert made.option is None and "it lasts 2 d 0 h and cannot be renewed" in made.lease_why


def test_what_a_following_term_costs_is_unknown_and_never_nothing(tmp_path: Path) -> None:
    """70 hours are one term of 72, 90 are two: the high cost is not that of one term."""
    stages = "budget: 60 USD\nstages: {run: {each: run, gpu: 1, hours: [40, 70, 90]}}\n"
    text = "offers:\n  - {name: a, kind: lot, price: 50 USD, term: 3d, renewal: unknown}\n"
    best = option(plan(tmp_path, stages, text), "a")

    assert (best.cost.low, best.cost.total, best.cost.high) == (usd("50"), usd("50"), None)
    assert best.p_over_budget is None
    assert any("following term" in note for note in best.notes)


def test_a_lot_is_held_from_its_first_use_so_what_comes_before_is_no_part_of_it(tmp_path: Path) -> None:
    """30 h of a person, then 50 h of a machine: 72 - 50 = 22 h of the lot are slack."""
    stages = "stages: {p: {person: 30h}, run: {each: run, gpu: 1, hours: 50}}\n"
    best = option(plan(tmp_path, stages, LOTS), "three days")

    assert "one lot of 3 d 0 h holds it all, 22 h 00 min of it are slack" in best.why


def test_a_machine_without_gpu_is_paid_for_what_holds_the_cpu(tmp_path: Path) -> None:
    """10 h at 0.10 USD. What holds nothing at all says of no machine for how long it is rented."""
    text = "offers:\n  - {name: c, kind: hourly, price: 0.10 USD, gpus: 0}\n"
    text += "  - {name: l, kind: lot, price: 5 USD, term: 1d}\n"
    stages = "window: 72h\nbudget: 9 USD\nstages: {run: {each: run, cpu: 1, hours: 10}}\n"
    made = plan(tmp_path, stages, text)
    assert (made.option, option(made, "c").cost.total) == ("c", usd("1"))
    assert option(made, "l").cost.total is None

    unheld = plan(tmp_path, stages.replace("cpu: 1, ", ""), text)
    nothing = option(unheld, "c")
    assert (nothing.cost.total, nothing.fits_budget) == (None, None)
    assert "no stage holds a machine" in texts(unheld)["budget_unknown"]
    assert any("no stage holds a machine such as c" in note for note in nothing.notes)


def test_an_option_is_named_by_the_machines_that_it_rents(tmp_path: Path) -> None:
    """Two runs of 10 h on four machines that may be had: two are rented, 20 USD."""
    stages = (
        "machines: 4\nvariants: {w: {changes: {width: 1}}}\nstages: {run: {each: run, gpu: 1, hours: 10}}\n"
    )
    made = plan(tmp_path, stages, "offers:\n  - {name: h, kind: hourly, price: 1 USD}\n")

    assert (made.option, option(made, "2 x h").cost.total) == ("2 x h", usd("20"))


def test_the_wait_for_the_first_machine_is_in_every_draw(tmp_path: Path) -> None:
    """Two hours of a person lie within the two days; 48 h and at least 8 are always more than 50."""
    stages = "window: 50h\nstages: {p: {person: 2h}, run: {each: run, gpu: 1, hours: [8, 10, 12]}}\n"
    best = option(
        plan(tmp_path, stages, "offers:\n  - {name: h, kind: hourly, price: 1 USD, lead: 2d}\n"), "h"
    )

    assert best.end is not None and best.end.likely == 58
    assert (best.p_late, best.slack_hours) == (1.0, -8.0)


def test_no_chance_is_told_of_a_calendar_or_a_cost_that_is_not_known_whole(tmp_path: Path) -> None:
    """One stage is no run's, so how long the runs take is unknown; and a disk has no price."""
    limits = "window: 72h\nbudget: 60 USD\n"
    hourly = (
        "offers:\n  - {name: h, kind: hourly, price: 1 USD, disk: d}\ndisks:\n  - {name: d, price: unknown}\n"
    )
    part = option(plan(tmp_path, limits + "stages: {warm: {gpu: 1, hours: 2}}\n", hourly), "h")
    assert (part.p_late, part.p_over_budget) == (None, None)
    assert "rarely late" not in part.roles

    data = "data: {results: 10 GB}\n"
    known = option(
        plan(tmp_path, limits + data + "stages: {run: {each: run, gpu: 1, hours: 2}}\n", hourly), "h"
    )
    assert (known.p_late, known.p_over_budget, known.proven) == (0.0, None, False)


def test_what_is_exploratory_is_on_no_calendar_be_it_a_stage_or_a_run(tmp_path: Path) -> None:
    """10 h are required and 5 useful; 30 exploratory ones start on request. 15 in all, 10 when reduced."""
    stages = "window: 20h\nstages:\n  run: {each: run, gpu: 1, hours: 10}\n"
    stages += (
        "  look: {gpu: 1, hours: 30, priority: exploratory}\n  more: {gpu: 1, hours: 5, priority: useful}\n"
    )
    made = plan(tmp_path, stages, "offers:\n  - {name: h, kind: hourly, price: 1 USD}\n")

    assert option(made, "h").cost.total == usd("15")
    assert option(made, "reduced, h").cost.total == usd("10")


def test_a_lot_that_includes_two_machines_has_its_price_once(tmp_path: Path) -> None:
    text = "offers:\n  - {name: pair, kind: lot, price: 300 USD, term: 3d, machines: 2, gpus: 2, gpu: B200}\n"
    made = plan(tmp_path, ARTICLE + VARIANTS + "machines: 2\n", text)

    pair = option(made, "pair")
    assert (pair.cost.total, pair.holdings[0].leases) == (usd("300"), 1)
    assert "2 machines with 2 cards each are included" in pair.cost.lines[0].quantity


def test_hourly_time_is_billed_in_units(tmp_path: Path) -> None:
    """Two runs of 1.5 h on one machine that is kept: 3 h at 2 USD = 6; low 2 h: 4, high 6 h: 12."""
    stages = "stages:\n  run: {each: run, gpu: 1, hours: [1, 1.5, 3]}\nvariants: {w: {changes: {width: 1}}}\n"
    made = plan(tmp_path, stages, "offers:\n  - {name: h, kind: hourly, price: 2 USD, unit: 1h}\n")

    one = option(made, "h")
    assert (one.cost.low, one.cost.total, one.cost.high) == (usd("4"), usd("6"), usd("12"))
    assert (one.holdings[0].hours, one.holdings[0].terms) == (3.0, None)


def test_a_machine_is_given_back_when_waiting_for_a_person_costs_more(tmp_path: Path) -> None:
    """1 h, then 10 h of a person, then 1 h: 2 h at 2 USD = 4, not 12 h = 24."""
    stages = (
        "stages:\n  a: {gpu: 1, hours: 1, run: control}\n  look: {person: 10h}\n  b: {gpu: 1, hours: 1}\n"
    )
    made = plan(tmp_path, stages, "offers:\n  - {name: h, kind: hourly, price: 2 USD, unit: 1h}\n")

    assert option(made, "h").cost.total == usd("4")


def test_the_hourly_alternative_tells_where_it_breaks_even(tmp_path: Path) -> None:
    """47.14 / 0.69 = 68.3 h of the lot's 72."""
    text = LOTS + "  - {name: hour, kind: hourly, price: 0.69 USD, gpu: RTX 4090}\n"
    made = plan(tmp_path, ARTICLE + VARIANTS, text)

    assert made.option == "hour"
    assert any("after 68.3 of 72 h" in note for note in option(made, "hour").notes)


def test_an_unknown_duration_makes_an_unknown_cost_with_its_reason(tmp_path: Path) -> None:
    """Taken is what is cheapest by the hour: 390 / 720 h = 0.54, less than 47.14 / 72 = 0.65."""
    made = plan(tmp_path, VARIANTS, LOTS)

    assert all(one.cost.total is None for one in made.options)
    assert made.options[0].cost.why == "a duration is unknown, so the cost is"
    assert made.option == "a month"


def test_an_unknown_price_is_never_the_cheapest(tmp_path: Path) -> None:
    text = (
        "offers:\n  - {name: u, kind: hourly, price: unknown}\n"
        "  - {name: a, kind: hourly, price: 3 USD}\n  - {name: b, kind: hourly, price: 2 USD}\n"
    )
    made = plan(tmp_path, ARTICLE, text)

    assert made.option == "b"
    assert option(made, "u").why == "the price of u is unknown"


@pytest.mark.parametrize(
    ("offer", "extra", "says"),
    [
        ("provider: local", "", "it is had from local, the campaign runs on here"),
        ("capacity: 0", "", "none is left"),
        ("jurisdiction: US", "jurisdictions: [BR, EU]\n", "it lies in US, the campaign allows"),
        ("memory: 16 GB", "", "its memory of 16 GB is too small: run control needs 20 GB"),
        ("gpu: A100", "", "nobody says how long run control takes on A100"),
        ("gpus: 0, cpus: 8", "", "it has no GPU"),
    ],
)
def test_an_offer_that_cannot_be_taken_is_told_with_its_reason(
    tmp_path: Path, offer: str, extra: str, says: str
) -> None:
    stages = "stages: {run: {each: run, gpu: 1, memory: 20 GB, hours: {RTX 4090: 3}}}\n"
    text = f"offers:\n  - {{name: a, kind: hourly, price: 1 USD, {offer}}}\n"
    made = plan(tmp_path, f"{stages}{extra}offers: offers.yaml\n", text)

    assert made.lease is None
    assert says in option(made, "a").why and says in made.lease_why
    assert codes(made)["no_offer"] == "warn"  # this box is there already; only its price is unknown


def test_two_machines_do_not_join_their_memories(tmp_path: Path) -> None:
    stages = "machines: 2\nstages: {run: {each: run, gpu: 2, hours: 3}}\n"
    made = plan(tmp_path, stages, "offers:\n  - {name: a, kind: hourly, price: 1 USD}\n")

    assert "needs 2 cards of one machine, it has 1; machines do not join memories" in option(made, "a").why


def test_spot_that_is_not_cheaper_than_on_demand_is_refused(tmp_path: Path) -> None:
    text = (
        "offers:\n  - {name: demand, kind: hourly, price: 0.44 USD, gpu: A40}\n"
        "  - {name: spot, kind: spot, price: 0.49 USD, gpu: A40}\n"
    )
    made = plan(tmp_path, ARTICLE, text)

    assert made.option == "demand"
    assert "spot at 0.49 USD an hour is not cheaper than demand" in option(made, "spot").why


def test_a_stage_that_never_runs_on_spot_binds_every_option(tmp_path: Path) -> None:
    fixed = ARTICLE.replace("evaluate: {", "evaluate: {never_spot: true, ")
    text = "offers:\n  - {name: s, kind: spot, price: 0.1 USD}\n  - {name: h, kind: hourly, price: 1 USD}\n"
    made = plan(tmp_path, fixed, text)

    assert made.option == "h"
    assert option(made, "s").why == "evaluate never runs on spot"


def test_without_an_offer_there_is_no_machine_and_no_plan(tmp_path: Path) -> None:
    text = "offers:\n  - {name: a, kind: hourly, price: 1 USD, capacity: 0}\n"
    made = plan(tmp_path, f"{ARTICLE}provider: local\noffers: offers.yaml\n", text)

    assert codes(made)["no_offer"] == "fail"
    assert not is_possible(made)


def test_an_offer_in_a_member_state_lies_in_the_union(tmp_path: Path) -> None:
    text = "offers:\n  - {name: a, kind: hourly, price: 1 USD, jurisdiction: PT}\n"
    made = plan(tmp_path, ARTICLE + "jurisdictions: [EU]\n", text)

    assert made.lease is not None


def test_a_ceiling_below_every_option_gives_no_plan_with_the_cheapest_violation(tmp_path: Path) -> None:
    """47.14 - 40 = 7.14 over."""
    made = plan(tmp_path, ARTICLE + VARIANTS + "budget: 40 USD\n", LOTS)

    assert made.lease is not None and made.lease.offer == "three days"
    assert "none fits; three days comes nearest" in made.lease_why
    assert "7.14 USD more than the budget" in made.lease_why
    assert codes(made)["over_budget"] == "fail"
    assert not is_possible(made)


def test_another_currency_is_neither_in_nor_over_the_budget(tmp_path: Path) -> None:
    made = plan(tmp_path, ARTICLE + VARIANTS + "budget: 40 BRL\n", LOTS)

    assert option(made, "three days").fits_budget is None
    assert codes(made)["budget_unknown"] == "warn"


def test_a_dated_rate_lets_two_currencies_compare(tmp_path: Path) -> None:
    """47.14 USD at 5.40 are 254.56 BRL, within 300; 110 USD are 594, which is not."""
    text = LOTS + "rates: [{from: USD, to: BRL, rate: 5.40, seen: 2026-11-29, source: the central bank}]\n"
    made = plan(tmp_path, ARTICLE + VARIANTS + "budget: 300 BRL\n", text)

    assert option(made, "three days").fits_budget is True
    assert option(made, "a week").fits_budget is False


def test_a_price_a_unit_of_work(tmp_path: Path) -> None:
    """47.14 for two corpora are 23.57 each; without a number of them there is no such price."""
    made = plan(tmp_path, ARTICLE + VARIANTS + "work: {amount: 2, unit: corpus}\n", LOTS)

    assert option(made, "three days").per_unit == usd("23.57")
    assert option(plan(tmp_path, ARTICLE + VARIANTS, LOTS), "three days").per_unit is None


def test_the_cards_have_their_own_durations(tmp_path: Path) -> None:
    """10 h at 1 USD = 10; 4 h at 2 USD = 8: the dearer card is the cheaper one."""
    stages = "stages: {run: {each: run, gpu: 1, hours: {RTX 4090: 10, H100: [3, 4, 5]}}}\n"
    text = (
        "offers:\n  - {name: small, kind: hourly, price: 1 USD, gpu: NVIDIA GeForce RTX 4090}\n"
        "  - {name: large, kind: hourly, price: 2 USD, gpu: H100}\n"
    )
    made = plan(tmp_path, stages, text)

    assert made.option == "large"
    assert [option(made, name).cost.total for name in ("small", "large")] == [usd("10"), usd("8")]


def test_p_late_is_drawn_and_a_late_plan_is_told(tmp_path: Path) -> None:
    """With 48 h likely, 35 at least and 63 at most, a window of 50 h is missed in a part of the draws."""
    made = plan(tmp_path, ARTICLE.replace("72h", "50h") + VARIANTS, LOTS)

    late = option(made, "three days").p_late
    assert late is not None and 0.1 < late < 0.9
    assert codes(made)["likely_late"] == "warn"


def test_an_exploratory_run_is_on_request(tmp_path: Path) -> None:
    more = VARIANTS + "  odd: {changes: {width: 7}, priority: exploratory}\n"
    made = plan(tmp_path, ARTICLE + more, LOTS)

    assert made.total_hours is not None and made.total_hours.likely == 48.0
    assert [run.name for run in made.runs] == ["control", "wide", "deep", "odd"]


def test_more_time_never_costs_more(tmp_path: Path) -> None:
    costs = []
    for window in ("49h", "72h", "100h"):
        made = plan(tmp_path, ARTICLE.replace("72h", window) + VARIANTS, LOTS)
        best = option(made, made.option or "").cost.total
        assert best is not None
        costs.append(best.amount)

    assert costs == sorted(costs, reverse=True) == [Decimal("47.14")] * 3


def test_money_that_cannot_be_added_up_is_unknown() -> None:
    with pytest.raises(ValueError, match="undefined"):
        Money(Decimal(1), "USD").divided(0)


# --- spot ---------------------------------------------------------------------------------------------

HOURS_10 = "stages: {run: {each: run, gpu: 1, hours: 10}}\ninterruption: {save: 10s, restart: 6min}\n"


def test_spot_is_priced_with_its_interruptions(tmp_path: Path) -> None:
    """Every machine lives 3 h, so 10 h of work need more than three of them, and more than 10 h are paid."""
    text = (
        "offers:\n  - {name: spot, kind: spot, price: 1 USD, lifetimes: [3], gpu: A40}\n"
        "  - {name: demand, kind: hourly, price: 1.5 USD, gpu: A40}\n"
    )
    made = plan(tmp_path, HOURS_10, text)

    spot = option(made, "spot").cost.total
    assert spot is not None and Decimal("10.3") < spot.amount < Decimal("11")
    assert made.option == "spot"
    assert "3.0 interruptions are expected" in option(made, "spot").notes[0]
    assert "demand 15.00 USD; both cost the same at" in option(made, "spot").notes[1]
    assert made.checkpoint.interruption_seconds == 3 * 3600
    assert codes(made)["save_interval"] == "note"


def test_spot_whose_recovery_costs_more_than_it_saves_is_not_taken(tmp_path: Path) -> None:
    """Machines that live 15 min lose 6 of them to each restart: 1.3 USD a paid hour become more than 1.5."""
    text = (
        "offers:\n  - {name: spot, kind: spot, price: 1.3 USD, lifetimes: [0.25], gpu: A40}\n"
        "  - {name: demand, kind: hourly, price: 1.5 USD, gpu: A40}\n"
    )
    made = plan(tmp_path, HOURS_10, text)

    assert made.option == "demand"
    dear = option(made, "spot")
    assert dear.cost.total is not None and dear.cost.total.amount > 15


def test_spot_of_which_nobody_knows_how_long_it_lives_has_an_unknown_cost_and_never_wins(
    tmp_path: Path,
) -> None:
    text = (
        "offers:\n  - {name: spot, kind: spot, price: 0.1 USD, gpu: A40}\n"
        "  - {name: demand, kind: hourly, price: 1.5 USD, gpu: A40}\n"
    )
    made = plan(tmp_path, HOURS_10, text)

    assert made.option == "demand"
    unknown = option(made, "spot").cost
    assert (unknown.total, unknown.at_least) == (None, usd("1"))
    assert unknown.why == "nobody knows how long machines of spot live"


def test_one_machine_stays_and_the_others_are_on_spot(tmp_path: Path) -> None:
    """Lives of 4 h, no wait: a spot machine works most of each hour, so two take about half as long."""
    text = (
        "offers:\n  - {name: spot, kind: spot, price: 0.5 USD, lifetimes: [4], gpu: A40}\n"
        "  - {name: demand, kind: hourly, price: 1.5 USD, gpu: A40}\n"
    )
    stages = (
        "machines: 2\nvariants: {w: {changes: {width: 1}}}\nstages: {run: {each: run, gpu: 1, hours: 10}}\n"
    )
    made = plan(tmp_path, stages + "interruption: {save: 10s, restart: 6min, away: 0s}\n", text)

    group = option(made, "demand + 1 x spot")
    assert group.roles == ("mixed group",) and group.offered
    assert group.end is not None and 10 < group.end.likely < 11
    assert group.cost.total is not None and usd("20").amount < group.cost.total.amount < usd("22").amount

    unknown = option(plan(tmp_path, stages, text), "demand + 1 x spot")
    assert (unknown.offered, unknown.cost.total, unknown.end) == (False, None, None)
    assert "nobody knows how long it takes to get spot again" in unknown.why

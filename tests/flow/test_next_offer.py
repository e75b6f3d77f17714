"""When an offer is left for the next one, on figures that are worked out by hand."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lastro.billing import Lease, LeaseKind
from lastro.flow.next_offer import (
    Move,
    Nothing,
    Shown,
    Situation,
    SpotAccount,
    Stay,
    next_offer,
    spot_balance,
)
from lastro.flow.none_left import AskAgain, End, Question, Tried, none_left
from lastro.plan.rung import Rung
from lastro.rules import MoveOn
from lastro.units import Money

SPOT, HOURLY, LOT = LeaseKind.SPOT, LeaseKind.HOURLY, LeaseKind.LOT


def usd(text: str) -> Money:
    return Money(Decimal(text), "USD")


def rung(name: str, cost: str = "10", kind: LeaseKind = HOURLY, price: str = "1", **told: Any) -> Rung:
    lease = Lease(offer=name, kind=kind, price=usd(price))
    return Rung(offer=name, lease=lease, why="it is the next", cost=usd(cost), **told)


A, B, C = rung("a", "10", region="north"), rung("b", "12", region="south"), rung("c", "15", region="north")


def standing(**told: Any) -> Situation:
    return Situation(**{"rungs": (A, B, C), "current": "a", **told})


def test_an_offer_that_has_shown_nothing_is_asked() -> None:
    assert isinstance(next_offer(standing()), Stay)


@pytest.mark.parametrize(
    ("shown", "what", "says"),
    [
        (Shown(refusals=8, waited_seconds=127), "refused", "refused 8 times in a row"),
        (Shown(boots=1, boot_why="it had not booted"), "boot", "it had not booted"),
        (Shown(queues=1, queue_why="it had not begun"), "queue", "it had not begun"),
        (Shown(by_offer="driver 525"), "preflight", "every machine of it would be refused: driver 525"),
        (
            Shown(boxes=2, box_why="hot card"),
            "boxes",
            "2 machines were let go before any work, the last: hot",
        ),
    ],
)
def test_it_is_left_for_the_next_with_its_reason(shown: Shown, what: str, says: str) -> None:
    move = next_offer(standing(shown=shown))

    assert isinstance(move, Move)
    assert (move.offer, move.to.offer, move.what) == ("a", "b", what)
    assert says in move.why


@pytest.mark.parametrize("shown", [Shown(refusals=7), Shown(boxes=1, box_why="hot card")])
def test_seven_refusals_and_one_bad_box_are_no_reason_yet(shown: Shown) -> None:
    assert isinstance(next_offer(standing(shown=shown)), Stay)


@pytest.mark.parametrize(("waited", "moves"), [(35_999, False), (36_000, True)])
def test_waiting_may_cost_what_the_next_offer_costs_more(waited: float, *, moves: bool) -> None:
    """B costs 2 USD more than A; at 0.20 USD an hour these are waited away after 10 hours, or 36,000 s."""
    now = standing(shown=Shown(refusals=1, waited_seconds=waited), waiting_per_hour=usd("0.20"))

    found = next_offer(now)

    assert isinstance(found, Move) is moves
    if isinstance(found, Move):
        assert found.figures["dearer_by"] == usd("2").as_json()


def test_a_waiting_of_unknown_price_moves_nobody() -> None:
    assert isinstance(next_offer(standing(shown=Shown(refusals=1, waited_seconds=1e9))), Stay)


@pytest.mark.parametrize(("waited", "moves"), [(3599, False), (3600, True)])
def test_waiting_may_use_up_the_slack_of_an_offer(waited: float, *, moves: bool) -> None:
    now = standing(rungs=(replace(A, slack_hours=1.0), B), shown=Shown(refusals=1, waited_seconds=waited))

    assert isinstance(next_offer(now), Move) is moves


def test_offers_of_a_region_that_is_down_are_skipped() -> None:
    """C lies in the north too, and B was left: nothing is left, and both that are down may come back."""
    down = standing(down=frozenset({"north"}), shown=Shown(refusals=1))
    after = replace(down, left={"b": "boot"})

    move, nothing = next_offer(down), next_offer(after)

    assert isinstance(move, Move) and (move.to.offer, move.what) == ("b", "region")
    assert isinstance(nothing, Nothing)
    assert [one.offer for one in nothing.askable] == ["a", "c"]


def test_a_queue_that_gave_no_turn_may_give_one_later_and_a_machine_that_did_not_boot_may_not() -> None:
    nothing = next_offer(
        standing(current="c", left={"a": "queue", "b": "boot"}, shown=Shown(refusals=8, waited_seconds=127))
    )

    assert isinstance(nothing, Nothing)
    assert [one.offer for one in nothing.askable] == ["c", "a"]


# --- spot ---------------------------------------------------------------------------------------------

WEATHER = rung("weather", "4", SPOT, "0.40", gpu="X")
CALM = rung("calm", "10", HOURLY, "1.00", gpu="X")
OTHER = rung("other", "5", SPOT, "0.50", gpu="X")


def on_spot(account: SpotAccount, **told: Any) -> Situation:
    ladder = {"rungs": (WEATHER, OTHER, CALM), "current": "weather", "shown": Shown(spot=account)}
    return Situation(**{**ladder, **told})


def test_what_spot_saves_and_loses_by_hand() -> None:
    """10 h that count save 0.60 each: 6 USD. 5 h of 15 that are paid brought nothing, at 0.40: 2 USD."""
    account = SpotAccount(losses=3, kept_hours=10.0, paid_hours=15.0)

    assert spot_balance(WEATHER, CALM, account) == (usd("6.000000"), usd("2.000000"))


@pytest.mark.parametrize(
    ("losses", "kept", "paid", "moves"),
    [
        (2, 1.0, 2.4, False),  # saved 0.60, lost 0.56
        (2, 1.0, 2.5, True),  # saved 0.60, lost 0.60
        (1, 0.0, 5.0, False),  # one loss says nothing of the offer
        (2, 0.0, 0.1, True),  # nothing was saved at all
        (2, None, 5.0, False),  # nobody knows what was lost
    ],
)
def test_spot_is_left_when_its_losses_have_cost_what_it_saved(
    losses: int, kept: float | None, paid: float, *, moves: bool
) -> None:
    found = next_offer(on_spot(SpotAccount(losses=losses, kept_hours=kept, paid_hours=paid)))

    assert isinstance(found, Move) is moves
    if isinstance(found, Move):
        assert (found.to.offer, found.what) == ("calm", "spot")


def test_so_many_losses_as_the_campaign_accepts_are_enough() -> None:
    earning = SpotAccount(losses=2, kept_hours=100.0, paid_hours=101.0)

    assert isinstance(next_offer(on_spot(earning)), Stay)
    assert isinstance(next_offer(on_spot(earning, rules=MoveOn(spot_losses=2))), Move)


def test_hours_on_another_card_are_not_compared() -> None:
    account = SpotAccount(losses=5, kept_hours=0.0, paid_hours=5.0)

    assert isinstance(next_offer(on_spot(account, rungs=(WEATHER, replace(CALM, gpu="Y")))), Stay)


def test_with_nothing_on_demand_left_spot_stays() -> None:
    found = next_offer(on_spot(SpotAccount(losses=3), rungs=(WEATHER, OTHER), rules=MoveOn(spot_losses=3)))

    assert isinstance(found, Stay) and "no offer on demand is left" in found.why


def test_spot_that_was_left_for_its_losses_is_left_for_good() -> None:
    now = Situation(
        rungs=(WEATHER, CALM, OTHER), current="calm", left={"weather": "spot"}, shown=Shown(refusals=8)
    )

    assert isinstance(next_offer(now), Nothing)


# --- laws ---------------------------------------------------------------------------------------------

_SHOWN = st.builds(
    Shown,
    refusals=st.integers(0, 10),
    waited_seconds=st.floats(0, 1e6),
    boots=st.integers(0, 2),
    boot_why=st.just("no boot"),
    queues=st.integers(0, 2),
    queue_why=st.just("no turn"),
    by_offer=st.none() | st.just("driver"),
    boxes=st.integers(0, 3),
    spot=st.builds(
        SpotAccount,
        losses=st.integers(0, 4),
        kept_hours=st.none() | st.floats(0, 100),
        paid_hours=st.none() | st.floats(0, 200),
    ),
)
_LADDERS = st.lists(
    st.tuples(
        st.sampled_from([SPOT, HOURLY, LOT]), st.integers(0, 20), st.sampled_from([None, "north", "south"])
    ),
    min_size=1,
    max_size=6,
)


@settings(max_examples=150, deadline=None)
@given(
    ladder=_LADDERS,
    shows=st.lists(_SHOWN, min_size=1, max_size=12),
    down=st.sets(st.sampled_from(["north", "south"])),
    waiting=st.none() | st.integers(0, 5),
)
def test_whatever_offers_show_none_is_gone_to_twice_and_every_answer_has_a_reason(
    ladder: list[tuple[LeaseKind, int, str | None]], shows: list[Shown], down: set[str], waiting: int | None
) -> None:
    rungs = tuple(
        rung(f"o{number}", str(cost), kind, region=region)
        for number, (kind, cost, region) in enumerate(ladder)
    )
    current = rungs[0].offer
    left: dict[str, str] = {}
    for seen in shows:
        now = Situation(
            rungs=rungs,
            current=current,
            left=dict(left),
            shown=seen,
            down=frozenset(down),
            waiting_per_hour=None if waiting is None else usd(str(waiting)),
        )
        found = next_offer(now)
        assert found.why
        if not isinstance(found, Move):
            continue
        assert found.to.offer not in left and found.to.offer != current
        assert found.to.region not in down or found.to.region is None
        assert not ("spot" in [*left.values(), found.what] and found.to.kind is SPOT)
        left[current], current = found.what, found.to.offer


# --- none left ----------------------------------------------------------------------------------------


def left_over(what: str = "refused", *askable: Rung) -> Nothing:
    return Nothing(rung=C, what=what, why="c: refused", askable=askable)


def then(rule: str, nothing: Nothing, **tried: Any) -> AskAgain | Question | End:
    return none_left(nothing, rule, Tried(**tried), most=12, waiting="waiting costs nothing that is known")


def test_a_campaign_that_stops_asks_in_turn_until_it_was_refused_often_enough() -> None:
    both = left_over("refused", C, A)

    asked = [then("stop", both, refusals=count) for count in range(3)]

    assert [one.rung.offer for one in asked if isinstance(one, AskAgain)] == ["c", "a", "c"]
    assert isinstance(then("stop", both, refusals=13), End)


def test_a_campaign_that_waits_never_ends_by_itself() -> None:
    assert isinstance(then("wait", left_over("refused", C), refusals=10_000), AskAgain)


def test_a_campaign_that_waits_has_nothing_to_wait_for_when_its_machines_were_no_good() -> None:
    found = then("wait", left_over("boot"), rejected=True, times=1)

    assert isinstance(found, End) and found.what == "boot"


def test_a_campaign_that_asks_a_person_asks_each_offer_once_more_when_it_is_called_again() -> None:
    both = left_over("refused", C, A)

    assert [type(then("ask", both, times=count, refusals=count)) for count in range(3)] == [
        AskAgain,
        AskAgain,
        Question,
    ]
    assert isinstance(then("ask", left_over("boot"), rejected=True, times=1), Question)


@pytest.mark.parametrize("rule", ["stop", "ask", "wait"])
def test_whoever_types_the_command_again_has_the_last_offer_tried_again(rule: str) -> None:
    found = then(rule, left_over("boot"))

    assert isinstance(found, AskAgain) and found.rung is C

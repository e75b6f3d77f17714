"""What home does about money, time and weather, decided on campaigns that are told as events."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from decimal import Decimal
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from lastro.billing import Lease, LeaseKind
from lastro.clock import iso
from lastro.flow import policy
from lastro.flow.lease_choice import lease_for
from lastro.flow.limits import limits_by_machine, limits_of_new
from lastro.flow.money import WEATHER_SHARE, weather_cap
from lastro.flow.moving_on import MAX_REFUSALS, refusal_wait
from lastro.journal.events import EventType as E
from lastro.journal.views import CampaignView
from lastro.journal.weather import spent_without_progress
from lastro.providers.base import Machine, MachineState
from lastro.units import Money
from tests.view.story import START, Story, planned

#: 0.60 USD an hour: 0.01 a minute.
HOURLY = Lease(offer="box", kind=LeaseKind.HOURLY, price=Money(Decimal("0.60"), "USD"))


def usd(text: str) -> Money:
    return Money(Decimal(text), "USD")


def plan_of(**changed: Any) -> Any:
    """Return what of a plan decides about limits."""
    told = {
        "budget": usd("60"), "window_hours": 24.0, "machines": 1, "lease": HOURLY, "idle_seconds": None,
        "max_weather": None,
    }  # fmt: skip
    return SimpleNamespace(**{**told, **changed})


def situation(view: CampaignView, plan: Any, **changed: Any) -> policy.Situation:
    machines = {
        machine.id: Machine(
            id=machine.id,
            node="n",
            tag=machine.tag,
            state=MachineState.RUNNING,
            workdir=Path("/w"),
            created_at=START,
        )
        for machine in view.machines
        if machine.id is not None
    }
    told: dict[str, Any] = {
        "view": view,
        "machines": machines,
        "supervised": frozenset(),
        "wanted": tuple(run.id for run in view.runs),
        "max_machines": plan.machines,
        "budget": plan.budget,
        "checked": frozenset(machines),
        "limits": limits_by_machine(plan, view),
        "fresh": limits_of_new(plan, view, lease_for(plan, view, "local")),
        "max_weather": plan.max_weather,
    }
    return policy.Situation(**{**told, **changed})


def halted(view: CampaignView, plan: Any, **changed: Any) -> str | None:
    action = policy.next_action(situation(view, plan, **changed))
    return action.why if isinstance(action, policy.Halt) else None


def fresh_story(*names: str) -> Story:
    return Story(planned(*names))


def stormy(times: int) -> Story:
    """Machines of ten minutes each (0.10 USD), all taken away before a save."""
    story = fresh_story()
    for number in range(1, times + 1):
        name = f"m-{number}"
        story.machine(name, number * 10)
        story.start("control", number, number * 10 + 1, machine=name)
        story.end("control", number, number * 10 + 9, "lost", 4)
        story.home(number * 10 + 10, E.MACHINE_GONE, machine=name, cause="preempted", seconds=600.0)
    return story


def test_a_window_that_is_over_halts_with_its_reason() -> None:
    view = fresh_story().view(minutes=61)

    assert "deadline" in str(halted(view, plan_of(window_hours=1.0)))
    assert halted(view, plan_of(window_hours=2.0)) is None


def test_a_budget_too_small_for_a_start_halts_before_anything_is_rented() -> None:
    """35 s for leaving and 10 s for work at 0.01 USD a minute are 0.0075 USD."""
    view = fresh_story().view()

    assert "budget" in str(halted(view, plan_of(budget=usd("0.0074"))))
    assert halted(view, plan_of(budget=usd("0.0077"))) is None


def test_a_lot_that_would_exceed_the_budget_is_not_taken() -> None:
    lot = replace(HOURLY, kind=LeaseKind.LOT, price=usd("47.14"), term_seconds=3600)
    view = fresh_story().view()

    assert "47.14" in str(halted(view, plan_of(lease=lot, budget=usd("47.13"))))
    assert halted(view, plan_of(lease=lot, budget=usd("47.14"))) is None


def test_a_lot_that_is_paid_is_used_although_the_budget_is_spent() -> None:
    lot = replace(HOURLY, kind=LeaseKind.LOT, price=usd("47.14"), term_seconds=36000)
    story = fresh_story()
    story.machine("m-1", 0, lease=lot.as_json())

    action = policy.next_action(situation(story.view(1), plan_of(lease=lot, budget=usd("47.14"))))

    assert isinstance(action, policy.Dispatch)


def test_nothing_begins_on_a_machine_whose_lease_ends_too_soon() -> None:
    lot = replace(HOURLY, kind=LeaseKind.LOT, price=usd("1"), term_seconds=3600)
    story = fresh_story()
    story.machine("m-1", 0, lease=lot.as_json())
    plan = plan_of(lease=lot)

    early = policy.next_action(situation(story.view(59), plan))
    late = policy.next_action(situation(story.view(59.5), plan))

    assert isinstance(early, policy.Dispatch)
    assert isinstance(late, policy.Release)


def test_a_machine_that_was_left_for_its_lease_is_not_used_again() -> None:
    story = fresh_story()
    story.machine("m-1", 0)
    story.start("control", 1, 1)
    cause = {"end": "limit", "why": "its lease ends", "limit": "lease_end"}
    story._add("id-control-1", 5, E.ATTEMPT_ENDED, {"cause": cause, "step": 5, "committed_step": 5})
    story._add("id-control-1", 5, E.RUN_ENDED, {"verdict": "interrupted", "why": "its lease ends"})

    action = policy.next_action(situation(story.view(6), plan_of()))

    assert isinstance(action, policy.Release)


def by_budget(story: Story) -> None:
    story.machine("m-1", 0)
    story.start("control", 1, 1)
    story.save("control", 1, 4, 100)
    cause = {"end": "limit", "why": "budget: spent", "limit": "budget"}
    story._add("id-control-1", 5, E.ATTEMPT_ENDED, {"cause": cause, "step": 5, "committed_step": 5})
    story._add("id-control-1", 5, E.RUN_ENDED, {"verdict": "paused", "why": "budget: spent"})
    story.home(5, E.MACHINE_GONE, machine="m-1", cause="released by its supervisor", seconds=300.0)


def test_a_run_that_used_up_the_budget_waits_for_a_person() -> None:
    story = fresh_story()
    by_budget(story)

    why = halted(story.view(6), plan_of(budget=usd("0.0501")))

    assert why is not None
    assert "budget: spent" in why
    assert "--revise" in why


def test_a_run_that_used_up_its_share_goes_on_when_others_have_left_enough() -> None:
    story = fresh_story()
    by_budget(story)

    action = policy.next_action(situation(story.view(6), plan_of(budget=usd("0.10"))))

    assert isinstance(action, policy.Rent)


def test_machines_at_once_share_what_is_left() -> None:
    """0.30 USD are left of 0.40 after ten minutes; two may be at work: 0.15 each beside what it has cost."""
    story = fresh_story("wide")
    story.machine("m-1", 0)

    limits = limits_by_machine(plan_of(budget=usd("0.40"), machines=2), story.view(10))

    assert limits["m-1"].budget == usd("0.25")


def test_weather_is_counted_from_the_first_second_of_each_machine_to_its_last() -> None:
    view = stormy(3).view(60)

    assert spent_without_progress(view.run("id-control"), view, "USD") == usd("0.30")
    assert spent_without_progress(view.run("id-control"), view, "BRL").amount == 0


def test_weather_stops_where_it_costs_more_than_it_may() -> None:
    assert weather_cap(usd("1"), None) == usd("1").times(WEATHER_SHARE)
    assert weather_cap(None, None) is None

    assert halted(stormy(3).view(60), plan_of(max_weather=usd("0.31"))) is None
    why = halted(stormy(3).view(60), plan_of(max_weather=usd("0.30")))

    assert why is not None
    assert "3 attempts in a row" in why


def test_a_save_ends_the_count_of_weather() -> None:
    story = stormy(3)
    story.machine("m-4", 50)
    story.start("control", 4, 51, machine="m-4")
    story.save("control", 4, 55, 100)
    story.end("control", 4, 56, "lost", 104)
    story.home(57, E.MACHINE_GONE, machine="m-4", cause="preempted", seconds=420.0)

    assert halted(story.view(60), plan_of(max_weather=usd("0.30"))) is None


def test_waits_for_capacity_grow_and_end() -> None:
    assert [refusal_wait(tries) for tries in (1, 2, 3, 9, 12)] == [1.0, 2.0, 4.0, 256.0, 300.0]
    view = fresh_story().view()

    waiting = policy.next_action(situation(view, plan_of(), refusals=3, retry_in=0.5))
    again = policy.next_action(situation(view, plan_of(), refusals=MAX_REFUSALS))
    enough = policy.next_action(situation(view, plan_of(), refusals=MAX_REFUSALS + 1))

    assert [type(action) for action in (waiting, again, enough)] == [policy.Wait, policy.Rent, policy.Despair]


@pytest.mark.parametrize(
    ("minutes", "order"), [(0, "short"), (30, "long"), (500, "short")], ids=["first", "then", "over"]
)
def test_of_leases_bought_by_hand_the_one_that_ends_first_is_used_first(minutes: float, order: str) -> None:
    story = fresh_story()
    for name, ends in (("long", 100), ("short", 20)):
        lease = replace(
            HOURLY,
            kind=LeaseKind.LOT,
            price=usd("5"),
            order=name,
            ends_at=iso(START + timedelta(minutes=ends)),
        )
        story.home(0, E.LEASE_ADDED, order=name, host="here", lease=lease.as_json())
    view = story.view(minutes)

    assert lease_for(plan_of(), view, "here").order == order  # type: ignore[union-attr]
    assert lease_for(plan_of(), view, "local") == HOURLY
    assert [line.amount for line in view.cost.lines] == [usd("5"), usd("5")]
    assert view.cost.total == usd("10")

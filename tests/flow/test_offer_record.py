"""What an offer has shown, from campaigns that are told as events."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

from lastro.billing import Lease
from lastro.flow.moving_on import place_in, reopen
from lastro.flow.next_offer import Situation
from lastro.flow.offer_record import rungs_of, situation_of
from lastro.flow.waiting_cost import waiting_cost
from lastro.journal.events import EventType as E
from lastro.plan.parts import Span
from lastro.plan.rung import Rung
from lastro.plan.tariffs import DiskTariff, Tariffs
from lastro.providers.base import Traits
from lastro.rules import MoveOn
from tests.flow.test_policy_money import usd
from tests.view.story import HOURLY, Story, planned


def lease(offer: str, kind: str = "hourly") -> dict[str, Any]:
    return {**HOURLY, "offer": offer, "kind": kind}


def rung(offer: str, kind: str = "hourly", region: str | None = None) -> Rung:
    return Rung(offer=offer, lease=Lease.from_json(lease(offer, kind)), why="next", cost=None, region=region)


def refused(story: Story, offer: str, minutes: float) -> None:
    tag = f"t-{offer}-{minutes}"
    story.home(minutes, E.MACHINE_INTENDED, tag=tag, provider="local", lease=lease(offer), why="runs wait")
    story.home(minutes, E.MACHINE_REFUSED, tag=tag, why="none left", tries=1, wait_seconds=1.0)


def rejected(
    story: Story, name: str, offer: str, minutes: float, what: str, *, by_offer: bool = False
) -> None:
    story.machine(name, minutes, lease(offer))
    story.home(minutes, E.MACHINE_REJECTED, machine=name, what=what, why=f"{name}: {what}", by_offer=by_offer)
    story.home(minutes + 1, E.MACHINE_GONE, machine=name, cause="deleted", seconds=60.0)


def moved(story: Story, minutes: float, offer: str, to: str, what: str = "refused") -> None:
    story.home(minutes, E.OFFER_LEFT, offer=offer, to=to, what=what, why=f"{offer}: {what}", figures={})


def standing(story: Story, *rungs: Rung, minutes: float = 100, going: Sequence[str] = ()) -> Situation:
    plan: Any = SimpleNamespace(move_on=MoveOn())
    return situation_of(plan, story.view(minutes), rungs, going=going)


def test_refusals_in_a_row_are_counted_from_the_last_thing_that_was_had() -> None:
    story = Story(planned())
    refused(story, "a", 1)
    story.machine("m-1", 2, lease("a"))
    refused(story, "a", 5)
    refused(story, "a", 7)

    shown = standing(story, rung("a"), rung("b"), minutes=8).shown

    assert (shown.refusals, shown.waited_seconds) == (2, 180.0)


def test_what_was_let_go_before_any_work_is_told_apart() -> None:
    story = Story(planned())
    rejected(story, "m-1", "a", 1, "preflight")
    rejected(story, "m-2", "a", 3, "node")
    rejected(story, "m-3", "a", 5, "boot")
    rejected(story, "m-4", "a", 7, "queue")

    shown = standing(story, rung("a"), rung("b")).shown

    assert (shown.boxes, shown.box_why, shown.boots, shown.by_offer) == (2, "m-2: node", 1, None)
    assert (shown.queues, shown.queue_why) == (1, "m-4: queue")


def test_the_offers_that_can_be_asked_are_all_or_one_of_each_place_or_the_first() -> None:
    main, spare = "slurm://main", "slurm://spare"
    ladder = tuple(
        replace(rung(name), place=place)
        for name, place in zip("abcd", (main, main, None, spare), strict=True)
    )
    plan: Any = SimpleNamespace(ladder=ladder)

    def asked(**traits: bool) -> str:
        base = Traits(creates=True, own_workdir=True, takes_faults=False)
        return "".join(one.offer for one in rungs_of(plan, replace(base, **traits)))

    assert asked(takes_offers=True) == "abcd"
    assert asked(takes_places=True) == "acd"
    assert asked() == "a"


def test_an_offers_machines_are_asked_for_at_its_place_also_where_it_is_the_only_one() -> None:
    far = replace(rung("b"), place="slurm://spare")
    plan: Any = SimpleNamespace(ladder=(rung("a"), far), place=None)
    alone: Any = SimpleNamespace(ladder=(), place="slurm://main")

    assert place_in(plan, far.lease) == "slurm://spare" and place_in(plan, rung("a").lease) is None
    assert place_in(alone, rung("a").lease) == "slurm://main"


def test_a_machine_on_which_a_run_has_worked_ends_the_count_of_bad_boxes() -> None:
    story = Story(planned())
    rejected(story, "m-1", "a", 1, "preflight")
    story.machine("m-2", 5, lease("a"))
    story.start("control", 1, 6, machine="m-2")
    story.end("control", 1, 60, "lost", 40)
    story.home(60, E.MACHINE_GONE, machine="m-2", cause="preempted", seconds=3300.0)
    rejected(story, "m-3", "a", 61, "preflight")

    assert standing(story, rung("a"), rung("b")).shown.boxes == 1


def test_the_last_move_says_which_offer_is_asked_and_its_own_record_counts() -> None:
    story = Story(planned())
    for minute in (1, 2, 3):
        refused(story, "a", minute)
    moved(story, 4, "a", "b")
    refused(story, "b", 5)

    now = standing(story, rung("a"), rung("b"), rung("c"))

    assert (now.current, dict(now.left), now.shown.refusals) == ("b", {"a": "refused"}, 1)


def test_a_person_who_opens_the_offers_again_begins_at_the_first_with_nothing_held_against_it() -> None:
    story = Story(planned())
    rejected(story, "m-1", "a", 1, "boot")
    moved(story, 3, "a", "b", "boot")
    written: list[dict[str, Any]] = []
    writer: Any = SimpleNamespace(append=lambda _kind, **facts: written.append(facts))

    reopen(story.view(4), writer, None)
    reopen(story.view(4), writer, "they say that it is mended")
    story.home(4, E.OFFERS_REOPENED, **written[0])

    now = standing(story, rung("a"), rung("b"))
    assert len(written) == 1
    assert (now.current, dict(now.left), now.shown.boots) == ("a", {}, 0)
    assert [move.reopened for move in story.view(5).offers.moves] == ["they say that it is mended"]


def test_what_spot_has_brought_by_hand() -> None:
    """Two machines of 30 min. On the first 20 min of work, a quarter of its steps lost: 15 min are kept.

    The second goes on for 10 min with nothing lost. 25 min of 60 that are paid.
    """
    story = Story(planned())
    for name, minute in (("m-1", 0), ("m-2", 40)):
        story.machine(name, minute, lease("weather", "spot"))
    story.start("control", 1, 0)
    story.save("control", 1, 20, 75)
    story.home(30, E.ATTEMPT_LOST, run="id-control", attempt=1, machine="m-1", why="gone", step=100,
               committed_step=75, items=None)  # fmt: skip
    story.home(30, E.MACHINE_GONE, machine="m-1", cause="preempted", seconds=1800.0)
    story.start("control", 2, 45, resumed=75, machine="m-2")
    story.save("control", 2, 55, 120)
    story.home(70, E.ATTEMPT_LOST, run="id-control", attempt=2, machine="m-2", why="gone", step=120,
               committed_step=120, items=None)  # fmt: skip
    story.home(70, E.MACHINE_GONE, machine="m-2", cause="preempted", seconds=1800.0)

    account = standing(story, rung("weather", "spot"), rung("calm")).shown.spot

    assert account.losses == 2
    assert account.kept_hours is not None and round(account.kept_hours * 60, 6) == 25.0
    assert account.paid_hours == 1.0


def test_a_machine_that_goes_is_lost_before_it_is_gone_and_one_that_is_used_is_not() -> None:
    """Else the next one would be asked for on spot once more, as long as the first takes to go."""
    story = Story(planned())
    story.machine("m-1", 0, lease("weather", "spot"))
    story.start("control", 1, 0)

    def losses(minutes: float, *going: str) -> int:
        rungs = (rung("weather", "spot"), rung("calm"))
        return standing(story, *rungs, minutes=minutes, going=going).shown.spot.losses

    assert losses(5) == 0 and losses(5, "m-1") == 1
    story.home(10, E.ATTEMPT_LOST, run="id-control", attempt=1, machine="m-1", why="silent", step=100,
               committed_step=75, items=None)  # fmt: skip
    assert losses(11) == 1
    story.start("control", 2, 12, resumed=75, machine="m-1")
    assert losses(13) == 0


def test_a_region_is_down_when_two_of_its_offers_have_failed_in_a_row() -> None:
    story = Story(planned())
    ladder = (rung("a", region="north"), rung("b", region="north"), rung("c", region="south"))
    refused(story, "c", 1)
    refused(story, "a", 2)
    one = standing(story, *ladder).down
    refused(story, "b", 3)

    assert one == frozenset()
    assert standing(story, *ladder).down == frozenset({"north"})


def test_what_waiting_costs_by_hand() -> None:
    """An idle machine at 0.60 USD an hour, and 73 GB at 0.10 USD a month: 7.30 / 730 = 0.01 USD an hour.

    24 h of window, 2 of them gone, 10 of work planned and none done: 12 h of slack.
    """
    story = Story(planned())
    story.machine("m-1", 0)
    disk = DiskTariff(
        name="data", disks=1, bytes=73 * 10**9, price=usd("1"), stopped=usd("0.10"), outlives=True,
        source="declared", seen=None,
    )  # fmt: skip
    plan: Any = SimpleNamespace(
        tariffs=Tariffs(disk=disk), window_hours=24.0, machines=1,
        total_hours=Span(low=8.0, likely=10.0, high=12.0),
    )  # fmt: skip

    found = waiting_cost(plan, story.view(120))

    assert found.single == usd("0.610000")
    assert found.slack_hours == 12.0
    assert "0.61 USD" in found.text and "12 h 00 min of slack" in found.text

"""How long machines took until they worked, and how often they did not: from the journals of a home. Pure.

Times between two of home's own events are by home's clock; those of a machine's life are as its provider or
its supervisor has measured them. Clocks of two machines are never compared.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from lastro.clock import from_iso
from lastro.journal.events import EventType
from lastro.journal.streams import Event
from lastro.records import dataclass
from lastro.spec.durations import card

#: The parts of a provisioning, in their order.
STAGES = ("request", "boot", "reachable", "canary", "first_step")


@dataclass(frozen=True, kw_only=True)
class Provision:
    """One machine that was asked for. Seconds; None: not reached, or nobody has measured it.

    Args:
        tag: of the intent.
        asked_at: ISO 8601, UTC; `hour` is that of the day.
        gpu: class of card, as preflight has seen it, else as the offer says; None: no card is known.
        node: as the provider calls it. box: as its own hardware does.
        request: until the provider said that it is made.
        boot: from there until it was up, by the provider's clock.
        reachable: from the wish until home saw that it is up.
        canary: the preflight.
        first_step: from the wish to the first step of a job; without the start of the supervisor, which lies
            between two clocks.
        given_up: after so long nothing came of it, with the reason in `why`; None: it was not given up.
    """

    campaign: str
    tag: str
    provider: str
    offer: str | None
    asked_at: str
    machine: str | None = None
    node: str | None = None
    box: str | None = None
    gpu: str | None = None
    request: float | None = None
    boot: float | None = None
    reachable: float | None = None
    canary: float | None = None
    first_step: float | None = None
    given_up: float | None = None
    why: str | None = None

    @property
    def hour(self) -> int:
        return from_iso(self.asked_at).hour

    def as_json(self) -> dict[str, Any]:
        return {**vars(self), "hour": self.hour}


def provisions(campaign: str, streams: Mapping[str, Sequence[Event]]) -> tuple[Provision, ...]:
    """Return every machine that was asked for in a campaign, in the order of the intents."""
    homes = [events for name, events in streams.items() if name.startswith(("home-", "probes"))]
    first_steps = _first_steps(streams)
    found: list[Provision] = []
    for events in homes:
        found += _of_home(campaign, events, first_steps)
    return tuple(sorted(found, key=lambda one: one.asked_at))


def _first_steps(streams: Mapping[str, Sequence[Event]]) -> dict[str, float]:
    """Return, by machine, the seconds from the start of its first attempt to that one's first step."""
    found: dict[str, float] = {}
    for events in streams.values():
        machine = None
        for event in events:
            if event.type is EventType.ATTEMPT_STARTED:
                machine = str(event.facts["machine"])
            elif event.type is EventType.ATTEMPT_STEPPED and machine is not None:
                found.setdefault(machine, float(event.facts["seconds"]))
    return found


def _of_home(campaign: str, events: Sequence[Event], first_steps: Mapping[str, float]) -> list[Provision]:
    by_tag: dict[str, Provision] = {}
    tag_of: dict[str, str] = {}
    dispatched: set[str] = set()
    cards: dict[str, str] = {}
    for event in events:
        facts = event.facts
        if event.type in (EventType.PLAN_FROZEN, EventType.PLAN_REVISED):
            cards |= _cards(facts["plan"])
        elif event.type is EventType.MACHINE_INTENDED:
            by_tag[facts["tag"]] = _asked(campaign, event, cards)
        elif event.type is EventType.MACHINE_CREATED and facts["tag"] in by_tag:  # else another home's wish
            tag_of[facts["machine"]] = facts["tag"]
            by_tag[facts["tag"]] = replace(
                by_tag[facts["tag"]],
                machine=facts["machine"],
                node=facts["node"],
                request=_since(by_tag[facts["tag"]], event),
            )
        elif event.type is EventType.MACHINE_REFUSED and facts["tag"] in by_tag:
            by_tag[facts["tag"]] = _given_up(by_tag[facts["tag"]], event, facts["why"])
        elif (tag := tag_of.get(str(facts.get("machine")))) is not None:
            by_tag[tag] = _fold(by_tag[tag], event, first_steps, dispatched)
    return list(by_tag.values())


def _asked(campaign: str, event: Event, cards: Mapping[str, str]) -> Provision:
    offer = event.facts["lease"]["offer"] if event.facts["lease"] else None
    return Provision(
        campaign=campaign,
        tag=event.facts["tag"],
        provider=event.facts["provider"],
        offer=offer,
        asked_at=event.at,
        gpu=cards.get(offer) if offer is not None else None,
    )


def _fold(one: Provision, event: Event, first_steps: Mapping[str, float], dispatched: set[str]) -> Provision:
    facts = event.facts
    if event.type is EventType.MACHINE_READY:
        return replace(one, boot=facts["seconds"], reachable=_since(one, event))
    if event.type is EventType.PREFLIGHT_DONE:
        gpus = (facts.get("stack") or {}).get("gpus")
        seen = replace(
            one,
            canary=facts.get("seconds"),
            box=facts.get("node_id"),
            gpu=card(gpus[0]["name"]) if gpus else one.gpu,
        )
        why = str(facts.get("summary") or facts["verdict"])
        trusted = facts.get("trusted", facts["verdict"] != "fail")
        return seen if trusted else _given_up(seen, event, why)
    if event.type is EventType.RUN_DISPATCHED and one.tag not in dispatched:
        dispatched.add(one.tag)
        waited, first = _since(one, event), first_steps.get(str(one.machine))
        return one if waited is None or first is None else replace(one, first_step=waited + first)
    if event.type is EventType.MACHINE_GONE and one.reachable is None:
        return _given_up(one, event, facts["cause"])
    return one


def _given_up(one: Provision, event: Event, why: str) -> Provision:
    return one if one.given_up is not None else replace(one, given_up=_since(one, event), why=why)


def _since(one: Provision, event: Event) -> float | None:
    """Return the seconds from the wish to an event of the same clock; None where that was set back."""
    seconds = (from_iso(event.at) - from_iso(one.asked_at)).total_seconds()
    return seconds if seconds >= 0 else None


def _cards(plan: Mapping[str, Any]) -> dict[str, str]:
    return {
        held["offer"]: card(held["gpu"])
        for option in plan.get("options", ())
        for held in option["holdings"]
        if held["gpu"]
    }

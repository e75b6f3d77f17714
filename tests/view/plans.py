"""Plans for the tests of what they look like, made of parts by hand, so that each figure is known."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal
from typing import Any

from lastro.plan.model import Plan
from lastro.plan.parts import Cost, CostLine, Holding, Option, Slot, Span
from lastro.units import Money
from tests.plan.planning import plan as planned


def usd(amount: str) -> Money:
    return Money(Decimal(amount), "USD")


def slot(stage: str, lane: str | None, start: float, end: float, **more: Any) -> Slot:
    values = {
        "run": None,
        "start_low_hours": start,
        "end_low_hours": end,
        "start_high_hours": start,
        "end_high_hours": end,
    }
    return Slot(stage=stage, lane=lane, start_hours=start, end_hours=end, **{**values, **more})


def cost(*lines: tuple[str, str | None], low: str | None = None, high: str | None = None) -> Cost:
    """Return a bill of lines as (kind, amount); an amount None is unknown, and so is the sum then."""
    made = tuple(
        CostLine(
            kind=kind,
            name=f"a {kind}",
            quantity="1",
            amount=usd(amount) if amount else None,
            why="a price list" if amount else "nobody gave its price",
        )
        for kind, amount in lines
    )
    known = [line.amount for line in made if line.amount]
    at_least = Money(sum((one.amount for one in known), Decimal(0)), "USD") if known else None
    total = at_least if len(known) == len(made) else None
    return Cost(
        total=total,
        low=usd(low) if low else total,
        high=usd(high) if high else total,
        at_least=at_least,
        lines=made,
        why=None if total else "nobody gave its price",
    )


CALENDAR = (
    slot("prepare", "person", 0, 2, slack_hours=3),
    slot("run", "gpu 1", 2, 10, run="control", end_low_hours=8, end_high_hours=16, decide=True),
    slot("run", "gpu 1", 10, 18, run="wide", end_high_hours=24),
    slot("collect", None, 18, 20, start_high_hours=24, end_high_hours=26),
)


def option(name: str = "three days", **more: Any) -> Option:
    values: dict[str, Any] = {
        "roles": ("cheapest",),
        "offered": True,
        "why": f"{name} has its reason",
        "offer": name,
        "kind": "lot",
        "protocol": "whole",
        "left_out": (),
        "machines": 1,
        "holdings": (Holding(offer=name, kind="lot", gpu="X", leases=1, machines=1, terms=1, hours=72),),
        "cost": cost(("machine", "40")),
        "end": Span(low=15, likely=20, high=26),
        "slack_hours": 20.0,
        "fits_window": True,
        "fits_budget": True,
        "p_late": 0.25,
        "p_over_budget": 0.0,
        "draws": 10000,
        "bound": usd("40"),
        "gap": 0.0,
        "proven": True,
        "per_unit": usd("20"),
        "notes": (),
        "calendar": CALENDAR,
    }
    return Option(name=name, **{**values, **more})


def refused(name: str, why: str) -> Option:
    return option(
        name, offered=False, why=why, roles=(), calendar=(), bound=None, gap=None, proven=False, p_late=None
    )


def plan_of(folder: Any, *options: Option, **more: Any) -> Plan:
    """Return a plan with these options, the first of which is taken: 40 h of window, 80 USD of budget."""
    base = planned(folder, "variants:\n  wide: {changes: {width: 256}}\n")
    values: dict[str, Any] = {
        "options": options,
        "option": options[0].name if options else None,
        "calendar": CALENDAR,
        "total_hours": Span(low=15, likely=20, high=26),
        "window_hours": 40.0,
        "slack_hours": 20.0,
        "budget": usd("80"),
        "lease_why": "it is the cheapest",
        "findings": (),
    }
    return replace(base, **{**values, **more})

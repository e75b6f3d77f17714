"""Campaigns and offers for the tests of planning, from text as users write it."""

from __future__ import annotations

from datetime import datetime, timezone
from decimal import Decimal
from pathlib import Path

from lastro.plan.build import Code, make_plan
from lastro.plan.calendar import Calendar, lay_out, without_unknown
from lastro.plan.intervals import work_of
from lastro.plan.model import Plan
from lastro.plan.parts import Option
from lastro.spec.campaign import Campaign
from lastro.spec.load import load_campaign, load_offers_file
from lastro.spec.offers import Offers
from lastro.units import Money

BASE = "campaign: tiny\ncommand: python train.py --width {width} --depth {depth}\n"
BASE += "control: {width: 64, depth: 2}\n"
VARIANTS = "variants:\n  wide: {changes: {width: 256}}\n  deep: {changes: {depth: 4}, priority: useful}\n"
#: The calendar of the article: 48 h in a window of 72 h.
ARTICLE = """\
window: 72h
stages:
  prepare: {person: 2h}
  pilot: {gpu: 1, hours: 2}
  run: {each: run, gpu: 1, hours: [8, 10, 14]}
  evaluate: {gpu: 1, hours: [4, 8, 9]}
  collect: {cpu: 1, hours: [3, 6, 8]}
"""
LOTS = """\
offers:
  - {name: three days, kind: lot, price: 47.14 USD, term: 3d, gpu: RTX 4090, source: IteraGPU}
  - {name: a week, kind: lot, price: 110 USD, term: 7d, gpu: RTX 4090, source: IteraGPU}
  - {name: a month, kind: lot, price: 390 USD, term: 30d, gpu: RTX 4090, source: IteraGPU}
"""
NOW = datetime(2026, 11, 30, tzinfo=timezone.utc)


def campaign(folder: Path, extra: str = "") -> Campaign:
    path = folder / "campaign.yaml"
    path.write_text(BASE + extra)
    return load_campaign(path).spec


def offers(folder: Path, text: str) -> Offers:
    path = folder / "offers.yaml"
    path.write_text(text)
    return load_offers_file(path)


def plan(folder: Path, extra: str = "", offers_text: str | None = None, protocol: str = "whole") -> Plan:
    return make_plan(
        campaign(folder, extra),
        offers(folder, offers_text) if offers_text else None,
        created_at=NOW,
        code=Code(digest="c" * 64),
        protocol=protocol,
    )


def calendar(folder: Path, extra: str = "") -> Calendar:
    """Return the calendar of all runs, on whatever card is there."""
    spec = campaign(folder, extra)
    return lay_out(without_unknown(work_of(spec), None), machines=spec.machines)


def codes(made: Plan) -> dict[str, str]:
    """Return the level of each finding by its code."""
    return {finding.code: finding.level for finding in made.findings}


def texts(made: Plan) -> dict[str, str]:
    """Return the text of each finding by its code."""
    return {finding.code: finding.text for finding in made.findings}


def option(made: Plan, name: str) -> Option:
    return next(one for one in made.options if one.name == name)


def usd(amount: str) -> Money:
    return Money(Decimal(amount), "USD")

"""How a provider's checklist stands for a plan: by the days of its entries, and by what the plan needs."""

from __future__ import annotations

import datetime as dates
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from lastro.errors import CampaignInvalid
from lastro.plan.checklist import (
    ITEMS,
    Needed,
    State,
    findings_of_checklist,
    needed_of,
    states,
    template,
)
from lastro.plan.levels import NOTE, WARN
from lastro.spec.checklist import Checklist, load_checklist
from lastro.spec.load import made_in_code
from lastro.spec.offers import Offer

TODAY = dates.date(2026, 11, 30)
NEEDED = Needed(
    provider="nuvem", gpus={"RTX 4090": 2}, jurisdictions=("BR",), until=dates.date(2026, 12, 10), lead_days=4
)
ENTRIES: dict[str, dict[str, Any]] = {
    "quota": {"asked": "2026-11-01", "done": "2026-11-20", "gpus": {"RTX 4090": 4}},
    "identity": {"done": "2026-11-01", "ref": "drawer 2"},
    "key": {"done": "2026-11-01", "scope": "start, stop", "rotate_by": "2027-01-30"},
    "alert": {"done": "2026-11-01", "at": "50 USD", "card_limit": "200 USD"},
    "apart": {"done": "2026-11-01"},
    "support": {"done": "2026-11-01", "useful_answer": "4h"},
    "image": {"done": "2026-11-01", "ref": "registry/train@sha256:1"},
    "residency": {"done": "2026-11-01", "jurisdiction": "BR"},
    "subprocessors": {"done": "2026-11-01", "clauses": "annex 3"},
    "invoice": {"done": "2026-11-01", "tax": "ISS shown", "total": "12.34 USD"},
}


def checklist(**changed: dict[str, Any] | None) -> Checklist:
    entries = {name: entry for name, entry in {**ENTRIES, **changed}.items() if entry is not None}
    return made_in_code(Checklist, {"providers": {"nuvem": entries}})


def of(item: str, entry: dict[str, Any] | None, needed: Needed = NEEDED) -> State:
    found = states(checklist(**{item: entry}), (needed,), TODAY)
    return next(state for state in found if state.item.name == item)


def offer(**changed: Any) -> Offer:
    row = {"name": "o", "kind": "hourly", "price": "1 USD", "provider": "nuvem", "gpu": "RTX 4090", **changed}
    return made_in_code(Offer, row)


def test_everything_that_was_done_in_time_is_done() -> None:
    assert {state.state for state in states(checklist(), (NEEDED,), TODAY)} == {"done"}


def test_without_a_file_everything_is_missing_and_says_how_long_it_takes() -> None:
    found = states(None, (NEEDED,), TODAY)

    assert [state.state for state in found] == ["missing"] * len(ITEMS)
    quota = found[0]
    assert (quota.takes_days, quota.origin) == (4, "lead time in the offers file")


def test_a_quota_whose_lead_nobody_has_told_takes_nobody_knows_how_long() -> None:
    needed = Needed(provider="nuvem", gpus={}, jurisdictions=(), until=TODAY)

    assert states(None, (needed,), TODAY)[0].takes_days is None


@pytest.mark.parametrize(
    ("item", "entry", "state"),
    [
        ("identity", None, "missing"),
        ("identity", {"done": "2025-11-29"}, "expired"),
        ("identity", {"done": "2025-12-05"}, "expires"),
        ("identity", {"done": "2025-12-10"}, "done"),
        ("identity", {"done": "2026-12-01"}, "missing"),
        ("identity", {"done": "2026-11-01", "until": "2026-11-29"}, "expired"),
        ("key", {"done": "2026-11-01", "scope": "all", "rotate_by": "2026-11-30"}, "expires"),
        ("key", {"done": "2026-08-01", "scope": "all", "rotate_by": "2026-11-29"}, "expired"),
        ("quota", {"asked": "2026-11-25"}, "waiting"),
        ("quota", {"asked": "2026-11-25", "done": "2026-11-26", "gpus": {"RTX 4090": 1}}, "wrong"),
        ("quota", {"asked": "2026-11-25", "done": "2026-11-26", "gpus": {"A100": 8}}, "wrong"),
        ("quota", {"asked": "2026-11-25", "done": "2026-11-26"}, "done"),
        ("residency", {"done": "2026-11-01", "jurisdiction": "US"}, "wrong"),
        ("support", {"done": "2026-11-01"}, "wrong"),
    ],
)
def test_an_entry_is_judged_by_its_days_and_by_what_the_plan_needs(
    item: str, entry: dict[str, Any] | None, state: str
) -> None:
    assert of(item, entry).state == state


def test_the_union_is_allowed_where_its_countries_are() -> None:
    needed = Needed(provider="nuvem", gpus={}, jurisdictions=("EU",), until=TODAY)

    assert of("residency", {"done": "2026-11-01", "jurisdiction": "FR"}, needed).state == "done"


def test_what_offers_need_is_gathered_by_provider_and_this_box_needs_nothing() -> None:
    offers = [
        offer(gpus=2, lead="2d"),
        offer(name="p", lead="4d"),
        offer(name="q", provider="local"),
        offer(name="r", provider=None),
    ]

    (one,) = needed_of(offers, 3, ("BR",), TODAY)

    assert (one.provider, one.gpus, one.lead_days) == ("nuvem", {"RTX 4090": 6}, 4.0)


def test_the_plan_gets_one_finding_for_a_provider_worse_where_something_has_expired() -> None:
    missing = states(checklist(image=None), (NEEDED,), TODAY)
    expired = states(checklist(image=None, identity={"done": "2020-01-01"}), (NEEDED,), TODAY)

    (note,) = findings_of_checklist(missing)
    (warning,) = findings_of_checklist(expired)
    assert (note.level, note.code) == (NOTE, "checklist_open") and "image (missing)" in note.text
    assert warning.level == WARN and "takes 3 d" in warning.text
    assert list(findings_of_checklist(states(checklist(), (NEEDED,), TODAY))) == []


def test_the_template_is_a_checklist_in_which_nothing_is_done_and_each_of_its_lines_holds(
    tmp_path: Path,
) -> None:
    path = tmp_path / "checklist.yaml"
    path.write_text(template((NEEDED,), TODAY))
    empty = load_checklist(path)
    path.write_text(template((NEEDED,), TODAY - timedelta(days=0)).replace("    # ", "    "))
    full = load_checklist(path)

    assert {state.state for state in states(empty, (NEEDED,), TODAY)} == {"missing"}
    assert {state.state for state in states(full, (NEEDED,), TODAY)} <= {"done", "expires"}


@pytest.mark.parametrize(
    ("entry", "words"),
    [
        ({"identity": {"done": "yesterday"}}, "is not a date"),
        ({"identity": {"done": "2026-11-30", "until": "2026-11-01"}}, "before it was done"),
        ({"identity": {"done": "2026-11-30", "copy": "passport.pdf"}}, "unknown key"),
        ({"quota": {"asked": "2026-11-30", "done": "2026-11-01"}}, "order"),
        ({"keys": {}}, "unknown key"),
    ],
)
def test_what_a_checklist_cannot_mean_is_refused(entry: dict[str, Any], words: str) -> None:
    with pytest.raises(CampaignInvalid, match=words):
        made_in_code(Checklist, {"providers": {"nuvem": entry}})


def test_there_is_none_where_there_is_no_file(tmp_path: Path) -> None:
    assert load_checklist(tmp_path / "checklist.yaml") is None

from __future__ import annotations

import math

from lastro import strictjson
from lastro.view.as_json import page_json
from lastro.view.model import page_of
from lastro.view.parts import PerAccepted
from tests.view.story import HOURLY, Story, adopted, planned


def test_the_object_has_the_keys_that_programs_rely_on() -> None:
    value = page_json(page_of(adopted().view(), report="/disk/report.html"))
    named = "campaign question decision runs deliverables cost interruptions machines plan report"
    assert set(named.split()) <= set(value)
    assert value["decision"]["verdict"] == "adopt" and value["decision"]["run"] == "id-wide"
    assert value["report"] == "/disk/report.html"
    attempt = value["runs"][0]["attempts"][0]
    assert {key: attempt[key] for key in ("number", "end", "last_step", "committed_step", "lost_steps")} == {
        "number": 1, "end": "lost", "last_step": 140, "committed_step": 100, "lost_steps": 40,
    }  # fmt: skip
    assert attempt["checkpoints"][0]["step"] == 100
    assert value["deliverables"][0]["status"] == "accepted"


def test_money_is_an_amount_with_its_currency() -> None:
    cost = page_json(page_of(adopted().view()))["cost"]
    assert cost["total"] == {"amount": "0.60", "currency": "USD"}
    assert cost["by_currency"] == [{"amount": "0.60", "currency": "USD"}]


def test_undefined_is_null_beside_its_reason() -> None:
    each = PerAccepted(reason="undefined: 0 accepted", unit="run")
    cost = page_json(page_of(adopted().view(), per_accepted=each))["cost"]
    assert (cost["per_accepted"], cost["reason"], cost["unit"]) == (None, "undefined: 0 accepted", "run")


def test_an_unknown_price_is_null_and_never_zero() -> None:
    story = Story(planned())
    story.machine("m-1", 0, {**HOURLY, "price": None})
    cost = page_json(page_of(story.view()))["cost"]
    assert cost["total"] is None and cost["lines"][0]["amount"] is None and cost["per_hour"] is None
    assert cost["total_reason"] and cost["lines"][0]["reason"] and cost["per_hour_reason"]


def test_before_the_conclusion_the_verdict_is_null_and_why_says_what_goes_on() -> None:
    story = Story(planned())
    story.start("control", 1, 1)
    value = page_json(page_of(story.view()))
    assert value["state"] == "running"
    assert value["decision"]["verdict"] is None and "Running: control" in value["decision"]["why"]


def test_the_closing_s_own_evidence_is_what_programs_get() -> None:
    story = adopted()
    event = story.streams["home-1"][-1]
    event.facts["evidence"]["runs"] = ["as the closing wrote it"]
    assert page_json(page_of(story.view()))["decision"]["evidence"] == {"runs": ["as the closing wrote it"]}


def test_the_object_is_strict_json_also_with_a_nan() -> None:
    story = Story(planned())
    story.judge("control", math.nan)
    text = strictjson.dumps(page_json(page_of(story.view())))
    assert strictjson.loads(text)["deliverables"][0]["metric"] == "NaN"


def test_a_campaign_without_a_plan_has_an_object() -> None:
    value = page_json(page_of(Story().view()))
    assert value["runs"] == [] and value["cost"]["total"] is None

"""Whom a failed preflight speaks against."""

from __future__ import annotations

from typing import Any

import pytest

from lastro.flow.whose_fault import Whose, whose_fault


def finding(code: str, level: str = "fail", *, required: bool = False) -> dict[str, Any]:
    return {"code": code, "level": level, "required": required}


@pytest.mark.parametrize(
    ("findings", "whose"),
    [
        ([finding("gpu_heat")], Whose.BOX),
        ([finding("a_check_of_somebody")], Whose.BOX),
        ([finding("gpu_heat"), finding("driver_version")], Whose.OFFER),
        ([finding("lock.gpu.driver")], Whose.OFFER),
        ([finding("driver_version"), finding("command")], Whose.CAMPAIGN),
        ([finding("gpu_heat"), finding("command", "warn")], Whose.BOX),
        ([finding("memory", "no_answer", required=True)], Whose.OFFER),
        ([finding("memory", "no_answer"), finding("gpu_link")], Whose.BOX),
    ],
)
def test_it_is_told_whom_a_finding_speaks_against(findings: list[dict[str, Any]], whose: Whose) -> None:
    assert whose_fault({"findings": findings}) is whose


def test_what_a_person_has_accepted_speaks_against_nobody() -> None:
    facts = {
        "findings": [finding("driver_version"), finding("gpu_heat")],
        "accepted": {"driver_version": "known"},
    }

    assert whose_fault(facts) is Whose.BOX

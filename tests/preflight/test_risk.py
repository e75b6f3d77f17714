from __future__ import annotations

import pytest

from lastro.preflight.check import Finding, Level
from lastro.preflight.risk import NEVER, decide


def finding(code: str, level: Level = Level.FAIL) -> Finding:
    return Finding(code=code, level=level, fact=code, value="x", required=True)


def test_a_risk_is_accepted_by_its_code_with_its_reason() -> None:
    trust = decide([finding("lock.gpu.ecc"), finding("x", Level.WARN)], {"lock.gpu.ecc": "tested"})

    assert trust.trusted and trust.accepted == {"lock.gpu.ecc": "tested"}


def test_what_is_not_named_still_forbids_and_what_was_not_found_is_not_accepted() -> None:
    both = [finding("lock.gpu.ecc"), finding("driver_silent", Level.NO_ANSWER)]

    assert not decide(both, {"lock.gpu.ecc": "tested"}).trusted
    assert decide([], {"lock.gpu.ecc": "tested"}).accepted == {}


@pytest.mark.parametrize("code", sorted(NEVER))
def test_wrong_memory_and_scratch_are_accepted_by_nobody(code: str) -> None:
    why = {code: "I know better"}

    assert not decide([finding(code)], why).trusted
    assert decide([finding(code, Level.NO_ANSWER)], why).trusted

from __future__ import annotations

import pytest
from pydantic import ValidationError

from lastro.spec.base import Contradiction
from lastro.spec.deliverable import BaseSpec, Deliverable

COMMIT, SHA256 = "c" * 40, "a" * 64


@pytest.mark.parametrize(
    "base",
    [
        {"hub": "org/base", "revision": COMMIT},
        {"hub": "org/base", "revision": COMMIT, "licence": "mit", "gated": False},
        {"path": "data/base", "sha256": SHA256},
    ],
)
def test_a_base_says_which_bytes_are_meant(base: dict[str, object]) -> None:
    assert Deliverable.model_validate({"path": "adapter", "base": base}).base is not None


@pytest.mark.parametrize(
    ("base", "why"),
    [
        ({}, "either a path or a name on a hub"),
        ({"path": "base", "hub": "org/base", "revision": COMMIT}, "either a path or a name on a hub"),
        ({"hub": "org/base"}, "other weights tomorrow"),
        ({"path": "data/base"}, "nothing says which bytes"),
        ({"hub": "org/base", "revision": "main"}, "not 40 digits"),
        ({"hub": "org/base", "revision": COMMIT.upper()}, "not 40 digits"),
        ({"path": "data/base", "sha256": COMMIT}, "not 64 digits"),
    ],
)
def test_a_base_that_could_be_another_tomorrow_is_refused(base: dict[str, object], why: str) -> None:
    with pytest.raises((ValidationError, Contradiction)) as raised:
        BaseSpec.model_validate(base)

    problems = getattr(raised.value, "problems", ())
    assert why in "; ".join([str(raised.value), *(problem.message for problem in problems)])


def test_pickles_are_refused_unless_the_plan_says_otherwise() -> None:
    assert Deliverable.model_validate({"path": "m.pkl"}).pickle == "refused"
    assert Deliverable.model_validate({"path": "m.pkl", "pickle": "jailed"}).pickle == "jailed"
    with pytest.raises(ValidationError):
        Deliverable.model_validate({"path": "m.pkl", "pickle": "anywhere"})

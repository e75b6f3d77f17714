from __future__ import annotations

from pathlib import Path

import pytest

from lastro.errors import PlanError
from lastro.plan.quota import quota_request

from .planning import ARTICLE, LOTS, VARIANTS, plan


def test_the_draft_says_what_how_many_how_long_and_why(tmp_path: Path) -> None:
    more = "question: Does a wider layer pay?\nbudget: 60 USD\njurisdictions: [BR]\n"
    text = quota_request(plan(tmp_path, ARTICLE + VARIANTS + more, LOTS))

    for part in (
        "1 machine with RTX 4090",
        "Does a wider layer pay?",
        "3 runs",
        "2 d 0 h (35 h 00 min to 2 d 15 h)",
        "3 d 0 h from the start",
        "47.14 USD",
        "60.00 USD",
        "BR",
    ):
        assert part in text, part


def test_the_draft_of_another_option_has_its_numbers(tmp_path: Path) -> None:
    text = quota_request(plan(tmp_path, ARTICLE + VARIANTS, LOTS), "2 x three days")

    assert "2 machines with RTX 4090" in text and "94.28 USD" in text


def test_without_an_option_there_is_nothing_to_ask_for(tmp_path: Path) -> None:
    with pytest.raises(PlanError, match="no option"):
        quota_request(plan(tmp_path, ARTICLE))

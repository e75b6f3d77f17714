from __future__ import annotations

from pathlib import Path

import pytest

from lastro.export.skypilot import machines_of, sky_name, spot_of
from tests.export.project import CAMPAIGN, project, recipe_of

SPOT = "{name: s, kind: spot, price: 1 USD, gpu: A100 80GB}"
HOURLY = "{name: h, kind: hourly, price: 2 USD, gpu: RTX 4090}"
ON_CARDS = CAMPAIGN.replace("cpu: 1", "gpu: 2") + "offers: offers.yaml\n"


@pytest.mark.parametrize(
    ("card", "name"),
    [
        ("RTX 4090", "RTX4090"),
        ("NVIDIA GeForce RTX 4090", "RTX4090"),
        ("RTX 4090 24GB", "RTX4090"),
        ("A100 80GB", "A100-80GB"),
        ("A100-80GB", "A100-80GB"),
        ("A100 40GB", "A100"),
        ("Tesla V100 32 GB", "V100-32GB"),
        ("H100", "H100"),
        ("L40S", "L40S"),
        ("L4", "L4"),
    ],
)
def test_a_card_has_the_name_of_the_catalogue(card: str, name: str) -> None:
    assert sky_name(card) == name


@pytest.mark.parametrize(
    ("offers", "more", "use", "why"),
    [
        ([SPOT], "", True, "nothing else is offered"),
        ([SPOT, HOURLY], "", False, "s would be spot"),
        ([HOURLY], "", False, "no spot is offered"),
        ([SPOT], "never_spot: true, ", False, "never_spot of run"),
    ],
)
def test_spot_is_used_where_nothing_else_is_offered_and_nothing_refuses_it(
    offers: list[str], more: str, use: bool, why: str, tmp_path: Path
) -> None:
    text = ON_CARDS.replace("gpu: 2", f"{more}gpu: 2")
    campaign = project(tmp_path / "p", text, offers_yaml=f"offers: [{', '.join(offers)}]\n")

    spot = spot_of(recipe_of(campaign))

    assert spot.use == use
    assert spot.why.startswith(why)


@pytest.mark.parametrize(
    ("more", "cards", "count"),
    [
        ("", ("A100-80GB", "RTX4090"), 2),
        ('want: {gpu: "H100 or H200", gpus: "8"}\n', ("H100", "H200"), 8),
        ("plan_b: {run: {gpu: L40S, hours: 3}}\n", ("A100-80GB", "RTX4090", "L40S"), 2),
    ],
)
def test_wanted_cards_come_first_then_offered_ones_then_plan_b(
    more: str, cards: tuple[str, ...], count: int, tmp_path: Path
) -> None:
    campaign = project(tmp_path / "p", ON_CARDS + more, offers_yaml=f"offers: [{SPOT}, {HOURLY}]\n")

    found = machines_of(recipe_of(campaign))

    assert (found.cards, found.count) == (cards, count)


def test_a_campaign_without_cards_asks_for_none(tmp_path: Path) -> None:
    assert machines_of(recipe_of(project(tmp_path / "p"))).cards == ()

"""What may happen to machines of an offer."""

from __future__ import annotations

import pytest

from lastro.billing import LeaseKind
from lastro.plan.rehearsal_weather import weather_of
from lastro.spec.offers import Offer


def offer(**more: object) -> Offer:
    return Offer.model_validate({"name": "spot", "kind": LeaseKind.SPOT, "price": "1 USD", **more})


def test_without_an_offer_or_its_history_each_kind_comes_once() -> None:
    none, silent = weather_of(None), weather_of(offer())

    assert none.lives is None and silent.lives is None
    assert (
        none.origin == "no offer is taken, so there is no history to draw from: each kind of fault comes once"
    )
    assert silent.origin.startswith("nothing says how long machines of spot live")
    assert (none.notice, none.assumed) == (30.0, ("a notice of 30 s",))


@pytest.mark.parametrize(
    ("more", "seconds", "told"),
    [
        ({"notice": "5s", "provider": "aws"}, 5.0, "it gives 5 s of notice"),
        ({"provider": "AWS"}, 120.0, "it gives 120 s of notice"),
        ({"provider": "vast"}, None, "nothing says that it gives notice, so it gives none"),
        ({"notice": "0s", "provider": "aws"}, None, "it gives no notice"),
    ],
)
def test_the_notice_is_the_offers_own_else_its_clouds_else_none(
    more: dict[str, object], seconds: float | None, told: str
) -> None:
    found = weather_of(offer(interruptions="6h", **more))

    assert found.notice == seconds
    assert found.origin == f"spot is declared to be interrupted every 6 h; {told}"


def test_lives_that_were_seen_are_told_with_their_mean() -> None:
    found = weather_of(offer(lifetimes=[1.0, 3.0]))

    assert found.lives is not None and found.lives.observed
    assert found.origin.startswith("2 lives of spot were observed, 2 h on average")

from __future__ import annotations

from dataclasses import replace

import pytest

from lastro.preflight.size import BUDGETS, Known, Size, seconds_of, size_due

USUAL = Known(
    rented=True, has_gpu=True, lock="unchanged", provider="runner", providers=frozenset({"runner"}),
    region="eu", regions=frozenset({"eu"}), image="sha256:a", images=frozenset({"sha256:a"}),
)  # fmt: skip


@pytest.mark.parametrize(
    ("change", "size", "why"),
    [
        ({}, Size.CANARY, "unchanged"),
        ({"lock": "none"}, Size.FULL, "no machine of this kind has passed"),
        ({"lock": "changed"}, Size.FULL, "not the machine that is locked"),
        ({"provider": "other"}, Size.FULL, "other is new"),
        ({"region": "us"}, Size.FULL, "region us is new"),
        ({"image": "sha256:b"}, Size.FULL, "image sha256:b is new"),
        ({"notes": ("Xid 79 on Monday",)}, Size.FULL, "Xid 79 on Monday"),
        ({"region": None, "image": None}, Size.CANARY, "unchanged"),
        ({"rented": False, "has_gpu": False, "lock": "none"}, Size.CANARY, "nothing is rented"),
        ({"rented": False, "has_gpu": True, "lock": "none"}, Size.FULL, "nothing is locked"),
    ],
)
def test_the_size_follows_from_what_is_known(change: dict[str, object], size: Size, why: str) -> None:
    due = size_due(replace(USUAL, **change))  # type: ignore[arg-type]

    assert due.size is size and why in due.why


def test_no_size_takes_longer_than_was_promised() -> None:
    assert seconds_of(Size.CANARY) <= 60
    assert seconds_of(Size.CPU) <= 60
    assert seconds_of(Size.FULL) <= 600
    assert list(BUDGETS[Size.CPU])[-1] == list(BUDGETS[Size.FULL])[-1] == "trial"

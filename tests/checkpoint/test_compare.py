"""What was put back is compared bit by bit, wherever it lies in memory."""

from __future__ import annotations

import pytest
import torch

from lastro.checkpoint.adapters import bridge


@pytest.mark.parametrize("dtype", [torch.float32, torch.uint8, torch.int64])
@pytest.mark.parametrize("begin", [0, 1, 2])
@pytest.mark.parametrize("count", [1, 2, 7, 8, 16])
def test_one_element_that_differs_is_seen_wherever_it_lies(
    begin: int, count: int, dtype: torch.dtype
) -> None:
    whole = torch.arange(20).to(dtype)
    live = whole[begin : begin + count]

    assert bridge().compare(live.clone(), live) == ""
    for at in range(count):
        saved = live.clone()
        saved[at] += 1
        assert "other values" in str(bridge().compare(saved, live))


def test_bits_count_and_not_what_they_mean() -> None:
    """NaN is itself here, and the two zeros are two."""
    not_a_number, zeros = torch.tensor([float("nan")] * 2), torch.zeros(2)

    assert bridge().compare(not_a_number.clone(), not_a_number) == ""
    assert "other values" in str(bridge().compare(-zeros, zeros))

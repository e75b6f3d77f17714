from __future__ import annotations

from typing import Any

import pytest
import torch

from lastro.checkpoint.adapters.finite import is_finite
from lastro.checkpoint.adapters.torch_file import DTYPES


def _bytes(value: torch.Tensor) -> memoryview:
    row: Any = value.contiguous().view(torch.uint8).numpy()
    return memoryview(row)


FLOATING = [kind for kind in DTYPES if kind.is_floating_point or kind.is_complex]


@pytest.mark.parametrize("kind", FLOATING, ids=str)
@pytest.mark.parametrize("bad", [float("nan"), float("inf"), float("-inf")])
@pytest.mark.parametrize("at", [0, 200_000, 299_999])
def test_one_value_that_is_no_number_is_found_wherever_it_is(kind: torch.dtype, bad: float, at: int) -> None:
    value = torch.zeros(300_000).to(kind)
    assert is_finite(_bytes(value), DTYPES[kind])

    value[at] = torch.tensor(bad).to(kind)

    if kind.itemsize == 1 and value[at].float().isfinite():
        return  # this type has no infinity: it became the largest number
    assert not is_finite(_bytes(value), DTYPES[kind])


@pytest.mark.parametrize("kind", [kind for kind in FLOATING if not kind.is_complex], ids=str)
def test_the_largest_numbers_are_numbers(kind: torch.dtype) -> None:
    ends = torch.tensor(
        [torch.finfo(kind).max, torch.finfo(kind).min, torch.finfo(kind).tiny], dtype=torch.float64
    )

    assert is_finite(_bytes(ends.to(kind)), DTYPES[kind])


def test_integers_truth_values_and_nothing_at_all_are_finite() -> None:
    assert is_finite(_bytes(torch.full((4,), -1, dtype=torch.int64)), "I64")
    assert is_finite(_bytes(torch.full((4,), 255, dtype=torch.uint8)), "U8")
    assert is_finite(memoryview(b""), "F32")

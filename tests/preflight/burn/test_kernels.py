"""The kernels of the burn-in, on the processor: right results pass, and every kind of wrong one is found."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from lastro.preflight.burn.matmul import ROUNDOFF, burn_matmul
from lastro.preflight.burn.memory import PATTERNS, check_memory
from lastro.preflight.burn.transfer import check_transfer

MiB = 2**20


class Once:
    """Does as `torch` does, and spoils one number of what comes out the `when`th time."""

    def __init__(self, original: Any, spoil: Any, when: int = 2) -> None:
        self._original, self._spoil, self._left = original, spoil, when

    def __call__(self, *arguments: Any) -> Any:
        result = self._original(*arguments)
        self._left -= 1
        if self._left == 0:
            self._spoil(result)
        return result


def flip_bit(words: Any) -> None:
    words[1234] ^= 1 << 40


def nudge(matrix: Any) -> None:
    matrix[3, 5] += 1


def test_memory_that_holds_what_is_written_has_no_wrong_word() -> None:
    found = check_memory(torch, "cpu", 3 * MiB, 60)

    assert found["bytes"] == 3 * MiB and found["wrong"] == 0 and found["first"] is None
    assert found["patterns"] == [name for name, _value in PATTERNS]


@pytest.mark.parametrize("when", range(1, len(PATTERNS) + 1))
def test_one_flipped_bit_is_found_and_named_in_every_pattern(when: int) -> None:
    def same(chunk: Any) -> Any:
        return chunk

    found = check_memory(torch, "cpu", MiB, 60, back=Once(same, flip_bit, when))

    assert found["wrong"] >= 1
    first = found["first"]
    assert (first["pattern"], first["byte"]) == (PATTERNS[when - 1][0], 1234 * 8)
    assert int(first["expected"], 16) ^ int(first["found"], 16) == 1 << 40


def test_an_address_line_that_reaches_the_wrong_cell_is_found_by_the_addresses_alone() -> None:
    """Both halves are one: what is written second is read twice. Only equal patterns look right."""

    def folded(chunk: Any) -> Any:
        half = len(chunk) // 2
        return torch.cat([chunk[half:], chunk[half:]])

    found = check_memory(torch, "cpu", MiB, 60, back=folded)

    assert found["first"]["pattern"] == "addresses" and found["wrong"] == MiB // 8 // 2


@pytest.mark.parametrize("dtype", sorted(ROUNDOFF))
def test_right_products_are_equal_and_near_the_exact_one_in_every_type(dtype: str) -> None:
    found = burn_matmul(torch, "cpu", dtype, 64, 0.0)

    assert (found["times"], found["wrong"], found["first"]) == (3, 0, None)
    assert 0 <= found["far"] <= 1
    assert found["first_third"] > 0 and found["last_third"] > 0


@pytest.mark.parametrize("dtype", sorted(ROUNDOFF))
def test_one_wrong_number_of_one_product_is_found_and_named(dtype: str) -> None:
    found = burn_matmul(torch, "cpu", dtype, 64, 0.0, multiply=Once(torch.matmul, nudge, 3))

    assert found["wrong"] == 1
    assert (found["first"]["time"], found["first"]["row"], found["first"]["column"]) == (2, 3, 5)


def test_a_product_that_is_nothing_is_not_equal_to_itself() -> None:
    def nothing(a: Any, b: Any) -> Any:
        return torch.full_like(torch.matmul(a, b), float("nan"))

    found = burn_matmul(torch, "cpu", "float32", 64, 0.0, multiply=nothing)

    assert found["wrong"] == found["times"] and found["far"] == float("inf")


def test_a_device_that_is_wrong_in_the_same_way_each_time_is_found_by_the_exact_product() -> None:
    def always(a: Any, b: Any) -> Any:
        result = torch.matmul(a, b)
        result[2, 7] += 40
        return result

    found = burn_matmul(torch, "cpu", "float32", 64, 0.0, multiply=always)

    assert found["wrong"] == 0 and found["far"] > 1


def test_what_comes_back_from_a_device_is_compared_with_what_was_sent() -> None:
    def spoil(sent: Any) -> None:
        sent[99] += 1

    right = check_transfer(torch, "cpu", MiB, 0.0)
    wrong = check_transfer(torch, "cpu", MiB, 0.0, send=Once(lambda one: one.to("cpu", copy=True), spoil, 1))

    assert (right["times"], right["wrong"]) == (3, 0) and right["there"] > 0
    assert wrong["wrong"] == 1

"""A job that no probe sees into is compared by what it prints and leaves."""

from __future__ import annotations

import pytest

from lastro.drill.printed import Outside, difference, shared_by


def lines(first: int, last: int, *, change: int | None = None) -> tuple[str, ...]:
    return tuple(
        f"step {step} loss {1 / step + (0.5 if step == change else 0):.4f}" for step in range(first, last + 1)
    )


def outside(*lives: tuple[str, ...], **files: str) -> Outside:
    return Outside(lives=lives, files=files or {"model.bin": "d1"})


UNDISTURBED = shared_by([outside((*lines(1, 10), f"took {seconds} s")) for seconds in (7, 8, 9)])


def test_the_end_of_what_an_undisturbed_life_prints_is_no_difference() -> None:
    assert difference(outside(lines(1, 7), ("resumed at 5", *lines(6, 10), "took 3 s")), UNDISTURBED) is None


def test_a_value_that_differs_is_told_with_what_was_expected() -> None:
    told = difference(outside(lines(1, 7), lines(6, 10, change=8)), UNDISTURBED)

    assert told == "printed 8 0.6250 where 8 0.1250 was expected, in lines like: step # loss #"


def test_steps_that_are_missing_at_the_end_differ() -> None:
    assert difference(outside(lines(1, 7), lines(6, 9)), UNDISTURBED) is not None


@pytest.mark.parametrize(("files", "word"), [({"model.bin": "d2"}, "other bytes"), ({"x": "d1"}, "not left")])
def test_a_file_that_is_other_or_missing_differs(files: dict[str, str], word: str) -> None:
    told = difference(outside(lines(1, 7), lines(6, 10), **files), UNDISTURBED)

    assert told is not None and word in told


def test_what_undisturbed_lives_do_not_share_is_left_out() -> None:
    shared = shared_by([outside((f"took {n} s",), log=f"d{n}") for n in range(3)])

    assert shared.nothing
    assert difference(outside((), ("took 99 s",), log="d9"), shared) is None

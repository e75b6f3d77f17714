from __future__ import annotations

from collections.abc import Iterator

import pytest

from lastro.job.foreign import ForeignSource


class Stream:
    """A loader that is no sequence and remembers which epochs it was told."""

    def __init__(self) -> None:
        self.epochs: list[int] = []

    def set_epoch(self, epoch: int) -> None:
        self.epochs.append(epoch)

    def __iter__(self) -> Iterator[str]:
        return iter("abc")


def test_skipped_batches_are_drawn_and_not_delivered() -> None:
    items = list(ForeignSource(Stream()).batches(1, 2, 3))

    assert [(each.epoch, each.batch, each.data, each.last) for each in items] == [
        (1, 2, "c", True), (2, 0, "a", False), (2, 1, "b", False), (2, 2, "c", True),
    ]  # fmt: skip


def test_a_sampler_that_shuffles_by_epoch_is_told_the_epoch() -> None:
    stream = Stream()

    list(ForeignSource(stream).batches(1, 0, 3))

    assert stream.epochs == [1, 2]


def test_what_is_not_exact_is_said_once(capsys: pytest.CaptureFixture[str]) -> None:
    list(ForeignSource(Stream()).batches(0, 0, 5))
    list(ForeignSource("abc").batches(0, 0, 5))

    assert capsys.readouterr().err.count("is not attempt.loader") == 1

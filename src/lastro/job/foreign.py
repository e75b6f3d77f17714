"""Batches from a loader that is not ours: any iterable that can be begun anew for each epoch."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from lastro.job.leaving import tell
from lastro.job.loop import Delivered
from lastro.locale import _


class ForeignSource:
    """Delivers a foreign loader's batches. Resuming inside an epoch draws the skipped ones again."""

    def __init__(self, loader: Iterable[Any]) -> None:
        self._loader = loader

    def signature(self) -> Mapping[str, Any]:
        try:
            return {"foreign": len(self._loader)}  # type: ignore[arg-type]
        except TypeError:
            return {"foreign": None}

    def batches(self, epoch: int, batch: int, epochs: int) -> Iterator[Delivered]:
        if not isinstance(self._loader, Sequence):  # a list has no chance in it
            tell(
                _(
                    "this loader is not attempt.loader: skipped batches are loaded again, and its shuffling"
                    " and augmentation may differ after a resume"
                )
            )
        for at in range(epoch, epochs):
            set_epoch(self._loader, at)
            yield from self._one_epoch(at, batch if at == epoch else 0)

    def _one_epoch(self, epoch: int, skip: int) -> Iterator[Delivered]:
        # One batch is drawn ahead, so that the last of an epoch is known without a length.
        ahead: tuple[int, Any] | None = None
        for number, data in enumerate(self._loader):
            if number < skip:
                continue
            if ahead is not None:
                yield Delivered(ahead[0], epoch, False, ahead[1])
            ahead = (number, data)
        if ahead is not None:
            yield Delivered(ahead[0], epoch, True, ahead[1])


def set_epoch(loader: Any, epoch: int) -> None:
    """Tell a loader which epoch begins: distributed samplers shuffle by it."""
    for part in (loader, getattr(loader, "sampler", None)):
        if callable(getattr(part, "set_epoch", None)):
            part.set_epoch(epoch)  # type: ignore[union-attr]

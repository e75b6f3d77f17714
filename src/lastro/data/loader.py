"""Batches of a pack with a position that is exact, small, and independent of workers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, NamedTuple

import torch
from torch.utils.data import DataLoader

from lastro.data.dataset import PackedDataset
from lastro.data.stream import PackedStream, Shape
from lastro.errors import CheckpointDamaged, UsageError
from lastro.locale import _
from lastro.rules.permutation import seed_of

#: Of a position.
FORMAT = 1


class Batch(NamedTuple):
    """One batch as `attempt.steps` takes it."""

    batch: int
    epoch: int
    last: bool
    data: Any


class PackedLoader:
    """Iterating it yields what is left of the epoch, and goes on with the next one the time after.

    For `attempt.steps(loader)`, or by hand with `attempt.track(loader=loader)`: its state is (format, digest
    of the pack, order, seed, epoch, samples delivered). It is restored at once, wherever it points, with any
    number of workers. What a `transform` draws by chance is not kept; `attempt.loader` does that.

    Args:
        dataset: the pack.
        batch_size: samples of a batch of each process.
        seed: of the order.
        shuffle: whether it is one at all.
        num_workers: processes that read.
        drop_last: leave out what makes no whole batch.
        collate_fn: from a list of samples to a batch; by default the list itself.
        ranks: (which of the processes that train together this is, how many there are).

    Raises:
        UsageError: batch_size is below 1, or the last batch cannot be divided among the processes.
    """

    def __init__(
        self,
        dataset: PackedDataset,
        *,
        batch_size: int = 1,
        seed: int = 0,
        shuffle: bool = True,
        num_workers: int = 0,
        drop_last: bool = False,
        collate_fn: Callable[[list[Any]], Any] | None = None,
        ranks: tuple[int, int] = (0, 1),
    ) -> None:
        if batch_size < 1:
            raise UsageError(_("batch_size is {size}, but it has to be 1 or more").format(size=batch_size))
        self._shape = Shape(
            batch_size=batch_size,
            seed=seed,
            shuffle=shuffle,
            drop_last=drop_last,
            rank=ranks[0],
            count=ranks[1],
        )
        together, rows = self._shape.together, len(dataset)
        if ranks[1] > 1 and not drop_last and rows % together:
            raise UsageError(
                _("the last batch of {rows} rows is too small to be divided among {count} processes").format(
                    rows=rows, count=ranks[1]
                ),
                hint=_("leave it out with drop_last=True"),
            )
        self._dataset, self._workers, self._collate = dataset, num_workers, collate_fn
        self._epoch, self._samples = 0, 0

    def __len__(self) -> int:
        """Return the batches of a whole epoch."""
        together, rows = self._shape.together, len(self._dataset)
        return rows // together if self._shape.drop_last else -(-rows // together)

    def __iter__(self) -> Iterator[Any]:
        epoch, whole = self._epoch, len(self._dataset)
        for batch in self._make(epoch, self._samples, epoch + 1):
            self._samples = min(self._samples + self._shape.together, whole)
            yield batch
        self._epoch, self._samples = epoch + 1, 0

    # --- the position -------------------------------------------------------------------------------

    def state_dict(self) -> dict[str, Any]:
        """Return the position: the batch that is being worked on counts as delivered."""
        return {
            "format": FORMAT,
            **self._dataset.epoch_signature(),
            "seed": self._shape.seed,
            "shuffle": self._shape.shuffle,
            "epoch": self._epoch,
            "samples": self._samples,
        }

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Go on where a position points.

        Raises:
            CheckpointDamaged: it is of another pack, seed or format, or none at all.
        """
        here = {"format": FORMAT, "pack": self._dataset.digest}
        here |= {"seed": self._shape.seed, "shuffle": self._shape.shuffle}
        try:
            for name, value in here.items():
                if state[name] != value:
                    raise CheckpointDamaged(
                        _("the position is of {name} {saved}, and this is {here}").format(
                            name=name, saved=state[name], here=value
                        ),
                        hint=_("read the corpus that it was made with, or begin anew"),
                    )
            epoch, samples = int(state["epoch"]), int(state["samples"])
            self._dataset.adopt(state["order"], int(state["block"]))
        except (KeyError, TypeError, ValueError) as error:
            raise CheckpointDamaged(
                _("{state} is no position in a pack").format(state=dict(state)),
                hint=_("it was saved by something else, or is damaged"),
            ) from error
        self._epoch, self._samples = epoch, samples

    # --- for attempt.steps --------------------------------------------------------------------------

    def signature(self) -> Mapping[str, Any]:
        """Return what a position depends on."""
        shape = self._shape
        return {
            **self._dataset.epoch_signature(),
            "rows": len(self._dataset),
            "batch_size": shape.together,
            "shuffle": shape.shuffle,
            "drop_last": shape.drop_last,
            "seed": shape.seed,
        }

    def batches(self, epoch: int, batch: int, epochs: int) -> Iterator[Batch]:
        """Yield all batches from (epoch, batch) to the end of the last epoch."""
        feed = iter(self._make(epoch, batch * self._shape.together, epochs))
        for at in range(epoch, epochs):
            for number in range(batch if at == epoch else 0, len(self)):
                yield Batch(number, at, number == len(self) - 1, next(feed))

    def _make(self, epoch: int, samples: int, epochs: int) -> Iterable[Any]:
        stream = PackedStream(
            self._dataset, self._shape, epoch=epoch, samples=samples, epochs=epochs, collate=self._collate
        )
        if not self._workers:
            return stream  # a DataLoader would add nothing but steps
        return DataLoader(
            stream,
            batch_size=None,
            num_workers=self._workers,
            # Without one of ours torch looks into every sample, which takes longer than to read it.
            collate_fn=_as_it_is,
            # Of its own, or making it would draw from the generator that the model uses.
            generator=torch.Generator().manual_seed(seed_of(self._shape.seed, "workers")),
        )


def _as_it_is(batch: Any) -> Any:
    """Return the batch: it was collated where its samples were read."""
    return batch

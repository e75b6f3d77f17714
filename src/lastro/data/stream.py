"""A pack as an iterable dataset: batches of one or several epochs, the same for any number of workers."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from torch.utils.data import IterableDataset, get_worker_info

from lastro.data.dataset import PackedDataset
from lastro.records import dataclass


@dataclass(frozen=True, kw_only=True)
class Shape:
    """How epochs are cut into batches.

    batch_size: of each process. rank, count: which of the processes that train together this is.
    """

    batch_size: int
    seed: int
    shuffle: bool
    drop_last: bool
    rank: int = 0
    count: int = 1

    @property
    def together(self) -> int:
        """Samples of one batch of all processes."""
        return self.batch_size * self.count


class PackedStream(IterableDataset[Any]):
    """Yields batches, from a sample of an epoch on; for DataLoader with `batch_size=None`.

    Each of several workers makes every so-many-th batch. DataLoader takes batches from its workers in turn,
    so what arrives is the same sequence with any number of them.

    Args:
        dataset: the pack.
        shape: how it is cut.
        epoch: where to begin.
        samples: how many of that epoch all processes together have had already.
        epochs: the first one that is not delivered any more.
        collate: from a list of samples to a batch; by default the list itself.
    """

    def __init__(
        self,
        dataset: PackedDataset,
        shape: Shape,
        *,
        epoch: int = 0,
        samples: int = 0,
        epochs: int = 1,
        collate: Callable[[list[Any]], Any] | None = None,
    ) -> None:
        self._dataset, self._shape, self._collate = dataset, shape, collate
        self._epoch, self._samples, self._epochs = epoch, samples, epochs

    def __iter__(self) -> Iterator[Any]:
        worker = get_worker_info()
        mine, of = (worker.id, worker.num_workers) if worker is not None else (0, 1)
        batches = (rows.tolist() for rows in itertools.islice(self._batches(), mine, None, of))
        rows = next(batches, None)
        while rows is not None:
            following = next(batches, None)
            if following is not None:
                self._dataset.expect(following)
            batch = self._dataset.__getitems__(rows)
            yield batch if self._collate is None else self._collate(batch)
            rows = following

    def _batches(self) -> Iterator[Any]:
        """Yield the numbers of this process's samples of each batch."""
        shape, total = self._shape, len(self._dataset)
        for epoch in range(self._epoch, self._epochs):
            # As an array: a slice of a tensor takes as long as several reads.
            rows = self._dataset.epoch_order(shape.seed, epoch).numpy() if shape.shuffle else np.arange(total)
            begin = self._samples if epoch == self._epoch else 0
            for place in range(begin, total, shape.together):
                whole = rows[place : place + shape.together]
                if len(whole) < shape.together and shape.drop_last:
                    break
                yield whole[shape.rank * shape.batch_size : (shape.rank + 1) * shape.batch_size]

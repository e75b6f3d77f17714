"""A PyTorch DataLoader whose order we own: a function of (seed, epoch), resumed at any batch.

Randomness inside a sample is a function of (seed, epoch, index), so that neither workers nor an
interruption change it.
"""

from __future__ import annotations

import random
import signal
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np
import torch
from torch.utils.data import DataLoader, Dataset, IterableDataset, default_collate

from lastro.errors import UsageError
from lastro.job.loop import Delivered
from lastro.job.ranks import Ranks
from lastro.locale import _
from lastro.rules.permutation import order, seed_of


class _Sampler:
    """Yields, batch by batch and over all remaining epochs, what `Seeded` needs to know."""

    def __init__(self, loader: Loader, epoch: int, batch: int, epochs: int) -> None:
        self._loader, self._epoch, self._batch, self._epochs = loader, epoch, batch, epochs

    def __iter__(self) -> Iterator[list[tuple[int, int]]]:
        loader = self._loader
        for epoch in range(self._epoch, self._epochs):
            rows = loader.order(epoch)
            for batch in range(self._batch if epoch == self._epoch else 0, loader.per_epoch):
                whole = rows[batch * loader.batch_size : (batch + 1) * loader.batch_size]
                chosen = whole[loader.part]
                yield [(epoch, index) for index in chosen.tolist()]


class Seeded(Dataset[Any]):
    """The user's dataset, each sample made under its own random states; collates a whole batch.

    The states that were there before are put back after the batch: in the main process (no workers) the
    model's dropout must not notice that data was loaded.
    """

    def __init__(self, dataset: Any, seed: int, collate: Callable[[list[Any]], Any]) -> None:
        self._dataset, self._seed, self._collate = dataset, seed, collate

    def __len__(self) -> int:
        return len(self._dataset)

    def __getitems__(self, keys: list[tuple[int, int]]) -> Any:
        before = random.getstate(), np.random.get_state(), torch.get_rng_state()
        try:
            samples = []
            for epoch, index in keys:
                seed = seed_of(self._seed, epoch, index)
                random.seed(seed)
                np.random.seed(seed & 0xFFFFFFFF)
                torch.default_generator.manual_seed(seed)
                samples.append(self._dataset[index])
            return self._collate(samples)
        finally:
            random.setstate(before[0])
            np.random.set_state(before[1])
            torch.set_rng_state(before[2])


def as_it_is(batch: Any) -> Any:
    """The batch was collated where its samples were made."""
    return batch


def start_worker(number: int) -> None:
    """A Ctrl-C goes to the whole terminal group; the main process decides what it means."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)


class Loader:
    """Batches of a map-style dataset; made by `attempt.loader`.

    `batch_size` is that of all processes that train together; `part` is what this one gets of each batch.

    Iterating it directly (validation, prediction) gives one epoch, always the same, and leaves the random
    states of the process alone.
    """

    def __init__(  # noqa: PLR0913 - torch's own arguments, and what is ours
        self,
        dataset: Any,
        *,
        seed: int,
        batch_size: int = 1,
        shuffle: bool = False,
        num_workers: int = 0,
        drop_last: bool = False,
        collate_fn: Callable[[list[Any]], Any] | None = None,
        pin_memory: bool = False,
        ranks: Ranks | None = None,
    ) -> None:
        if isinstance(dataset, IterableDataset) or not hasattr(dataset, "__len__"):
            raise UsageError(
                _("{kind} has no length, so its order cannot be owned").format(kind=type(dataset).__name__),
                hint=_("give steps a DataLoader of your own; it says what will not be exact"),
            )
        if batch_size < 1:
            raise UsageError(_("batch_size is {size}, but it has to be 1 or more").format(size=batch_size))
        ranks = ranks or Ranks()
        self.part = slice(ranks.rank * batch_size, (ranks.rank + 1) * batch_size)
        batch_size *= ranks.count
        self.rows, self.batch_size, self.shuffle, self.seed = len(dataset), batch_size, shuffle, seed
        self.drop_last, self.dataset = drop_last, dataset
        self.per_epoch = self.rows // batch_size if drop_last else -(-self.rows // batch_size)
        if self.per_epoch == 0:
            raise UsageError(_("{rows} rows make no batch of {size}").format(rows=self.rows, size=batch_size))
        if ranks.several and not drop_last and self.rows % batch_size:
            raise UsageError(
                _("the last batch of {rows} rows is too small to be divided among {count} processes").format(
                    rows=self.rows, count=ranks.count
                ),
                hint=_("leave it out with drop_last=True, or add rows up to a multiple of {size}").format(
                    size=batch_size
                ),
            )
        self._data = Seeded(dataset, seed, collate_fn or default_collate)
        self._workers, self._pin = num_workers, pin_memory

    def __len__(self) -> int:
        """Return the batches of one epoch."""
        return self.per_epoch

    def __iter__(self) -> Iterator[Any]:
        return iter(self._make(0, 0, 1))

    def order(self, epoch: int) -> torch.Tensor:
        """Return the rows of an epoch; a dataset that knows how its disk wants to be read says the order."""
        if not self.shuffle:
            return torch.arange(self.rows)
        own = getattr(self.dataset, "epoch_order", None)
        chosen: torch.Tensor = order(self.seed, epoch, self.rows) if own is None else own(self.seed, epoch)
        return chosen

    def signature(self) -> Mapping[str, Any]:
        of_data = getattr(self.dataset, "epoch_signature", None)
        return {
            **(of_data() if of_data is not None else {}),
            "rows": self.rows,
            "batch_size": self.batch_size,
            "shuffle": self.shuffle,
            "drop_last": self.drop_last,
            "seed": self.seed,
        }

    def batches(self, epoch: int, batch: int, epochs: int) -> Iterator[Delivered]:
        feed = iter(self._make(epoch, batch, epochs))
        for at in range(epoch, epochs):
            for number in range(batch if at == epoch else 0, self.per_epoch):
                yield Delivered(number, at, number == self.per_epoch - 1, next(feed))

    def _make(self, epoch: int, batch: int, epochs: int) -> DataLoader[Any]:
        """One DataLoader, so one pool of workers, for all that is left."""
        return DataLoader(
            self._data,
            batch_sampler=_Sampler(self, epoch, batch, epochs),
            num_workers=self._workers,
            collate_fn=as_it_is,
            pin_memory=self._pin,
            worker_init_fn=start_worker,
            # Of its own, or making it would draw from the generator that the model uses.
            generator=torch.Generator().manual_seed(seed_of(self.seed, "workers")),
        )

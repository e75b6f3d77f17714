"""A DataLoader like the one that is given, whose order is a function of (seed, epoch) and resumes anywhere.

It stays a torch DataLoader over torch's own BatchSampler, so that a framework can count, wrap and skip it.
What is delivered is what `attempt.loader` would deliver: random augmentation is a function of (seed, epoch,
index), and loading never touches the generators that the model uses.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any

import torch
from torch.utils.data import (
    BatchSampler,
    DataLoader,
    DistributedSampler,
    IterableDataset,
    Sampler,
    SequentialSampler,
)

from lastro.job.leaving import tell
from lastro.job.loader import Seeded, as_it_is, start_worker
from lastro.job.ranks import Ranks
from lastro.locale import _
from lastro.rules.permutation import order, seed_of

#: Samplers by the name of their class (Accelerate has one of its own): do they shuffle? None: they say.
_KNOWN = {
    "SequentialSampler": False,
    "RandomSampler": True,
    "SeedableRandomSampler": True,
    "DistributedSampler": None,
}

#: What is taken over from the loader as it is.
_SAME = (
    "num_workers",
    "pin_memory",
    "timeout",
    "multiprocessing_context",
    "prefetch_factor",
    "persistent_workers",
)


class Order(Sampler[Any]):
    """Yields (epoch, row) for what is left of one epoch; the epoch after it begins at its first row.

    Args:
        rows: of the dataset.
        shuffle: whether their order is drawn anew for each epoch.
        seed: of that.
        batch_size: of each process. Where several train together each has its part of every batch of all; a
            last batch that cannot be divided is filled up from the beginning of the epoch.
        drop_last: a batch of all that is not full is left out.
        ranks: the processes; None: this one is alone.
    """

    def __init__(
        self,
        rows: int,
        *,
        shuffle: bool,
        seed: int,
        batch_size: int,
        drop_last: bool = False,
        ranks: Ranks | None = None,
    ) -> None:
        self._rows, self.shuffle, self.seed = rows, shuffle, seed
        self._batch_size, self._drop_last = batch_size, drop_last
        self._ranks = ranks or Ranks()
        self._epoch = self._skip = 0

    def set_epoch(self, epoch: int) -> None:
        """Say which epoch is delivered next. The frameworks call it by this name."""
        if epoch != self._epoch:
            self._epoch, self._skip = epoch, 0

    def begin(self, epoch: int, batch: int) -> None:
        """Go on at a batch inside an epoch."""
        self._epoch, self._skip = epoch, batch * self._batch_size

    def __len__(self) -> int:
        return len(self._part(torch.arange(self._rows)))

    def __iter__(self) -> Iterator[tuple[int, int]]:
        epoch, skip, self._skip = self._epoch, self._skip, 0
        rows = order(self.seed, epoch, self._rows) if self.shuffle else torch.arange(self._rows)
        for row in self._part(rows)[skip:].tolist():
            yield epoch, row

    def _part(self, rows: torch.Tensor) -> torch.Tensor:
        """Return this process's part of an epoch's rows."""
        count, rank = self._ranks.count, self._ranks.rank
        if count == 1:
            return rows
        together = self._batch_size * count
        full = len(rows) // together * together
        parts = [rows[:full].reshape(-1, count, self._batch_size)[:, rank].reshape(-1)]
        if full < len(rows) and not self._drop_last:
            last = torch.cat([rows[full:], rows[: -(len(rows) - full) % count]])
            parts.append(last.reshape(count, -1)[rank])
        return torch.cat(parts)


class Owned:
    """A loader in lastro's order: `loader` for the framework, `order` to say where it goes on."""

    def __init__(self, given: Any, *, shuffle: bool, seed: int, ranks: Ranks | None = None) -> None:
        batches, ranks = _batches(given), ranks or Ranks()
        size, drop_last, rows = batches.batch_size, batches.drop_last, len(given.dataset)
        self.order = Order(
            rows, shuffle=shuffle, seed=seed, batch_size=size, drop_last=drop_last, ranks=ranks
        )
        theirs = getattr(given, "worker_init_fn", None)
        self.loader: DataLoader[Any] = DataLoader(
            Seeded(given.dataset, seed, given.collate_fn),
            batch_sampler=BatchSampler(self.order, size, drop_last),
            collate_fn=as_it_is,
            worker_init_fn=start_worker if theirs is None else partial(_start_both, theirs),
            # Of its own, or making an iterator would draw from the generator that the model uses.
            generator=torch.Generator().manual_seed(seed_of(seed, "workers")),
            **{name: getattr(given, name) for name in _SAME},
        )
        self.facts: Mapping[str, Any] = {
            "rows": rows,
            "batch_size": size * ranks.count,
            "drop_last": drop_last,
            "shuffle": shuffle,
            "seed": seed,
        }


def _start_both(theirs: Callable[[int], Any], number: int) -> None:
    start_worker(number)
    theirs(number)


def own(given: Any, seed: int, ranks: Ranks | None = None) -> Owned | None:
    """Return a loader like the given one in lastro's order; None, and told, where its order stays its own.

    Args:
        given: of this process; a framework may have given it a part of the rows already.
        seed: of the order.
        ranks: the processes that train together; None: this one is alone.
    """
    why = _why_not(given)
    if why is None:
        sampler = _sampler(given)
        shuffle = _KNOWN[type(sampler).__name__]
        return Owned(given, shuffle=sampler.shuffle if shuffle is None else shuffle, seed=seed, ranks=ranks)
    tell(
        _("the order of the data stays the framework's, because {why}: after a resume it may differ").format(
            why=why
        )
    )
    return None


def _batches(given: Any) -> Any:
    """Return what makes the batches of all rows: Accelerate hides it where it gives each process some."""
    found: Any = getattr(given, "batch_sampler", None)
    if type(found).__name__ == "BatchSamplerShard" and not found.split_batches:
        return found.batch_sampler
    return found


def _sampler(given: Any) -> Any:
    return getattr(_batches(given), "sampler", None)


def _why_not(given: Any) -> str | None:
    """Say what about a loader cannot be taken over."""
    dataset = getattr(given, "dataset", None)
    if dataset is None:
        return _("{kind} is no DataLoader").format(kind=type(given).__name__)
    if isinstance(dataset, IterableDataset) or not hasattr(dataset, "__len__"):
        return _("{kind} has no length").format(kind=type(dataset).__name__)
    if type(_batches(given)).__name__ != "BatchSampler":  # torchdata has one of its own
        return _("{kind} makes its batches").format(kind=type(_batches(given)).__name__)
    sampler = _sampler(given)
    if type(sampler).__name__ not in _KNOWN:
        return _("{kind} orders its rows").format(kind=type(sampler).__name__)
    if isinstance(sampler, (SequentialSampler, DistributedSampler)):
        return None
    if sampler.replacement or sampler.num_samples != len(dataset):
        return _("it draws rows again, or not all of them")
    return None

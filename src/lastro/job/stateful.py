"""Batches from a loader that keeps its own place: torchdata's StatefulDataLoader, Streaming's, and the like.

What the loader says of its place is part of the checkpoint, and it is told that again before it goes on. So
nothing is drawn twice, and its own order and shards stay its own business.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Mapping
from typing import Any

from lastro.checkpoint.adapters import bridge
from lastro.errors import CheckpointDamaged
from lastro.job.foreign import set_epoch
from lastro.job.leaving import tell
from lastro.job.loop import Delivered
from lastro.job.ranks import Ranks
from lastro.locale import _

#: The group of a checkpoint that holds a loader's place, unless the script tracks it under a name of its own.
GROUP = "loader"
BY_RANK = "ranks"


def keeps_place(loader: Any) -> bool:
    """Tell whether a loader can say where it is, and be told."""
    return all(callable(getattr(loader, name, None)) for name in ("state_dict", "load_state_dict"))


class StatefulSource:
    """See `Source`. It is tracked as well: its state is the loader's, at the batch that was delivered last.

    Args:
        loader: of this process.
        ranks: the processes that train together, each with a loader of its own.
    """

    def __init__(self, loader: Any, ranks: Ranks) -> None:
        self._loader, self._ranks = loader, ranks
        dataset = getattr(loader, "dataset", None)
        kinds = {kind.__name__ for kind in type(dataset).__mro__}
        # A stream's workers may each end with a batch that is not full, which its length does not count.
        self._countable = hasattr(loader, "__len__") and "IterableDataset" not in kinds
        self._counts_samples = _takes(getattr(dataset, "state_dict", None), "num_samples", "from_beginning")
        #: Batches of this epoch that were delivered to bodies; None: no epoch was begun in this life.
        self._delivered: int | None = None
        self._waiting: Any = None
        self._before_next: Any = None
        self._gathered: list[Any] | None = None

    # --- its place, as tracked ------------------------------------------------------------------------

    def gather(self) -> None:
        """See `PlaceOfData`."""
        self._gathered = self._ranks.at_first(self._own())

    def state_dict(self) -> Any:
        """Return where the loaders of all processes are, by rank; what was told, until this one goes on."""
        if self._delivered is None:
            return self._waiting
        return {BY_RANK: self._gathered if self._ranks.several else [self._own()]}

    def load_state_dict(self, state: Any) -> None:
        """Keep this for when the loader is about to go on."""
        self._waiting = state

    def _told(self) -> Any:
        """Return where this process's loader is to go on.

        Raises:
            CheckpointDamaged: another number of processes has saved, and the loader cannot be divided anew.
        """
        places = self._waiting[BY_RANK]
        if len(places) != self._ranks.count and not self._counts_samples:
            raise CheckpointDamaged(
                _("{count} processes have saved the places of their loaders, and here are {here}").format(
                    count=len(places), here=self._ranks.count
                ),
                hint=_("go on with as many, or use attempt.loader, whose place is that of all"),
            )
        return places[min(self._ranks.rank, len(places) - 1)]

    def _own(self) -> Any:
        if self._delivered is None:
            return None
        return self._before_next if self._before_next is not None else self._ask()

    def _ask(self) -> Any:
        size = getattr(self._loader, "batch_size", None)
        if not self._counts_samples or size is None:
            return self._loader.state_dict()
        # Streaming's loader counts samples by the first value of a batch, and counts letters where that is
        # bytes or text. All batches but the last were full, so their number says it.
        assert self._delivered is not None
        dataset = self._loader.dataset
        copies = getattr(dataset, "replication", None) or 1
        return dataset.state_dict(self._delivered * size * self._ranks.count // copies, True)

    # --- batches --------------------------------------------------------------------------------------

    def signature(self) -> Mapping[str, Any]:
        length = len(self._loader) if self._countable else None
        return {"foreign": length, "keeps_place": type(self._loader).__name__}

    def batches(self, epoch: int, batch: int, epochs: int) -> Iterator[Delivered]:
        if getattr(self._loader, "num_workers", 0) or not self._countable:
            tell(
                _(
                    "this loader keeps its own place; what it draws by chance inside a sample may differ"
                    " after a resume"
                )
            )
        if self._waiting is not None:
            self._loader.load_state_dict(self._told())
        elif epoch or batch:
            tell(_("the place of the loader was left out of the restore: it begins anew"))
        for at in range(epoch, epochs):
            set_epoch(self._loader, at)
            feed = self._begin(resumed=at == epoch and self._waiting is not None, inside=batch > 0)
            yield from self._one_epoch(feed, at, batch if at == epoch else 0)

    def _begin(self, *, resumed: bool, inside: bool) -> Iterator[Any]:
        """Begin to iterate. Inside an epoch no generator may move: in an undisturbed life none does here."""
        feed: Iterator[Any]
        if not resumed:
            feed = iter(self._loader)
            return feed
        before = bridge().random_state()
        feed = iter(self._loader)
        if inside:
            if inspect.isgenerator(feed):  # it has not begun before the first batch is asked for
                feed = _after(next(feed), feed)
            bridge().set_random_state(before)
            return feed
        # It was told of the end of an epoch: what it gives is nothing, and then the next one.
        first = next(feed, None)
        if first is not None:
            return _after(first, feed)
        bridge().set_random_state(before)
        feed = iter(self._loader)
        return feed

    def _one_epoch(self, feed: Iterator[Any], epoch: int, begin: int) -> Iterator[Delivered]:
        self._delivered = begin
        if self._countable:
            last = len(self._loader) - 1
            for number in range(begin, last + 1):
                data = next(feed)
                self._delivered = number + 1
                yield Delivered(number, epoch, number == last, data)
            next(feed, None)  # so that it knows as well
            return
        number, missing = begin, object()
        data = next(feed, missing)
        while data is not missing:
            self._delivered = number + 1
            # The last one of a stream is known when there is no next one, which is drawn for that.
            self._before_next = self._ask()
            ahead = next(feed, missing)
            yield Delivered(number, epoch, ahead is missing, data)
            self._before_next = None
            number, data = number + 1, ahead


def _after(first: Any, feed: Iterator[Any]) -> Iterator[Any]:
    yield first
    yield from feed


def _takes(function: Any, *names: str) -> bool:
    if not callable(function):
        return False
    try:
        return set(names) <= set(inspect.signature(function).parameters)
    except (TypeError, ValueError):
        return False

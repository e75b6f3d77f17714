"""The object that a training script holds: one attempt of one run."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lastro import atomic
from lastro.checkpoint.store import fenced
from lastro.errors import Fenced, StorageError, UsageError
from lastro.job import loop
from lastro.job.foreign import ForeignSource
from lastro.job.hooks import answer_with_stacks, install_hooks
from lastro.job.item_index import open_index
from lastro.job.item_names import DEFAULT_NAME
from lastro.job.items import Item, ItemLoop, Site
from lastro.job.leaving import LeaveRequest, leave, tell
from lastro.job.measurements import Measurements
from lastro.job.outputs import publish_output
from lastro.job.place import VARIABLE, Place, find_place
from lastro.job.room import FullDisk
from lastro.job.saver import Saver
from lastro.job.stateful import GROUP, StatefulSource, keeps_place
from lastro.journal.signals import Heartbeat, Signal, SignalWriter
from lastro.locale import _
from lastro.rules import judge_input

if TYPE_CHECKING:
    from lastro.job.loader import Loader
    from lastro.job.ranks import Ranks


class Attempt:
    """One life of a run's process, as the training script sees it. Made by `lastro.attach()`."""

    def __init__(self, place: Place) -> None:
        self._place = place
        self._order = place.attempt.order
        self._request = LeaveRequest()
        self._full = full = FullDisk(place, self._request)
        self._signals = SignalWriter(place.signals, full.on_full(_("a signal")))
        watched = {rule.metric for rule in self._order.stop if rule.metric is not None}
        if (best := self._order.checkpoint.best) is not None:
            watched.add(best.metric)
        self._measurements = Measurements(
            place.folder.measurements(place.ranks.rank), watched, full.on_full(_("a measurement"))
        )
        self._saver = Saver(place, self._signals, self._measurements, self._request, full)
        self._current = loop.Current()
        self._items_reached: int | None = None
        self._in_body = False

    @property
    def _reached(self) -> int:
        """Where a failure happens: the update, or the item in hand."""
        return self._saver.step if self._items_reached is None else self._items_reached

    def _begin(self) -> None:
        self._request.install()
        if not self._place.by_hand:
            answer_with_stacks(self._place.folder.log)
        self._signals.send(Signal.STARTED, pid=os.getpid())
        if self._place.by_hand:
            tell(
                _("started by hand: attempt {number}, work and outputs in {folder}").format(
                    number=self.number, folder=self._place.folder.run.root
                )
            )

    # --- what was asked for ---------------------------------------------------------------------------

    @property
    def config(self) -> Mapping[str, Any]:
        """The run's configuration, as in the campaign file; empty when started by hand."""
        return self._order.config

    @property
    def seed(self) -> int:
        """The run's seed; 0 when started by hand."""
        return self._order.seed

    @property
    def number(self) -> int:
        """Which life of the run this is, from 1."""
        return self._place.attempt.number

    @property
    def ranks(self) -> Ranks:
        """Which of the processes that train together this is."""
        return self._place.ranks

    @property
    def folder(self) -> Path:
        """This attempt's own folder: logs, measurements. What has to last goes through `output`."""
        return self._place.folder.root

    # --- the loop -------------------------------------------------------------------------------------

    def loader(
        self,
        dataset: Any,
        *,
        batch_size: int = 1,
        shuffle: bool = False,
        num_workers: int = 0,
        drop_last: bool = False,
        collate_fn: Callable[[list[Any]], Any] | None = None,
        pin_memory: bool = False,
        seed: int | None = None,
    ) -> Loader:
        """Return a loader for `steps` whose order is a function of (seed, epoch) and resumes anywhere.

        The arguments are those of torch's DataLoader; `seed` defaults to the run's. Where several processes
        train together, `batch_size` is that of each, and each gets its part of every batch of all: the order
        is the same for any number of them, as long as their batches together are as large.

        Raises:
            UsageError: the dataset has no length, or makes no batch.
        """
        from lastro.job.loader import Loader

        return Loader(
            dataset,
            batch_size=batch_size,
            shuffle=shuffle,
            num_workers=num_workers,
            drop_last=drop_last,
            collate_fn=collate_fn,
            pin_memory=pin_memory,
            seed=self.seed if seed is None else seed,
            ranks=self._place.ranks,
        )

    def track(self, **objects: Any) -> None:
        """Name the objects whose state makes up the run: anything with state_dict and load_state_dict.

        Random states and the position in the data are kept without being named.

        Raises:
            UsageError: after the restore, twice under one name, or without these methods.
        """
        self._saver.track(objects)

    def renamed(self, group: str, names: Mapping[str, str]) -> None:
        """Say that parts of a tracked object had other names when the checkpoints of this run were made.

        Args:
            group: the name that it is tracked under.
            names: as in its `state_dict`, from the old one to the new; `{"encoder": "body"}` also holds for
                `encoder.0.weight`. A checkpoint that has the new names already is taken as it is.

        Raises:
            UsageError: nothing is tracked under that name, or its state was restored already.
        """
        self._saver.rename(group, names)

    def steps(self, loader: Any, *, epochs: int = 1, accumulate: int = 1) -> Iterator[tuple[loop.Step, Any]]:
        """Restore once, then yield (step, batch) for what is left of the run.

        Every update begins at a safe point: the bodies before it are complete. There the process judges,
        saves and, when asked, leaves with code 85. A finished run restores its end and yields nothing, so
        that its outputs can be written again.

        Args:
            loader: from `attempt.loader`; a foreign one works as far as it can, and says what is not exact.
            epochs: in all, over every attempt.
            accumulate: batches per update.

        Raises:
            CheckpointDamaged: the checkpoint does not fit what is tracked or the data, by name.
            UsageError: called twice.
        """
        loop.check_counts(epochs, accumulate)
        source = self._source_of(loader)
        position = loop.begin(self._saver, {**source.signature(), "accumulate": accumulate})
        self._current.step = position.step
        return self._walk(source, position, epochs, accumulate)

    def _source_of(self, loader: Any) -> loop.Source:
        if hasattr(loader, "signature"):
            source: loop.Source = loader
            return source
        if not keeps_place(loader):
            return ForeignSource(loader)
        stateful = StatefulSource(loader, self._place.ranks)
        self._saver.track_place(stateful, loader, GROUP)
        return stateful

    def _walk(
        self, source: loop.Source, position: loop.Position, epochs: int, accumulate: int
    ) -> Iterator[tuple[loop.Step, Any]]:
        walk = loop.walk(self._saver, source, position, self._current, epochs=epochs, accumulate=accumulate)
        for step, batch in walk:
            self._in_body = True
            try:
                yield step, batch
            except GeneratorExit:
                self._saver.left_by_break()
                raise
            finally:
                self._in_body = False
        self._signals.send(Signal.FINISHED, step=self._saver.step)

    # --- for loops of another shape -------------------------------------------------------------------

    def restore(self) -> int:
        """Put everything tracked back. Returns the step to go on after; 0 at the very beginning.

        Raises:
            CheckpointDamaged: the checkpoint does not fit what is tracked, by name.
            UsageError: called twice, or beside `steps`.
        """
        tree = self._saver.restore()
        step = 0 if tree is None else int(tree["step"])
        self._current.step = step + 1
        return step

    def safe_point(self, step: int) -> None:
        """Tell that `step` updates are complete: save when due, leave when asked, stop by a rule."""
        self._current.step = step + 1  # what is logged from here on belongs to the next one
        self._saver.safe_point({"step": step})

    def save(self, *, keep: str | None = None) -> None:
        """Save at the step of the last safe point; it is durable and read again when this returns.

        In the body of `steps` the state is that of an update which is not complete: there the save is made at
        the next safe point, right after this body or the last one of its window.

        Args:
            keep: what this checkpoint is to be kept for, such as an output that is made from it: it stays,
                whatever comes after it. None: it goes when later ones make it superfluous.

        Raises:
            UsageError: there is nothing to keep, because no update is complete; or the loop was left by
                `break`, so nobody knows of which update the state is.
        """
        if self._in_body:
            self._saver.ask_for_save(keep)
        elif keep is None:
            self._saver.make_safe("asked")
        else:
            self._saver.keep(keep)

    def end(self, step: int) -> None:
        """Tell that the loop is over after `step` updates: the last safe point, with the last save.

        Without it a process that writes its outputs for long would be waited for like one that trains.
        """
        self._current.step = step
        self._saver.safe_point({"step": step}, last=True)
        self._signals.send(Signal.FINISHED, step=step)

    # --- items ----------------------------------------------------------------------------------------

    def items(self, ids: Iterable[str | int], *, batch: int = 1, name: str = DEFAULT_NAME) -> Iterator[Item]:
        """Yield each item that no attempt has published yet, in the order of `ids`.

        Write a file, or make a folder, at `item.path`. The next iteration publishes the item, an exception
        or `break` does not. What is published is never done again; a kill repeats one batch at most. When
        asked to leave, the item in hand is completed, the batch published, and the process ends with 85.

        Args:
            ids: texts or whole numbers, each once.
            batch: how many items become durable together. Many small ones want many.
            name: of the items, below the run's outputs; `{id}` stands for the id, escaped as in URLs.

        Raises:
            UsageError: an id stands there twice or is none, or the name cannot name items.
            StorageError: nothing was written for an item, or the disk refuses.
        """
        return ItemLoop(self._site(), ids, name).one_by_one(batch)

    def item_batches(
        self, ids: Iterable[str | int], size: int, *, name: str = DEFAULT_NAME
    ) -> Iterator[tuple[Item, ...]]:
        """Yield the items that are missing in groups of `size`, for work that takes many at once.

        The next iteration publishes the whole group. Everything else is as for `items`.
        """
        return ItemLoop(self._site(), ids, name).in_batches(size)

    def published_items(self, *, name: str = DEFAULT_NAME) -> dict[str, Path]:
        """Return where each published item lies, by its id, to make something of all of them."""
        run = self._place.folder.run
        index = open_index(run.items_index, self._place.still_mine, tell)
        return {line.id: run.outputs / line.path for line in index.of(name)}

    def _site(self) -> Site:
        heart = Heartbeat(self._place.folder.heartbeat)

        def beat(count: int) -> None:
            self._current.step = self._items_reached = count
            heart.beat(count)

        self._full.sign_of_life = lambda: heart.beat(self._reached)
        return Site(
            place=self._place,
            signals=self._signals,
            request=self._request,
            full=self._full,
            beat=beat,
            between=self._saver.judge,
        )

    # --- what the job tells ---------------------------------------------------------------------------

    def log(self, **values: Any) -> None:
        """Write measured numbers under the current update; about 10 microseconds for Python numbers.

        A tensor on a device is kept and written at the next safe point, without waiting for it now.

        Raises:
            UsageError: a value is not one number.
        """
        self._measurements.log(self._current.step, values)

    def read(self, *, rows: int | None = None, digest: str | None = None) -> None:
        """Report the input that was really read: its rows, and the SHA-256 of its file.

        Ends the process with code 6 when the plan froze another input and has the rule for it.
        """
        self._signals.send(Signal.READ, rows=rows, digest=digest)
        stop = judge_input(self._order.stop, self._order.corpus, rows, digest)
        if stop is not None:
            self._saver.stop(stop)

    @contextlib.contextmanager
    def output(self, name: str) -> Iterator[Path]:
        """Give a path to write one file to; publish it durably when the block ends well, else not at all.

        Raises:
            UsageError: the name leads out of the folder of outputs.
            StorageError: nothing was written, or the disk is full or gone.
        """
        self._place.require_disk()
        outputs = self._place.folder.run.outputs
        try:
            with (
                self._saver.room_lent(),
                publish_output(outputs, name, self._fence, self._published) as path,
            ):
                yield path
        except Fenced as error:
            leave(error.exit_code, error.message)
        except OSError as error:
            if not atomic.is_full(error):
                raise
            raise StorageError(
                _("output {name} could not be written: {error}").format(name=name, error=error),
                hint=_("make room on the disk; the run goes on from its last checkpoint"),
            ) from error

    def _fence(self) -> Fenced | None:
        return None if self._place.still_mine() else fenced(self.number)

    def _published(self, name: str, size: int, digest: str) -> None:
        self._signals.send(Signal.OUTPUT, path=name, bytes=size, sha256=digest)


_attached: Attempt | None = None


def _failed(failure: str, full: bool) -> None:
    if _attached is not None:
        # Not by its own writer: a process that dies does not wait for room.
        words = SignalWriter(_attached._place.folder.signals)
        words.send(Signal.EXCEPTION, failure=failure, step=_attached._reached, full=full)


def attach() -> Attempt:
    """Return this process's attempt, the same at every call. See `lastro.attach`."""
    global _attached  # noqa: PLW0603 - a process has one attempt, and the handlers it installs are global too
    named = os.environ.get(VARIABLE)
    if _attached is None:
        install_hooks(_failed)
        _attached = Attempt(find_place())
        _attached._begin()
    elif named and Path(named) != _attached.folder:
        raise UsageError(
            _("this process is attached to {here}, not to {named}").format(
                here=_attached.folder, named=named
            ),
            hint=_("start a process of its own for each attempt"),
        )
    return _attached

"""The training loop: exact positions, accumulation windows, and a safe point at the top of every update."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple, Protocol

from lastro.errors import CheckpointDamaged, UsageError
from lastro.job.saver import Saver
from lastro.locale import _
from lastro.records import dataclass


class Step(NamedTuple):
    """What the loop knows of the batch it is about to do.

    number: the update that this batch contributes to, counted from 1 over the whole run. When `updates` is
        True it is the number of updates done once the body is complete.
    batch, epoch: of this batch, counted from 0; `batch` within its epoch.
    updates: this batch completes an accumulation window, so the body calls optimizer.step(). The last batch
        of an epoch always does: a window never crosses the end of an epoch.
    ends_epoch: this is the last batch of its epoch.
    """

    number: int
    batch: int
    epoch: int
    updates: bool
    ends_epoch: bool


class Delivered(NamedTuple):
    """One batch as a source of batches hands it out."""

    batch: int
    epoch: int
    last: bool
    data: Any


class Source(Protocol):
    """Where batches come from."""

    def signature(self) -> Mapping[str, Any]:
        """Return what a position depends on: with another signature it points at other data."""
        ...

    def batches(self, epoch: int, batch: int, epochs: int) -> Iterator[Delivered]:
        """Yield all batches from (epoch, batch) to the end of the last epoch."""
        ...


@dataclass(frozen=True)
class Position:
    """Batches delivered to complete bodies: `epoch` whole ones, `batch` of the next; `step` updates."""

    step: int = 0
    epoch: int = 0
    batch: int = 0

    def as_tree(self, signature: Mapping[str, Any]) -> dict[str, Any]:
        """Return what a checkpoint keeps."""
        return {"step": self.step, "epoch": self.epoch, "batch": self.batch, "data": dict(signature)}

    @classmethod
    def from_tree(cls, tree: Mapping[str, Any], signature: Mapping[str, Any]) -> Position:
        """Read what `as_tree` returned.

        Raises:
            CheckpointDamaged: it was saved by another kind of loop, or over other data, by name.
        """
        saved = tree.get("data")
        if saved is None:
            raise CheckpointDamaged(
                _("the checkpoint was saved by another kind of loop: it holds no place in the data"),
                hint=_("use steps in both, or restore and safe_point in both"),
            )
        for name in sorted({*saved, *signature}):
            if saved.get(name) != signature.get(name):
                raise CheckpointDamaged(
                    _("position/{name} is {saved} in the checkpoint and {here} here").format(
                        name=name, saved=saved.get(name), here=signature.get(name)
                    ),
                    hint=_("go on with the same data and loader, or begin a new run"),
                )
        return cls(tree["step"], tree["epoch"], tree["batch"])


@dataclass
class Current:
    """The update that `log` writes its values under."""

    step: int = 0


def begin(saver: Saver, signature: Mapping[str, Any]) -> Position:
    """Restore once; return where to go on."""
    tree = saver.restore()
    return Position() if tree is None else Position.from_tree(tree, signature)


def check_counts(epochs: int, accumulate: int) -> None:
    """See that a loop can be made of these. Raises UsageError."""
    if epochs < 0:
        raise UsageError(_("epochs is {count}, but it has to be 0 or more").format(count=epochs))
    if accumulate < 1:
        raise UsageError(_("accumulate is {count}, but it has to be 1 or more").format(count=accumulate))


def walk(
    saver: Saver, source: Source, position: Position, current: Current, *, epochs: int, accumulate: int
) -> Iterator[tuple[Step, Any]]:
    """Yield (step, batch) for what is left of the epochs.

    Every yield that begins an update is preceded by a safe point; one more follows the last. A loop that is
    left by `break` gets no last one: what came after the last save is repeated by the next attempt.
    """
    signature = {**source.signature(), "accumulate": accumulate}
    step, window = position.step, 0
    tree = position.as_tree(signature)
    feed = source.batches(position.epoch, position.batch, epochs)
    while True:
        if window == 0:
            saver.safe_point(tree, last=tree["epoch"] >= epochs)
        item = next(feed, None) if tree["epoch"] < epochs else None
        if item is None:
            break
        window += 1
        updates = item.last or window == accumulate
        current.step = step + 1
        yield Step(step + 1, item.batch, item.epoch, updates, item.last), item.data
        if updates:
            step, window = step + 1, 0
            epoch, batch = (item.epoch + 1, 0) if item.last else (item.epoch, item.batch + 1)
            tree = {"step": step, "epoch": epoch, "batch": batch, "data": signature}
    if tree["epoch"] < epochs:  # a foreign loader had nothing more to give
        saver.safe_point(tree, last=True)
    current.step = step

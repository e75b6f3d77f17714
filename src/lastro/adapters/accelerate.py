"""Accelerate: `steps` takes the place of the two loops over epochs and batches.

Tested with accelerate 1.15.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from accelerate.data_loader import prepare_data_loader

from lastro.adapters.order import Owned, own
from lastro.adapters.safe_points import Facts, SafePoints
from lastro.errors import UsageError
from lastro.job.loop import Step, check_counts
from lastro.locale import _


def steps(accelerator: Any, loader: Any, *, epochs: int = 1) -> Iterator[tuple[Step, Any]]:
    """Restore once, then yield (step, batch) for what is left: `attempt.steps` for what Accelerate prepared.

    Tracks every model, optimizer and schedule that `accelerator.prepare` was given, the scaler, and what was
    registered for checkpointing. Batches lie on the accelerator's device. An update takes as many batches as
    the accelerator accumulates; `accelerator.accumulate` in the body works as ever.

    Args:
        accelerator: after its `prepare`.
        loader: of the training data, prepared or not.
        epochs: in all, over every attempt.

    Raises:
        CheckpointDamaged: the checkpoint does not fit what is tracked or the data, by name.
        UsageError: several processes were not started by torchrun, or windows cross the end of an epoch.
    """
    accumulate = accelerator.gradient_accumulation_steps
    check_counts(epochs, accumulate)
    if accumulate > 1 and not accelerator.gradient_state.sync_with_dataloader:
        raise UsageError(
            _("with sync_with_dataloader=False an update may take batches of two epochs"),
            hint=_("leave it at True: the last batch of an epoch then always updates"),
        )
    safe = SafePoints(accelerator.num_processes)
    owned = own(loader, safe.attempt.seed, safe.ranks)
    facts = {} if owned is None else owned.facts
    safe.attempt.track(**_prepared(accelerator), data=Facts({**facts, "accumulate": accumulate}))
    feed = _Feed(accelerator, loader, owned)
    return _walk(safe, feed, safe.restore(), epochs, accumulate)


def _prepared(accelerator: Any) -> dict[str, Any]:
    """Return what `accelerator.save_state` would save, by name: model, model_1, ..."""
    kinds = {
        "model": [accelerator.unwrap_model(model) for model in accelerator._models],
        "optimizer": accelerator._optimizers,
        "scheduler": accelerator._schedulers,
        "registered": accelerator._custom_objects,
        "scaler": [] if accelerator.scaler is None else [accelerator.scaler],
    }
    return {
        kind if number == 0 else f"{kind}_{number}": each
        for kind, found in kinds.items()
        for number, each in enumerate(found)
    }


class _Feed:
    """Accelerate's own iteration over the data, begun at any batch of any epoch."""

    def __init__(self, accelerator: Any, loader: Any, owned: Owned | None) -> None:
        self._accelerator, self._owned = accelerator, owned
        self._loader = loader
        if owned is not None:
            # Not by the accelerator: a stateful loader of its own begins to draw before it is told where.
            self._loader = prepare_data_loader(
                owned.loader,
                device=accelerator.device,
                put_on_device=accelerator.device_placement,
                num_processes=1,  # it has this process's part of each batch already
                process_index=0,
            )

    def __len__(self) -> int:
        """Return the batches of one epoch."""
        return len(self._loader)

    def epoch(self, epoch: int, batch: int) -> Iterator[Any]:
        """Return what is left of an epoch from a batch on."""
        if hasattr(self._loader, "set_epoch"):
            self._loader.set_epoch(epoch)
        if self._owned is not None:
            self._owned.order.begin(epoch, batch)
        elif batch > 0:
            return iter(self._accelerator.skip_first_batches(self._loader, batch))
        return iter(self._loader)


def _walk(
    safe: SafePoints, feed: _Feed, done: int, epochs: int, accumulate: int
) -> Iterator[tuple[Step, Any]]:
    batches = len(feed)
    first, window = divmod(done, -(-batches // accumulate))
    step = done
    for epoch in range(first, epochs):
        skip = window * accumulate if epoch == first else 0
        for batch, data in enumerate(feed.epoch(epoch, skip), start=skip):
            if batch % accumulate == 0:
                safe.top(step)
            last = batch + 1 == batches
            updates = last or (batch + 1) % accumulate == 0
            yield Step(step + 1, batch, epoch, updates, last), data
            step += updates
    safe.attempt.end(step)

"""Lightning's Trainer: `join(trainer)`.

Tested with lightning 2.6.
"""

from __future__ import annotations

import signal
from collections.abc import Mapping
from typing import Any

from lightning.pytorch import Callback, LightningModule

from lastro.adapters.order import Owned, own
from lastro.adapters.safe_points import Facts, Late, SafePoints, Told
from lastro.job.attempt import Attempt
from lastro.job.leaving import tell
from lastro.locale import _


def join(trainer: Any) -> Attempt:
    """Let a Trainer go on where the last attempt was: call this before `trainer.fit(...)`.

    Tracks the module, its optimizers and schedules, the precision, the data module, the callbacks and the
    Trainer's own place; owns the order of the training data. Every update begins at a safe point. The loss of
    each batch is measured, and after a validation what the module has logged.

    Raises:
        UsageError: several processes train together, and torchrun has not started them.
    """
    resume = _Resume(trainer)
    trainer.callbacks.insert(0, resume)  # before others change what a save has to hold
    return resume.attempt


class _Resume(Callback):
    def __init__(self, trainer: Any) -> None:
        self._safe = SafePoints(trainer.world_size)
        self.attempt = self._safe.attempt
        self._data = Late("data")
        self._owned: list[Owned] = []
        self._place = (0, 0)
        self._ended = False
        self._on_term: Any = None

    # --- what Lightning calls, in this order ----------------------------------------------------------

    def setup(self, trainer: Any, pl_module: Any, stage: str) -> None:
        if stage != "fit":
            return
        process = trainer.strategy.process_dataloader

        def processed(loader: Any) -> Any:
            made = process(loader)
            return self._in_our_order(made) if trainer.training else made

        trainer.strategy.process_dataloader = processed

    def on_fit_start(self, trainer: Any, pl_module: Any) -> None:
        _tell_what_is_not_asked(pl_module)
        self._on_term = signal.getsignal(signal.SIGTERM)
        self.attempt.track(
            model=pl_module,
            precision=trainer.precision_plugin,
            data=self._data,
            callbacks=Told(lambda: _states(trainer), lambda states: _take_states(trainer, states)),
            loops=Told(lambda: self._loops(trainer), lambda loops: self._take_loops(trainer, loops)),
            **_numbered("optimizer", trainer.optimizers),
            **_numbered("scheduler", [each.scheduler for each in trainer.lr_scheduler_configs]),
            **({} if trainer.datamodule is None else {"datamodule": trainer.datamodule}),
        )
        self._safe.restore()

    def on_sanity_check_start(self, trainer: Any, pl_module: Any) -> None:
        self._take_term_back()

    def on_train_start(self, trainer: Any, pl_module: Any) -> None:
        self._take_term_back()
        facts = [dict(each.facts) for each in self._owned]
        self._data.bind(Facts({"loaders": facts, "accumulate": trainer.accumulate_grad_batches}))

    def on_train_batch_start(self, trainer: Any, pl_module: Any, batch: Any, batch_idx: int) -> None:
        if batch_idx % trainer.accumulate_grad_batches == 0:
            self._place = (trainer.current_epoch, batch_idx)
            self._safe.top(trainer.global_step)

    def on_train_batch_end(
        self, trainer: Any, pl_module: Any, outputs: Any, batch: Any, batch_idx: int
    ) -> None:
        loss = outputs.get("loss") if isinstance(outputs, Mapping) else outputs
        if loss is not None:
            self.attempt.log(loss=loss)

    def on_validation_end(self, trainer: Any, pl_module: Any) -> None:
        if not trainer.sanity_checking:
            self.attempt.log(**trainer.callback_metrics)

    def on_train_end(self, trainer: Any, pl_module: Any) -> None:
        self._end(trainer)

    def on_fit_end(self, trainer: Any, pl_module: Any) -> None:
        self._end(trainer)  # where there was nothing left to train

    # --- the parts ------------------------------------------------------------------------------------

    def _end(self, trainer: Any) -> None:
        if not self._ended:
            self._ended = True
            self.attempt.end(trainer.global_step)

    def _take_term_back(self) -> None:
        """Lightning's own answer to TERM is to end without a save."""
        signal.signal(signal.SIGTERM, self._on_term)

    def _in_our_order(self, made: Any) -> Any:
        owned = own(made, self.attempt.seed, self._safe.ranks)
        if owned is None:
            return made
        epoch, batch = self._place
        owned.order.begin(epoch, batch % len(owned.loader))  # a shorter one goes round within an epoch
        self._owned.append(owned)
        return owned.loader

    def _loops(self, trainer: Any) -> dict[str, Any]:
        """Return Lightning's counters as between two batches: it has counted the next one already."""
        counters = trainer.fit_loop.state_dict()
        progress = counters["epoch_loop.batch_progress"]
        progress["is_last_batch"] = False
        for count in (progress["total"], progress["current"]):
            count["ready"] = count["completed"]
        return {"counters": counters, "place": list(self._place)}

    def _take_loops(self, trainer: Any, loops: Mapping[str, Any]) -> None:
        trainer.fit_loop.load_state_dict(loops["counters"])
        epoch, batch = loops["place"]
        self._place = (epoch, batch)


def _numbered(kind: str, found: list[Any]) -> dict[str, Any]:
    return {kind if number == 0 else f"{kind}_{number}": each for number, each in enumerate(found)}


def _states(trainer: Any) -> dict[str, Any]:
    return {each.state_key: each.state_dict() for each in trainer.callbacks if each.state_dict()}


def _take_states(trainer: Any, states: Mapping[str, Any]) -> None:
    for each in trainer.callbacks:
        if each.state_key in states:
            each.load_state_dict(states[each.state_key])


def _tell_what_is_not_asked(module: Any) -> None:
    for hook in ("on_save_checkpoint", "on_load_checkpoint"):
        if getattr(type(module), hook, None) is not getattr(LightningModule, hook):
            tell(
                _("{hook} of the module is not called: track what it keeps, or put it into buffers").format(
                    hook=hook
                )
            )

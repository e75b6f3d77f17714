"""Hugging Face's Trainer, and what is made of it (TRL's trainers; models of PEFT): `join(trainer)`.

Tested with transformers 5.24.
"""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import torch
from transformers import TrainerCallback, TrainerState
from transformers.trainer_callback import ExportableState

from lastro import atomic
from lastro.adapters.order import Owned, own
from lastro.adapters.safe_points import Facts, Late, SafePoints, Told
from lastro.job.attempt import Attempt
from lastro.job.leaving import tell
from lastro.locale import _

#: The name under which the Trainer looks for the state that it goes on from.
_STATE = "trainer_state.json"

#: What the Trainer adds up between two lines of its log.
_SUMS = ("_tr_loss", "_total_loss_scalar", "_globalstep_last_logged", "current_flos")


def join(trainer: Any) -> Attempt:
    """Let a Trainer go on where the last attempt was: call this before `trainer.train()`.

    Tracks the model, the optimizer, the schedule, the scaler, the Trainer's own state and that of its
    callbacks; owns the order of the training data. Every update begins at a safe point. What the Trainer
    logs is measured.

    Raises:
        UsageError: several processes train together, and torchrun has not started them.
    """
    resume = _Resume(trainer)
    trainer.callback_handler.callbacks.insert(0, resume)  # before others change what a save has to hold
    trainer.train = resume.around(trainer.train)
    trainer.get_train_dataloader = resume.owning(trainer.get_train_dataloader)
    return resume.attempt


class _Resume(TrainerCallback):
    def __init__(self, trainer: Any) -> None:
        self._trainer = trainer
        self._safe = SafePoints(trainer.args.world_size)
        self.attempt = self._safe.attempt
        self._late = {name: Late(name) for name in ("optimizer", "scheduler", "data", "trainer")}
        if trainer.model_init is not None:  # it makes another model when training begins
            self._late["model"] = Late("model", trainer.model)
        self._owned: Owned | None = None
        self._epoch = 0

    # --- around the Trainer ---------------------------------------------------------------------------

    def around(self, train: Any) -> Any:
        """Return `train` that restores first."""

        def resumed(resume_from_checkpoint: Any = None, *others: Any, **named: Any) -> Any:
            self.attempt.track(**self._early(), **self._late)
            step = self._safe.restore()
            if step > 0:
                if resume_from_checkpoint:
                    tell(_("resume_from_checkpoint is passed over: this run has its own checkpoint"))
                resume_from_checkpoint = str(self._position(step))
                self._trainer._load_from_checkpoint = _not_from_there
            return train(resume_from_checkpoint, *others, **named)

        return resumed

    def _early(self) -> dict[str, Any]:
        """Return what is there already: that can be put back at once."""
        there = {"model": self._trainer.model, "scaler": self._trainer.accelerator.scaler}
        return {name: each for name, each in there.items() if each is not None and name not in self._late}

    def _position(self, step: int) -> Path:
        """Write what the Trainer finds its place by; all the rest is put back when it is about to train."""
        told = self._late["trainer"].waiting  # None where it is left out of the restore on purpose
        folder = self.attempt.folder / f"trainer.{self._safe.ranks.rank}"
        atomic.make_folder(folder)
        state = TrainerState(**told["state"]) if told else TrainerState(global_step=step)
        state.save_to_json(str(folder / _STATE))
        return folder

    def owning(self, made: Any) -> Any:
        """Return `get_train_dataloader` whose loader has lastro's order."""

        def get_train_dataloader() -> Any:
            given = made()
            seed = self._trainer.args.data_seed
            self._owned = own(given, self._trainer.args.seed if seed is None else seed, self._safe.ranks)
            return given if self._owned is None else self._owned.loader

        return get_train_dataloader

    # --- what the Trainer calls -----------------------------------------------------------------------

    def on_train_begin(self, args: Any, state: Any, control: Any, **others: Any) -> None:
        trainer = self._trainer
        live = {
            "model": trainer.model,
            "optimizer": trainer.optimizer,
            "scheduler": trainer.lr_scheduler,
            "data": Facts({**self._facts(), "accumulate": args.gradient_accumulation_steps}),
            "trainer": Told(self._told, self._take),
        }
        for name, late in self._late.items():
            late.bind(live[name])
        self._epoch = int(state.epoch or 0)

    def on_epoch_begin(self, args: Any, state: Any, control: Any, **others: Any) -> None:
        if self._owned is not None:
            self._owned.order.set_epoch(self._epoch)
        self._epoch += 1

    def on_step_begin(self, args: Any, state: Any, control: Any, **others: Any) -> None:
        self._safe.top(state.global_step)

    def on_log(self, args: Any, state: Any, control: Any, logs: Any = None, **others: Any) -> None:
        numbers = {name: value for name, value in (logs or {}).items() if isinstance(value, (int, float))}
        if numbers:
            self.attempt.log(**numbers)

    def on_train_end(self, args: Any, state: Any, control: Any, **others: Any) -> None:
        self.attempt.end(state.global_step)

    # --- the Trainer's own state ----------------------------------------------------------------------

    def _facts(self) -> dict[str, Any]:
        return {} if self._owned is None else dict(self._owned.facts)

    def _callbacks(self) -> list[tuple[str, Any]]:
        """Return those callbacks that have state, each with a name of its own."""
        named: list[tuple[str, Any]] = []
        for each in self._trainer.callback_handler.callbacks:
            if isinstance(each, ExportableState):
                kind = type(each).__name__
                named.append((f"{kind}/{sum(name.startswith(f'{kind}/') for name, _one in named)}", each))
        return named

    def _told(self) -> dict[str, Any]:
        state = dataclasses.asdict(self._trainer.state)
        state["stateful_callbacks"] = {}  # the Trainer would not restore them all
        return {
            "state": state,
            "callbacks": {name: each.state()["attributes"] for name, each in self._callbacks()},
            "sums": {name: getattr(self._trainer, name) for name in _SUMS if hasattr(self._trainer, name)},
        }

    def _take(self, told: Any) -> None:
        """Take back what the Trainer has not read from its file."""
        for name, each in self._callbacks():
            for attribute, value in told["callbacks"].get(name, {}).items():
                setattr(each, attribute, value)
        for name, value in told["sums"].items():
            moved = value.to(self._trainer.args.device) if isinstance(value, torch.Tensor) else value
            setattr(self._trainer, name, moved)


def _not_from_there(*_arguments: Any, **_others: Any) -> None:
    """The model is not in the Trainer's folder; it is put back with all the rest."""

"""An ordinary script with Hugging Face's Trainer, and one line more."""

from __future__ import annotations

import torch
from transformers import Trainer, TrainingArguments

import lastro
from lastro.adapters.transformers import join
from tests.adapters.jobs.shared import BATCH, RANKS, Rows, arguments, publish, small_model

given = arguments()
attempt = lastro.attach()
torch.manual_seed(7)
settings = TrainingArguments(
    output_dir=str(attempt.folder / "out"),
    num_train_epochs=given.epochs,
    per_device_train_batch_size=BATCH,
    gradient_accumulation_steps=given.accumulate,
    dataloader_num_workers=given.workers,
    learning_rate=3e-3,
    save_strategy="no",
    eval_strategy="steps" if given.validate else "no",
    eval_steps=10,
    logging_steps=7,
    remove_unused_columns=False,
    use_cpu=True,
    ddp_backend="gloo" if RANKS > 1 else None,
    disable_tqdm=True,
    report_to="none",
)
trainer = Trainer(
    model=None if given.model_init else small_model(attempt.folder),
    model_init=(lambda: small_model(attempt.folder)) if given.model_init else None,
    args=settings,
    train_dataset=Rows(given.augment),
    eval_dataset=Rows(False, rows=20),
)
join(trainer)
trainer.train()
publish(attempt, trainer.model)

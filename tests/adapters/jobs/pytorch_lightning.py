"""An ordinary script with Lightning's Trainer, and one line more."""

from __future__ import annotations

from typing import Any

import lightning
import torch
from torch.utils.data import DataLoader

import lastro
from lastro.adapters.lightning import join
from tests.adapters.jobs.shared import BATCH, RANKS, ROWS, Rows, arguments, publish, small_model

given = arguments()
attempt = lastro.attach()
torch.manual_seed(7)


class Module(lightning.LightningModule):
    def __init__(self) -> None:
        super().__init__()
        self.model = small_model(attempt.folder)

    def training_step(self, batch: dict[str, Any], number: int) -> Any:
        return self.model(**batch).loss

    def validation_step(self, batch: dict[str, Any], number: int) -> None:
        self.log("val_loss", self.model(**batch).loss)

    def configure_optimizers(self) -> Any:
        optimizer = torch.optim.AdamW(self.parameters(), lr=3e-3)
        updates = given.epochs * -(-ROWS // (BATCH * RANKS) // given.accumulate)
        schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=updates)
        return {"optimizer": optimizer, "lr_scheduler": {"scheduler": schedule, "interval": "step"}}


module = Module()
trainer = lightning.Trainer(
    max_epochs=given.epochs,
    accumulate_grad_batches=given.accumulate,
    accelerator="cpu",
    devices=RANKS,
    strategy="ddp" if RANKS > 1 else "auto",
    default_root_dir=str(attempt.folder / "out"),
    enable_checkpointing=given.validate,
    val_check_interval=10 if given.validate else None,
    limit_val_batches=None if given.validate else 0,
    enable_progress_bar=False,
    enable_model_summary=False,
    logger=False,
)
join(trainer)
trainer.fit(
    module,
    DataLoader(Rows(given.augment), batch_size=BATCH, shuffle=True, num_workers=given.workers),
    DataLoader(Rows(False, rows=20), batch_size=BATCH),
)
publish(attempt, module.model)

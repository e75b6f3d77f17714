"""A documented loop of Accelerate, with `steps` in the place of its two `for`s."""

from __future__ import annotations

import torch
from accelerate import Accelerator
from accelerate.utils import DataLoaderConfiguration
from torch.utils.data import DataLoader

import lastro
from lastro.adapters.accelerate import steps
from tests.adapters.jobs.shared import BATCH, RANKS, ROWS, Rows, arguments, publish, small_model

given = arguments()
attempt = lastro.attach()
torch.manual_seed(7)
accelerator = Accelerator(
    cpu=True,
    gradient_accumulation_steps=given.accumulate,
    dataloader_config=DataLoaderConfiguration(
        use_seedable_sampler=given.loader == "seedable", use_stateful_dataloader=given.loader == "stateful"
    ),
)
small = small_model(attempt.folder)
updates = given.epochs * -(-ROWS // (BATCH * RANKS) // given.accumulate)
optimizer = torch.optim.AdamW(small.parameters(), lr=3e-3)
model, optimizer, loader, scheduler = accelerator.prepare(
    small,
    optimizer,
    DataLoader(Rows(given.augment), batch_size=BATCH, shuffle=True, num_workers=given.workers),
    torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=updates),
)
model.train()
for _step, batch in steps(accelerator, loader, epochs=given.epochs):
    with accelerator.accumulate(model):
        loss = model(**batch).loss
        accelerator.backward(loss)
        optimizer.step()
        scheduler.step()
        optimizer.zero_grad()
    attempt.log(loss=loss)
publish(attempt, small)

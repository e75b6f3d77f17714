"""The loop of Accelerate's documentation: `save_state`, `load_state`, `skip_first_batches`; without lastro.

docs/drill.md shows what a drill finds in it.
"""

from __future__ import annotations

import argparse

import torch
from accelerate import Accelerator
from accelerate.utils import DataLoaderConfiguration
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

parser = argparse.ArgumentParser()
parser.add_argument("--resume")
parser.add_argument("--seedable", action="store_true", help="draw the order of each epoch from a seed")
options = parser.parse_args()
torch.set_num_threads(1)
torch.manual_seed(7)

rows = torch.randn(64, 8)
model = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Dropout(0.1), nn.Linear(16, 1))
optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3)
loader = DataLoader(TensorDataset(rows, rows.sum(1, keepdim=True)), batch_size=4, shuffle=True)
scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=48)
told = DataLoaderConfiguration(use_seedable_sampler=options.seedable)
accelerator = Accelerator(cpu=True, dataloader_config=told)
model, optimizer, loader, scheduler = accelerator.prepare(model, optimizer, loader, scheduler)
step, first_epoch, skip = 0, 0, 0
if options.resume:
    accelerator.load_state(options.resume)
    step = int(options.resume.rpartition("-")[2])
    first_epoch, skip = divmod(step, len(loader))
for epoch in range(first_epoch, 3):
    active = accelerator.skip_first_batches(loader, skip) if epoch == first_epoch and skip else loader
    for inputs, targets in active:
        loss = nn.functional.mse_loss(model(inputs), targets)
        accelerator.backward(loss)
        optimizer.step()
        scheduler.step()
        optimizer.zero_grad()
        step += 1
        if step % 6 == 0:
            accelerator.save_state(f"saves/step-{step}")

"""A training script of several processes, as torchrun starts them. TEAM is a JSON object.

`rows` of data, `batch` of each process, `leave_at`: this process (rank, update) sends itself TERM;
`die_at`: it kills itself by SIGKILL. Writes what each process was given, and at the end the weights.
"""

from __future__ import annotations

import json
import os
import signal
from pathlib import Path
from typing import Any

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel

import lastro

wish: dict[str, Any] = json.loads(os.environ["TEAM"])
torch.manual_seed(int(os.environ.get("RANK", "0")))  # dropout differs from process to process
torch.set_num_threads(1)
together = int(os.environ.get("WORLD_SIZE", "1")) > 1
if together:
    dist.init_process_group("gloo")
rank = dist.get_rank() if together else 0

rows = [(torch.full((4,), float(row)), row) for row in range(wish["rows"])]
net = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.Dropout(0.5), torch.nn.Linear(8, 1))
with torch.no_grad():
    for parameter in net.parameters():
        parameter.fill_(0.01)
optimizer = torch.optim.Adam(net.parameters(), lr=1e-3)
model = DistributedDataParallel(net) if together else net

attempt = lastro.attach()
attempt.track(net=net, optimizer=optimizer)
loader = attempt.loader(rows, batch_size=wish["batch"], shuffle=True)
given = (attempt.folder / f"given.{rank}.jsonl").open("a")
for step, (values, numbers) in attempt.steps(loader, epochs=2):
    given.write(json.dumps([step.number, numbers.tolist()]) + "\n")
    given.flush()
    loss = model(values).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    attempt.log(loss=loss)
    if [rank, step.number] == wish.get("die_at"):
        os.kill(os.getpid(), signal.SIGKILL)
    if [rank, step.number] == wish.get("leave_at"):
        os.kill(os.getpid(), signal.SIGTERM)
if rank == 0:
    with attempt.output("weights.pt") as path:
        torch.save(net.state_dict(), path)
if together:
    dist.barrier()
Path(attempt.folder, f"done.{rank}").touch()

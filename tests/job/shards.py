"""A training script whose state is divided among its processes by `fully_shard`. SHARDS is a JSON object.

`batch`: of each process. `whole`: nothing is divided, for one process. `hidden`: the width of the model;
`frozen`: its inner layer does not train. `die_at`: this process (rank, update) kills itself by SIGKILL;
`crash`: this process (rank, update, call) ends right before that durable call (from 1) after the update.
`dump_at`: the gathered state is written when this update is complete. `fill_at`: this process (rank, update)
fills the disk named by `disk` but for a megabyte. `second`: the second process begins to write its part of a
checkpoint when the first one has written its own. Writes what each process was given and has drawn; without
`disk`, also the gathered state that it goes on from, and that at its end.
"""

from __future__ import annotations

import json
import os
import signal
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
import torch.distributed as dist
from torch.distributed.fsdp import fully_shard
from torch.distributed.tensor import DTensor

import lastro
from lastro.checkpoint import bulk

wish: dict[str, Any] = json.loads(os.environ["SHARDS"])
torch.manual_seed(1)
torch.set_num_threads(1)
dist.init_process_group("gloo")
rank = dist.get_rank()


class Net(torch.nn.Module):
    """Sizes that cannot be divided evenly, weights that are tied, a buffer that is the same in all."""

    def __init__(self, hidden: int) -> None:
        super().__init__()
        self.words = torch.nn.Embedding(7, hidden)
        self.inner = torch.nn.Linear(hidden, hidden)
        self.norm = torch.nn.LayerNorm(hidden)
        self.last = torch.nn.Linear(hidden, 7, bias=False)
        self.last.weight = self.words.weight
        self.register_buffer("scale", torch.tensor(0.5))

    def forward(self, words: torch.Tensor) -> Any:
        hidden = torch.nn.functional.dropout(self.inner(self.words(words)), 0.1)
        return self.last(self.norm(hidden) * self.scale)


def gathered(tree: Any) -> Any:
    """Return a state with whole tensors."""
    if isinstance(tree, DTensor):
        return tree.full_tensor()
    if isinstance(tree, dict):
        return {key: gathered(item) for key, item in tree.items()}
    return [gathered(item) for item in tree] if isinstance(tree, list) else tree


def dump(name: str) -> None:
    if "disk" in wish:
        return
    state = {name: gathered(item.state_dict()) for name, item in tracked.items()}
    if rank == 0:
        torch.save(state, attempt.folder / name)


def end_before(call: int) -> None:
    """End this process right before its `call`-th durable call from now on."""
    seen = 0

    def counting(real: Any) -> Any:
        def counted(*args: Any, **kwargs: Any) -> Any:
            nonlocal seen
            seen += 1
            if seen == call:
                (attempt.folder / "crashed").touch()
                os._exit(137)
            return real(*args, **kwargs)

        return counted

    for name in ("fsync", "link", "rename", "replace", "unlink", "rmdir"):
        setattr(os, name, counting(getattr(os, name)))


real_write = bulk.write


def write_second(path: Path, memory: memoryview, heed: Callable[[memoryview], object]) -> None:
    """Write when there is as much of the first one's part as of this one's."""
    while sum(part.stat().st_size for part in path.parent.glob("tensors.0.*")) < len(memory):
        time.sleep(0.001)
    real_write(path, memory, heed)


if wish.get("second") and rank == 1:
    bulk.write = write_second
model = Net(wish.get("hidden", 5))
model.inner.requires_grad_(not wish.get("frozen"))
if not wish.get("whole"):
    fully_shard(model.inner)
    fully_shard(model)
optimizer = torch.optim.AdamW((one for one in model.parameters() if one.requires_grad), lr=1e-2)
scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 4)
torch.manual_seed(100 + rank)  # dropout differs from process to process

rows = [(torch.tensor(row % 7), row) for row in range(64)]
attempt = lastro.attach()
tracked: dict[str, Any] = {"model": model, "optimizer": optimizer, "scheduler": scheduler}
attempt.track(**tracked)
loader = attempt.loader(rows, batch_size=wish["batch"], shuffle=True)
given = (attempt.folder / f"given.{rank}.jsonl").open("a")
began = False
for step, (words, numbers) in attempt.steps(loader, epochs=2):
    if not began:
        dump("begin.pt")
        began = True
    given.write(json.dumps([step.number, numbers.tolist(), float(torch.rand(()))]) + "\n")
    given.flush()
    loss = torch.nn.functional.cross_entropy(model(words), (words + 1) % 7)
    optimizer.zero_grad()
    torch.autograd.backward(loss)
    optimizer.step()
    scheduler.step()
    if step.number == wish.get("dump_at"):
        dump("at.pt")
    if [rank, step.number] == wish.get("fill_at"):
        from tests.disk.small import fill

        fill(Path(wish["disk"]), leave=1_000_000)
    if [rank, step.number] == wish.get("die_at"):
        os.kill(os.getpid(), signal.SIGKILL)
    if [rank, step.number] == wish.get("crash", [])[:2]:
        end_before(wish["crash"][2])
dump("end.pt")
dist.barrier()
dist.destroy_process_group()

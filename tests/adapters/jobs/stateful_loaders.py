"""A loop over a loader that keeps its own place, with an average of the weights. LOADER is a JSON object.

`kind`: of the loader: "rows" and "stream" are torchdata's, "shards" is Streaming's. `workers`: of it.
`bytes`: batches are lists of bytes. `shards`: where Streaming's rows lie.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from typing import Any

import torch
from safetensors.torch import save_file
from torch.optim import swa_utils as averages
from torch.utils.data import Dataset, IterableDataset

import lastro

wish: dict[str, Any] = json.loads(os.environ["LOADER"])
ROWS, BATCH = 44, 4


class Rows(Dataset[int]):
    def __len__(self) -> int:
        return ROWS

    def __getitem__(self, row: int) -> int:
        return row


class Stream(IterableDataset[int]):
    """Each worker has its own rows, and says how many of them it has given."""

    def __init__(self) -> None:
        self.given = 0

    def __iter__(self) -> Iterator[int]:
        worker = torch.utils.data.get_worker_info()
        mine = range(0 if worker is None else worker.id, ROWS, 1 if worker is None else worker.num_workers)
        for row in mine[self.given :]:
            self.given += 1
            yield row
        self.given = 0

    def state_dict(self) -> dict[str, int]:
        return {"given": self.given}

    def load_state_dict(self, state: dict[str, int]) -> None:
        self.given = state["given"]


def a_loader() -> Any:
    workers = wish.get("workers", 0)
    if wish["kind"] == "shards":
        from tests.adapters.streaming_alone import StreamingDataLoader, StreamingDataset, clean_up

        clean_up()  # a process that was killed leaves its own behind
        shards = StreamingDataset(local=wish["shards"], shuffle=True, batch_size=BATCH, shuffle_seed=3)
        return StreamingDataLoader(shards, batch_size=BATCH, num_workers=workers, collate_fn=collate)
    from torchdata.stateful_dataloader import StatefulDataLoader

    dataset: Any = Rows() if wish["kind"] == "rows" else Stream()
    shuffle = True if wish["kind"] == "rows" else None
    return StatefulDataLoader(
        dataset, batch_size=BATCH, shuffle=shuffle, num_workers=workers, collate_fn=collate
    )


def collate(rows: list[Any]) -> Any:
    numbers = [row["row"] if isinstance(row, dict) else row for row in rows]
    return [b"row %d" % number for number in numbers] if wish.get("bytes") else torch.tensor(numbers)


torch.manual_seed(3)
attempt = lastro.attach()
model = torch.nn.Sequential(torch.nn.Linear(1, 8), torch.nn.Dropout(0.3), torch.nn.Linear(8, 1))
swa_utils: Any = averages
average = swa_utils.AveragedModel(model, multi_avg_fn=swa_utils.get_ema_multi_avg_fn(0.9))
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
attempt.track(model=model, optimizer=optimizer, average=average)
given = (attempt.folder / "delivered.jsonl").open("a")
for _step, batch in attempt.steps(a_loader(), epochs=3):
    numbers = [int(row.split()[1]) for row in batch] if wish.get("bytes") else batch.tolist()
    given.write(json.dumps(numbers) + "\n")
    given.flush()
    loss = model(torch.tensor(numbers, dtype=torch.float32)[:, None] / ROWS).pow(2).mean()
    optimizer.zero_grad()
    torch.autograd.backward(loss)
    optimizer.step()
    average.update_parameters(model)
with attempt.output("weights.safetensors") as path:
    means = {f"mean/{name}": tensor for name, tensor in average.state_dict().items()}
    save_file({**model.state_dict(), **means}, path)

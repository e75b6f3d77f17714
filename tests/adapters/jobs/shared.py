"""What the jobs of the conformance suite have in common: data, a small GPT-2 with dropout, and a record.

The first token of a row is its id, so that what a model is given says which rows these are.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import random
from pathlib import Path
from typing import Any

import numpy as np
import torch
from safetensors.torch import save_file
from torch.utils.data import Dataset
from transformers import GPT2Config, GPT2LMHeadModel

from lastro.job.attempt import Attempt

RANK, RANKS = int(os.environ.get("RANK", "0")), int(os.environ.get("WORLD_SIZE", "1"))
ROWS, BATCH, EPOCHS, LENGTH, WORDS = 100, 4, 2, 12, 128


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    parser.add_argument("--augment", action="store_true")
    parser.add_argument("--workers", type=int, default=0)
    parser.add_argument("--loader", default="plain")
    parser.add_argument("--accumulate", type=int, default=1)
    parser.add_argument("--validate", action="store_true")
    parser.add_argument("--model-init", action="store_true")
    parser.add_argument("--epochs", type=int, default=EPOCHS)
    return parser.parse_args()


class Rows(Dataset[dict[str, torch.Tensor]]):
    """Rows of tokens; augmented by all three generators that people use."""

    def __init__(self, augment: bool, rows: int = ROWS) -> None:
        generator = torch.Generator().manual_seed(0)
        self._tokens = torch.randint(WORDS, (rows, LENGTH), generator=generator)
        self._tokens[:, 0] = torch.arange(rows)
        self._augment = augment

    def __len__(self) -> int:
        return len(self._tokens)

    def __getitem__(self, index: int) -> dict[str, torch.Tensor]:
        row = self._tokens[index].clone()
        if self._augment:
            row[random.randrange(1, LENGTH)] = random.randrange(WORDS)
            row[np.random.randint(1, LENGTH)] = int(np.random.randint(WORDS))
            row[int(torch.randint(1, LENGTH, ()))] = int(torch.randint(WORDS, ()))
        return {"input_ids": row, "labels": row}


class Recording(GPT2LMHeadModel):
    """Writes down each batch that it learns from."""

    record: Path

    def forward(self, input_ids: Any = None, labels: Any = None, **others: Any) -> Any:
        if self.training:
            with self.record.open("a") as file:
                told = [input_ids[:, 0].tolist(), hashlib.sha256(input_ids.numpy().tobytes()).hexdigest()]
                file.write(json.dumps(told) + "\n")
        return super().forward(input_ids=input_ids, labels=labels, **others)


def small_model(folder: Path) -> Recording:
    config = GPT2Config(
        vocab_size=WORDS,
        n_positions=LENGTH,
        n_embd=16,
        n_layer=2,
        n_head=2,
        bos_token_id=None,
        eos_token_id=None,
    )
    model = Recording(config)
    model.record = folder / (f"delivered.{RANK}.jsonl" if RANK else "delivered.jsonl")
    if RANKS > 1:
        torch.manual_seed(7 + RANK)  # dropout differs from process to process
    return model


def publish(attempt: Attempt, model: Any) -> None:
    """Publish the final weights, by the first process; tied ones once."""
    if RANK:
        return
    weights = {name: value.detach().clone() for name, value in model.state_dict().items()}
    with attempt.output("model.safetensors") as path:
        save_file(weights, path)

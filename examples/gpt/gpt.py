"""A small GPT over bytes, and the text that it learns from."""

from __future__ import annotations

import csv
from collections.abc import Iterable
from pathlib import Path

import torch
from torch import nn
from torch.nn import functional
from torch.utils.data import Dataset

TEXT = Path(__file__).with_name("data") / "text.txt"
CONTEXT, WIDTH, HEADS = 64, 64, 4
#: The last bytes of the text are held out; the byte after each of so many contexts is guessed.
HELD_OUT, GUESSES = 10_000, 1000


class Windows(Dataset[tuple[torch.Tensor, torch.Tensor]]):
    """Rows of CONTEXT bytes, each with the bytes that follow."""

    def __init__(self) -> None:
        self.text = torch.tensor(list(TEXT.read_bytes()[:-HELD_OUT]))

    def __len__(self) -> int:
        return (len(self.text) - 1) // CONTEXT

    def __getitem__(self, row: int) -> tuple[torch.Tensor, torch.Tensor]:
        window = self.text[row * CONTEXT : (row + 1) * CONTEXT + 1]
        return window[:-1], window[1:]


class Block(nn.Module):
    """Attention to what came before, and a layer for each position."""

    def __init__(self) -> None:
        super().__init__()
        self.before, self.after = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)
        self.mix, self.out = nn.Linear(WIDTH, 3 * WIDTH), nn.Linear(WIDTH, WIDTH)
        self.think = nn.Sequential(
            nn.Linear(WIDTH, 4 * WIDTH), nn.GELU(), nn.Linear(4 * WIDTH, WIDTH), nn.Dropout(0.1)
        )

    def forward(self, seen: torch.Tensor) -> torch.Tensor:
        batch, length, width = seen.shape
        parts = self.mix(self.before(seen)).view(batch, length, 3, HEADS, width // HEADS)
        query, key, value = parts.permute(2, 0, 3, 1, 4)
        heard = functional.scaled_dot_product_attention(query, key, value, is_causal=True)
        seen = seen + self.out(heard.transpose(1, 2).reshape(seen.shape))
        return seen + self.think(self.after(seen))


class GPT(nn.Module):
    """Bytes in, a guess at the next one out. What bytes are read by is what they are written by."""

    def __init__(self, layers: int) -> None:
        super().__init__()
        self.bytes, self.places = nn.Embedding(256, WIDTH), nn.Embedding(CONTEXT, WIDTH)
        self.blocks = nn.ModuleList(Block() for _ in range(layers))
        self.last = nn.LayerNorm(WIDTH)
        self.head = nn.Linear(WIDTH, 256, bias=False)
        self.head.weight = self.bytes.weight
        for table in (self.bytes, self.places):
            nn.init.normal_(table.weight, std=0.02)

    def forward(self, seen: torch.Tensor) -> torch.Tensor:
        hidden = self.bytes(seen) + self.places.weight[: seen.shape[1]]
        for block in self.blocks:
            hidden = block(hidden)
        guesses: torch.Tensor = self.head(self.last(hidden))
        return guesses


def held_out() -> torch.Tensor:
    """Return the contexts to guess after: GUESSES rows of CONTEXT bytes."""
    text = torch.tensor(list(TEXT.read_bytes()[-HELD_OUT:]))
    step = (HELD_OUT - CONTEXT - 1) // GUESSES
    return torch.stack([text[row * step : row * step + CONTEXT] for row in range(GUESSES)])


def guess(model: GPT) -> list[int]:
    """Return the most likely next byte after each held out context."""
    model.eval()
    with torch.no_grad():
        guesses: list[int] = model(held_out())[:, -1].argmax(dim=1).tolist()
    return guesses


def write_guesses(path: Path, guesses: Iterable[int]) -> None:
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["id", "prediction"])
        writer.writerows(enumerate(guesses))

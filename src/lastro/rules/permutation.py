"""The one order of a corpus: a function of (seed, epoch, rows) alone, whoever delivers it and how."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from torch import Tensor


def seed_of(*parts: int | str) -> int:
    """Return 63 bits that are a function of the parts."""
    text = "/".join(map(str, parts))
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big") >> 1


def order(seed: int, epoch: int, rows: int) -> Tensor:
    """Return the rows of one epoch in the order in which they are delivered."""
    import torch

    generator = torch.Generator().manual_seed(seed_of(seed, epoch))
    return torch.randperm(rows, generator=generator)


def block_order(seed: int, epoch: int, rows: int, *, block: int, mixed: int) -> Tensor:
    """Return an order for disks on which one large read costs little more than one small one.

    Rows that lie side by side make a block. Blocks are drawn in a random order, and of each `mixed` of them
    the rows are delivered in a random order among each other: so a reader touches that many blocks at a time.

    Args:
        seed: of the run.
        epoch: from 0.
        rows: how many there are.
        block: rows of one block; the last one may have fewer.
        mixed: blocks whose rows are shuffled together.
    """
    import torch

    generator = torch.Generator().manual_seed(seed_of(seed, epoch, "blocks"))
    blocks = torch.randperm(-(-rows // block), generator=generator)
    parts = []
    for begin in range(0, len(blocks), mixed):
        starts = blocks[begin : begin + mixed] * block
        together = (starts[:, None] + torch.arange(block)).flatten()
        together = together[together < rows]
        parts.append(together[torch.randperm(len(together), generator=generator)])
    return torch.cat(parts) if parts else torch.arange(0)

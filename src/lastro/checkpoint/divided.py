"""Tensors that are divided among the processes of a job: which of them has written which part.

A part is a rectangle of the whole tensor. It is a tensor of its own in the file of the process that held it,
and that file is named by the process's rank.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from math import prod
from typing import Any

from lastro.records import dataclass

_FILE = re.compile(r"tensors\.(0|[1-9][0-9]*)\.safetensors")


@dataclass(frozen=True, kw_only=True)
class Part:
    """One rectangle. `rank`: of the process that wrote it. `at`: where it begins; as many as dimensions."""

    rank: int
    at: tuple[int, ...]
    shape: tuple[int, ...]


@dataclass(frozen=True, kw_only=True)
class Divided:
    """A whole tensor. `dtype`: its name in the safetensors format. `parts`: cover it; none is empty."""

    dtype: str
    shape: tuple[int, ...]
    parts: tuple[Part, ...]

    def as_json(self) -> dict[str, Any]:
        """Return what `state.json` holds of it."""
        return {
            "dtype": self.dtype,
            "shape": list(self.shape),
            "parts": [[part.rank, list(part.at), list(part.shape)] for part in self.parts],
        }

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> Divided:
        """Read what `as_json` wrote.

        Raises:
            KeyError, TypeError, ValueError: it is something else, or the parts are fewer than the whole.
        """
        shape = tuple(map(int, value["shape"]))
        parts = tuple(
            Part(rank=int(rank), at=tuple(map(int, at)), shape=tuple(map(int, size)))
            for rank, at, size in value["parts"]
        )
        if sum(prod(part.shape) for part in parts) != prod(shape):
            raise ValueError(f"the parts do not cover {list(shape)}")
        return cls(dtype=str(value["dtype"]), shape=shape, parts=parts)


def part_name(whole: str, at: tuple[int, ...]) -> str:
    """Return the name of a part in the file that holds it: `model/weight@4,0`."""
    return f"{whole}@{','.join(map(str, at))}"


def file_of(rank: int) -> str:
    """Return the name of the file that holds what a process has written."""
    return f"tensors.{rank}.safetensors"


def rank_of(file: str) -> int | None:
    """Return whose file this is; None for a file that no single process owns."""
    match = _FILE.fullmatch(file)
    return int(match[1]) if match else None

"""One violation for each thing that the import contracts promise. test_architecture.py plants them."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Planted:
    """A line that does not belong into a module, and the contract that has to say so."""

    contract: str
    module: str
    line: str

    def __str__(self) -> str:
        return f"{self.module}: {self.line}"

    def plant(self, source: Path) -> None:
        """Append the line to the module under this copy of src/; a module that is not there yet is made."""
        file = _file_of(source, self.module)
        for folder in file.relative_to(source).parents[:-1]:
            (source / folder).mkdir(exist_ok=True, parents=True)
            (source / folder / "__init__.py").touch()
        with file.open("a") as code:
            code.write(f"\n{self.line}\n")


def _file_of(source: Path, module: str) -> Path:
    place = source.joinpath(*module.split("."))
    return place / "__init__.py" if place.is_dir() else place.with_suffix(".py")


_LATE = "def late() -> None:\n    import {}"

VIOLATIONS = [
    # Up, sideways, and up by an import that hides in a function.
    Planted("layers", "lastro.rules", "import lastro.spec"),
    Planted("layers", "lastro.run.supervisor", "import lastro.closeout"),
    Planted("layers", "lastro.locale", _LATE.format("lastro.errors")),
    Planted("layers", "lastro.job.attempt", _LATE.format("lastro.adapters.order")),
    # A module that has no place in the layers.
    Planted("layers", "lastro.helpers", "import json"),
    # The machine side, directly, and through a module that may not have it either.
    Planted("machine", "lastro.rules", "import pydantic"),
    Planted("machine", "lastro.adapters.order", "import click"),
    Planted("machine", "lastro.job.loader", _LATE.format("click")),
    Planted("machine", "lastro.journal.streams", "from sqlite3 import connect"),
    Planted("machine", "lastro.stack", "import ruamel.yaml"),
    Planted("machine", "lastro.locale", "import rich"),
    Planted("machine", "lastro.storage", "import jinja2"),
    Planted("torch", "lastro.run.supervisor", "import torch"),
    Planted("torch", "lastro.checkpoint.store", _LATE.format("safetensors")),
    Planted("torch", "lastro.plan.build", "import numpy as np"),
    Planted("torch", "lastro.adapters.transformers", "import safetensors"),
    Planted("plan", "lastro.plan.build", "import time"),
    Planted("plan", "lastro.plan.build", "from os import environ"),
    Planted("plan", "lastro.plan.build", _LATE.format("random")),
]

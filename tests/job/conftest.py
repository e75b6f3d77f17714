from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from lastro.paths import AttemptFolder
from tests.job.hand import ROOT, environment

_NURSERY = Path(__file__).with_name("nursery.py")


@dataclass(frozen=True)
class Ended:
    """How a training process ended. `signal` excludes `code`."""

    code: int | None
    signal: int | None
    log: str


class Nursery:
    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process

    def run(
        self,
        folder: AttemptFolder,
        script: Path,
        *args: str,
        signal: int | None = None,
        step: int | None = None,
        environ: dict[str, str] | None = None,
        ranks: int | None = None,
    ) -> Ended:
        ask = {
            "script": str(script),
            "args": args,
            "environment": environ or environment(folder),
            "log": str(folder.log),
            "signal": signal,
            "step": step,
            "ranks": ranks,
        }
        assert self._process.stdin is not None and self._process.stdout is not None
        self._process.stdin.write(json.dumps(ask) + "\n")
        self._process.stdin.flush()
        answer = json.loads(self._process.stdout.readline())
        return Ended(answer["code"], answer["signal"], folder.log.read_text())


@contextmanager
def start_nursery(*modules: str) -> Iterator[Nursery]:
    """Start a process that has torch and these modules imported; end it when the block ends."""
    process = subprocess.Popen(
        [sys.executable, str(_NURSERY), *modules],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env={
            "OMP_NUM_THREADS": "1",
            "PATH": "/usr/bin:/bin",
            "PYTHONPATH": f"{ROOT / 'src'}{os.pathsep}{ROOT}",
            "HF_HUB_OFFLINE": "1",
        },
    )
    try:
        yield Nursery(process)
    finally:
        assert process.stdin is not None
        process.stdin.close()
        process.wait(timeout=60)


def start_divided_nursery() -> AbstractContextManager[Nursery]:
    """Start one whose processes know `fully_shard` already."""
    return start_nursery("torch.distributed.fsdp", "torch.distributed.checkpoint", "torch._dynamo")


@pytest.fixture(scope="session")
def divided_nursery() -> Iterator[Nursery]:
    with start_divided_nursery() as process:
        yield process


@pytest.fixture(scope="session")
def nursery() -> Iterator[Nursery]:
    """A process that starts training processes without each of them importing torch anew."""
    with start_nursery() as process:
        yield process

"""A subject that is well in every way, to be spoiled one thing at a time."""

from __future__ import annotations

import sys
from pathlib import Path

from lastro.preflight.check import Subject
from lastro.stack import Stack
from lastro.stack.versions import Versions

GB = 10**9


def stack() -> Stack:
    return Stack(
        os="Debian", kernel="6", python="3.11.7", implementation="CPython", packages={}, cpu_model=None,
        cpu_count=2, memory_bytes=8 * GB, memory_limited=False, shared_memory_bytes=4 * GB, gpus=None,
        gpu_driver=None, gpu_reason="no NVIDIA library", node="0" * 12, node_source="machine-id",
    )  # fmt: skip


def subject(folder: Path, **want: str) -> Subject:
    return Subject(
        stack=stack(),
        versions=Versions(path="/usr/bin/python", python="3.11.7", packages={"torch": "2.13.0+cpu"}),
        command=(sys.executable, "train.py"),
        workdir=folder,
        disk=folder / "disk",
        want=want,
    )

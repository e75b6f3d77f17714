"""Builds the stand-in for the NVIDIA library and says how a process comes to load it."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

_SOURCE = Path(__file__).with_suffix(".c")


def environment(tmp_path: Path, **facts: int) -> dict[str, str]:
    """Return the variables that put the stand-in in the library's place, with these facts told."""
    if shutil.which("gcc") is None:
        pytest.skip("no gcc here to build the stand-in for the NVIDIA library")
    folder = tmp_path / "nvidia"
    folder.mkdir()
    library = folder / "libnvidia-ml.so.1"
    subprocess.run(["gcc", "-O1", "-shared", "-fPIC", "-o", str(library), str(_SOURCE)], check=True)
    told = folder / "facts"
    told.write_text("".join(f"{name} {value}\n" for name, value in facts.items()))
    path = os.environ.get("LD_LIBRARY_PATH")
    return {
        "LD_LIBRARY_PATH": f"{folder}:{path}" if path else str(folder),
        "FAKE_NVML": str(told),
    }

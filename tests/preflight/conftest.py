from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

SOURCE = Path(__file__).parent / "nvml" / "stand_in.c"


@pytest.fixture(scope="session")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a libnvidia-ml.so.1 that answers what a text file says."""
    folder = tmp_path_factory.mktemp("nvml")
    built = folder / "libnvidia-ml.so.1"
    command = ["gcc", "-std=gnu11", "-O1", "-fvisibility=hidden", "-shared", "-fPIC", str(SOURCE), "-o"]
    subprocess.run([*command, str(built)], check=True)
    return folder

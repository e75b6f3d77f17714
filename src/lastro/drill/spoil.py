"""Starts a job with a changed copy of the save that it is given: one that ends the same shows nothing.

`python spoil.py COUNT COMMAND...`: paths in the words after the first COUNT of the command are replaced.
"""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path


def spoiled(path: Path) -> Path:
    """Return a copy of a file or folder in which every file has other bytes in its middle."""
    aside = path.with_name(f"spoiled-{path.name}")
    if path.is_dir():
        shutil.copytree(path, aside, dirs_exist_ok=True)
    else:
        shutil.copyfile(path, aside)
    for file in [aside, *aside.rglob("*")] if aside.is_dir() else [aside]:
        if file.is_file() and (size := file.stat().st_size):
            _change(file, size)
    return aside


def _change(file: Path, size: int) -> None:
    """Turn the digits in a text into others, and every 16th byte of anything else."""
    data = bytearray(file.read_bytes())
    text = all(byte < 0x80 for byte in data)
    for at in range(size):
        if text and 0x30 <= data[at] <= 0x38:
            data[at] += 1
        elif not text and size // 4 <= at < size * 3 // 4 and at % 16 == 0:
            data[at] ^= 0x55
    file.write_bytes(data)


def main(arguments: list[str]) -> None:
    """Replace the paths and become the command."""
    count, command = int(arguments[0]), arguments[1:]
    words = [*command[:count], *map(_replaced, command[count:])]
    os.execvp(words[0], words)  # noqa: S606 - it becomes the job, without a shell


def _replaced(word: str) -> str:
    name, equals, path = word.rpartition("=")
    return f"{name}{equals}{spoiled(Path(path))}" if path and Path(path).exists() else word


if __name__ == "__main__":
    main(sys.argv[1:])

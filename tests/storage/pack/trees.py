"""Folders that are awkward to pack."""

from __future__ import annotations

import os
import random
from pathlib import Path

AWKWARD = (
    b"line\nbreak.txt",
    b"latin-\xe9.bin",
    "acentua\u00e7\u00e3o.txt".encode(),
    b"deep/" + b"d" * 120 + b"/" + b"f" * 120 + b".jpg",
    b"long/" + b"\xff" * 180,
    b".hidden",
    b"-dash",
    b"back\\slash",
)


def plant(folder: Path, count: int = 40, seed: int = 1) -> Path:
    """Make files of 0 to 3000 bytes, in pairs of one key, and return the folder."""
    chance = random.Random(seed)
    for number in range(count):
        path = folder / f"{number % 3}" / f"{number:04d}.jpg"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(chance.randbytes(chance.randrange(3000)))
        path.with_suffix(".cls").write_bytes(b"%d" % (number % 10))
    return folder


def plant_awkward(folder: Path) -> Path:
    """Make files whose names are no plain text, a link inside, an empty folder, a program."""
    root = os.fsencode(folder)
    for number, name in enumerate(AWKWARD):
        path = os.path.join(root, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as file:
            file.write(b"%d" % number * number)
    (folder / "empty").mkdir()
    (folder / "here").symlink_to("deep")
    (folder / "run.sh").write_bytes(b"#!/bin/sh\n")
    (folder / "run.sh").chmod(0o755)
    return folder


def content(folder: Path) -> dict[bytes, bytes | None]:
    """Return every file, link and empty folder below with what it holds."""
    found: dict[bytes, bytes | None] = {}
    root = os.fsencode(folder)
    for place, folders, files in os.walk(root):
        for name in [*files, *folders]:
            path = os.path.join(place, name)
            if os.path.islink(path):
                found[os.path.relpath(path, root)] = b"-> " + os.readlink(path)
            elif os.path.isfile(path):
                found[os.path.relpath(path, root)] = Path(os.fsdecode(path)).read_bytes()
            elif not os.listdir(path):
                found[os.path.relpath(path, root)] = None
    return found

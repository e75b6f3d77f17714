"""A machine's root with valuables planted in it. No table is shared with the guard."""

from __future__ import annotations

import base64
import csv
import hashlib
import io
import json
import os
import pickle
import random
import sqlite3
import struct
import subprocess
import tarfile
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path

_RANDOM = random.Random(7)
LONG_AGO = (946684800, 946684800)


def _bytes(count: int) -> bytes:
    return _RANDOM.randbytes(count)


# --- what programs write --------------------------------------------------------------------------------


def safetensors() -> bytes:
    header = json.dumps({"w": {"dtype": "F32", "shape": [256], "data_offsets": [0, 1024]}}).encode()
    return struct.pack("<Q", len(header)) + header + _bytes(1024)


def torch_zip() -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        archive.writestr("model_7/data.pkl", pickle.dumps({"step": 7}))
        archive.writestr("model_7/data/0", _bytes(2048))
    return out.getvalue()


def torch_before_zip() -> bytes:
    return pickle.dumps(0x1950A86A20F9469CFC6C, protocol=2) + pickle.dumps(1001, protocol=2) + _bytes(900)


def gguf() -> bytes:
    return b"GGUF" + struct.pack("<IQQ", 3, 0, 0) + _bytes(4000)


def parquet() -> bytes:
    return b"PAR1" + _bytes(3000) + struct.pack("<I", 40) + b"PAR1"


def arrow() -> bytes:
    return b"ARROW1\0\0" + _bytes(3000) + b"ARROW1"


def hdf5() -> bytes:
    return b"\x89HDF\r\n\x1a\n" + _bytes(2000)


def png() -> bytes:
    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    told = chunk(b"tEXt", b"parameters\0a lighthouse, steps: 30")
    size = chunk(b"IHDR", struct.pack(">IIBBBBB", 1, 1, 8, 0, 0, 0, 0))
    return b"\x89PNG\r\n\x1a\n" + size + told + chunk(b"IDAT", zlib.compress(b"\0\0")) + chunk(b"IEND", b"")


def jpeg() -> bytes:
    return b"\xff\xd8\xff\xe0\x00\x10JFIF\0" + _bytes(3000) + b"\xff\xd9"


def events() -> bytes:
    body = b"\x09" + struct.pack("<d", 1.7e9) + b"\x1a\x0dbrain.Event:2"
    return struct.pack("<Q", len(body)) + _bytes(4) + body + _bytes(4)


def notebook() -> bytes:
    cell = {"cell_type": "code", "source": ["print(1)\n" * 900], "outputs": [], "metadata": {}}
    return json.dumps({"cells": [cell], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}).encode()


def trainer_state() -> bytes:
    return json.dumps({"best_metric": None, "epoch": 1.0, "global_step": 500, "log_history": []}).encode()


def npz() -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        archive.writestr("scores.npy", b"\x93NUMPY\x01\x00" + _bytes(500))
    return out.getvalue()


def sqlite() -> bytes:
    with sqlite3.connect(":memory:") as connection:
        connection.execute("create table runs (id, loss)")
        connection.execute("insert into runs values (1, 0.3)")
        out = connection.serialize() if hasattr(connection, "serialize") else b""
    connection.close()
    return out or b"SQLite format 3\0" + _bytes(4080)


def tar_gz() -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w:gz") as archive:
        member = tarfile.TarInfo("outputs/a.txt")
        member.size = 5
        archive.addfile(member, io.BytesIO(b"hello"))
    return out.getvalue()


def table_text() -> bytes:
    return b"run,loss\n" + b"".join(b"%d,%f\n" % (n, n / 7) for n in range(200))


def wav() -> bytes:
    return b"RIFF" + struct.pack("<I", 2036) + b"WAVEfmt " + _bytes(2024)


def raw_floats() -> bytes:
    return _bytes(300_000)


WRITERS: dict[str, Callable[[], bytes]] = {
    "adapter_model.safetensors": safetensors, "last.pt": torch_zip, "old.pth": torch_before_zip,
    "model-q4.gguf": gguf, "predictions.parquet": parquet, "rows.arrow": arrow, "weights.h5": hdf5,
    "sample_0001.png": png, "sample.jpg": jpeg, "events.out.tfevents.1.box": events,
    "analysis.ipynb": notebook, "trainer_state.json": trainer_state, "scores.npz": npz,
    "mlflow.db": sqlite, "outputs.tar.gz": tar_gz, "results.csv": table_text, "voice.wav": wav,
    "latents.bin": raw_floats, "preds.pkl": lambda: pickle.dumps(list(range(500))),
    "notes.md": lambda: b"# what was learned\n", "curve.jsonl": lambda: b'{"step": 1, "loss": 2.0}\n' * 50,
}  # fmt: skip
#: What is told by its bytes alone, so it can lie anywhere under any name.
STRONG = (safetensors, torch_zip, torch_before_zip, gguf, parquet, arrow, hdf5, events, notebook)


def put(path: Path, data: bytes, *, old: bool = False) -> str:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    if old:
        os.utime(path, LONG_AGO)
    return str(path)


def plant(root: Path) -> set[str]:
    """Write valuables into every place where people and programs leave them; return their paths."""
    planted = set()
    homes = (
        "root",
        "home/ana/exp 3",
        "workspace/ComfyUI/output",
        "opt/run",
        "tmp/job",
        "data",
        "dev/shm/run",
    )
    for folder in homes:
        for name, write in WRITERS.items():
            planted.add(put(root / folder / name, write()))
    for number, write in enumerate(WRITERS.values()):
        planted.add(put(root / "srv/plain" / f"file{number}", write()))  # without an extension
        planted.add(put(root / "home/ana" / f".hidden{number}", write()))
        planted.add(put(root / "home/ana/.deep/.deeper" / f"x{number}.dat", write(), old=True))
    for number, write in enumerate(STRONG):
        planted.add(put(root / "usr/lib/python3/site-packages/pkg/out" / f"blob{number}", write()))
        planted.add(put(root / "root/.cache/thing" / f"{number}.tmp", write(), old=True))
        planted.add(put(root / "var/cache/x" / f"{number}", write()))
        # Named like a cached download, and not what the name says.
        planted.add(put(root / "root/.cache/huggingface/hub/models--a--b/blobs" / f"{number:064x}", write()))
    planted.add(put(root / "home/ana" / "line\nbreak.safetensors", safetensors()))
    planted.add(put(Path(os.fsdecode(os.fsencode(root) + b"/home/ana/latin-\xe9.pt")), torch_zip()))
    planted.add(put(root / "home/ana/unpushed/src/train.py", b"print('mine')\n"))  # changed, see `trees`
    return planted


def trees(root: Path) -> tuple[str, str]:
    """Make two clones: one with a commit that was not pushed and a changed file, one clean and pushed."""

    def git(folder: Path, *words: str) -> None:
        settings = ("-c", "user.name=a", "-c", "user.email=a@b", "-c", "init.defaultBranch=main")
        subprocess.run(["git", *settings, "-C", str(folder), *words], check=True, capture_output=True)

    origin = root / "srv-origin"
    origin.mkdir(parents=True)
    git(origin, "init", "--bare", "-q")
    made = []
    for name in ("unpushed", "pushed"):
        folder = root / "home/ana" / name
        folder.parent.mkdir(parents=True, exist_ok=True)
        git(root, "clone", "-q", str(origin), str(folder))
        put(folder / "src/train.py", b"print('theirs')\n")
        put(folder / f"{name}.txt", b"text\n")
        git(folder, "add", ".")
        git(folder, "commit", "-q", "-m", name)
        if name == "pushed":
            git(folder, "push", "-q", "origin", "HEAD:main")
        made.append(str(folder))
    return made[0], made[1]


# --- what nobody would miss -----------------------------------------------------------------------------


def background(root: Path, count: int) -> None:
    """Fill the root with so many small files as an image brings them."""
    for number in range(count):
        folder = root / "usr/share/doc" / f"p{number // 250}"
        if number % 250 == 0:
            folder.mkdir(parents=True, exist_ok=True)
        (folder / f"f{number}").write_bytes(b"x")


def install(site: Path, name: str, files: int) -> None:
    """Write a package as pip does, with its RECORD, its compiled files and a program."""
    rows = []
    for number in range(files):
        data = f"value = {number}\n".encode() if number % 3 else png()
        path = site / name / f"m{number}.{'py' if number % 3 else 'png'}"
        put(path, data)
        digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
        rows.append([f"{name}/{path.name}", f"sha256={digest}", str(len(data))])
        put(site / name / "__pycache__" / f"m{number}.cpython-311.pyc", b"\xa7\r\r\n" + _bytes(60))
    put(site / f"{name}-1.dist-info/METADATA", b"Name: x\n")
    rows.append([f"{name}-1.dist-info/METADATA", "", "8"])
    rows.append([f"{name}-1.dist-info/RECORD", "", ""])
    with (site / f"{name}-1.dist-info/RECORD").open("w", newline="") as file:
        csv.writer(file).writerows(rows)
    put(site / f"{name}-1.dist-info/INSTALLER", b"pip\n")


def noise(root: Path) -> None:
    """Write what a session leaves behind that can be had again or that programs write for themselves."""
    install(root / "usr/lib/python3/site-packages", "numbers", 120)
    install(root / "opt/venv/lib/python3.11/site-packages", "nets", 60)
    put(root / "opt/venv/pyvenv.cfg", b"home = /usr/bin\n")
    put(root / "opt/venv/bin/activate", b"export VIRTUAL_ENV=x\n")
    for size in (900, 5000, 40_000):
        data = safetensors() + _bytes(size)
        blob = root / "root/.cache/huggingface/hub/models--x--y/blobs" / hashlib.sha256(data).hexdigest()
        put(blob, data)
        small = json.dumps({"hidden": size}).encode()
        name = hashlib.sha1(b"blob %d\0" % len(small) + small).hexdigest()
        put(blob.with_name(name), small)
    weights = torch_zip()
    name = f"resnet18-{hashlib.sha256(weights).hexdigest()[:8]}.pth"
    put(root / "root/.cache/torch/hub/checkpoints" / name, weights)
    put(root / "root/.cache/pip/http-v2/a/b/c/d/e" / ("abcde" + "0" * 51), _bytes(3000))
    put(root / "root/.triton/cache/AB/kernel.cubin", b"\x7fELF" + _bytes(800))
    put(root / "tmp/torchinductor_root/ab/cab.py", b"import torch\n")
    put(root / "var/log/syslog", b"Nov 30 something\n" * 400)
    put(root / "var/lib/dpkg/status", b"Package: x\n")
    put(root / "usr/lib/libnew.so.1", b"\x7fELF" + _bytes(5000))
    put(root / "usr/share/icons/new.png", png())
    put(
        root / "var/lib/dpkg/info/new.md5sums",
        b"%s  usr/share/icons/new.png\n" % hashlib.md5(png()).hexdigest().encode(),
    )
    put(root / "root/.bash_history", b"ls\n")
    put(root / "etc/resolv.conf", b"nameserver 1.1.1.1\n")
    put(root / "work/build/CACHEDIR.TAG", b"Signature: 8a477f597d28d172789f06886806bc55\n")
    put(root / "work/build/objects.dat", _bytes(70_000))
    put(root / "home/ana/empty.txt", b"")

"""Compiled kernels travel as one archive, for one card and driver only."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from lastro.disk.caches.carried import carry_in, carry_out, kernel_key
from lastro.paths import Disk
from lastro.stack import Gpu, capture


def kernels(folder: Path, number: int = 3) -> Path:
    for each in range(number):
        path = folder / f"triton/{each}/kernel.cubin"
        path.parent.mkdir(parents=True)
        path.write_bytes(bytes([each]) * 100)
    return folder


def test_what_one_machine_compiled_the_next_one_has(tmp_path: Path) -> None:
    disk = Disk(tmp_path / "disk")
    first = kernels(tmp_path / "one/k")

    kept = carry_out(disk, "card", first)
    brought = carry_in(disk, "card", tmp_path / "two/k")
    other = carry_in(disk, "another card", tmp_path / "three/k")

    assert (kept.files, brought.files, brought.bytes) == (3, 3, 300)
    assert (tmp_path / "two/k/triton/2/kernel.cubin").read_bytes() == b"\2" * 100
    assert (other.files, (tmp_path / "three/k").exists()) == (0, False)
    assert len(list((disk.caches / "compiled").iterdir())) == 2


def test_the_same_kernels_are_the_same_bytes_and_are_not_written_again(tmp_path: Path) -> None:
    disk = Disk(tmp_path / "disk")
    carry_out(disk, "card", kernels(tmp_path / "one/k"))
    before = disk.compiled("card").stat()

    again = carry_out(disk, "card", kernels(tmp_path / "two/k"))

    assert again.why == "the disk has them already"
    assert disk.compiled("card").stat() == before


def test_a_damaged_archive_is_not_unpacked(tmp_path: Path) -> None:
    disk = Disk(tmp_path / "disk")
    carry_out(disk, "card", kernels(tmp_path / "one/k"))
    data = bytearray(disk.compiled("card").read_bytes())
    data[600] ^= 1
    disk.compiled("card").write_bytes(data)

    brought = carry_in(disk, "card", tmp_path / "two/k")

    assert "damaged" in str(brought.why)
    assert not (tmp_path / "two/k").exists()


def test_another_card_driver_or_framework_has_another_key() -> None:
    here = capture()
    card = Gpu(name="NVIDIA H100", uuid="u", memory_bytes=1)
    stacks = [
        here,
        replace(here, gpus=(card,)),
        replace(here, gpus=(card,), gpu_driver="575.1"),
        replace(here, gpus=(card,), packages={**here.packages, "torch": "9.9"}),
    ]

    assert len({kernel_key(stack) for stack in stacks}) == 4
    two = replace(here, gpus=(card, replace(card, uuid="v")))
    assert kernel_key(two) == kernel_key(stacks[1])

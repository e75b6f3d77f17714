from __future__ import annotations

import os
from pathlib import Path

import torch

from lastro.checkpoint.arena import Arena

MIB = 1 << 20


def _address(memory: memoryview) -> int:
    return torch.frombuffer(memory, dtype=torch.uint8).data_ptr()


def _is_mapped(address: int) -> bool:
    for line in Path("/proc/self/maps").read_text().splitlines():
        start, end = (int(part, 16) for part in line.split()[0].split("-"))
        if start <= address < end:
            return True
    return False


def test_the_same_memory_serves_every_save_that_fits() -> None:
    arena = Arena()
    first = _address(arena.reserve(3 * MIB))

    assert _address(arena.reserve(1000)) == first
    assert _address(arena.reserve(4 * MIB)) == first
    assert len(arena.reserve(5)) == 5
    assert arena.size == 4 * MIB
    assert first % 4096 == 0


def test_it_grows_when_the_state_does() -> None:
    arena = Arena()
    arena.reserve(MIB)

    memory = arena.reserve(9 * MIB)
    memory[-1] = 7

    assert arena.size == 10 * MIB


def test_a_forked_worker_has_no_share_in_it() -> None:
    """If it had, every page of the next save would be copied once more."""
    arena = Arena()
    memory = arena.reserve(MIB)
    memory[0] = 1
    address = _address(memory)
    assert _is_mapped(address)

    child = os.fork()
    if child == 0:
        os._exit(int(_is_mapped(address)))
    _pid, status = os.waitpid(child, 0)

    assert os.waitstatus_to_exitcode(status) == 0
    memory[0] = 2


def test_memory_is_locked_once_and_unlocked_before_it_goes() -> None:
    told = []

    def pin(memory: memoryview) -> object:
        told.append(len(memory))
        return lambda: told.append(0)

    arena = Arena()
    arena.reserve(MIB, pin)  # type: ignore[arg-type]
    arena.reserve(MIB, pin)  # type: ignore[arg-type]
    arena.reserve(3 * MIB, pin)  # type: ignore[arg-type]

    assert told == [2 * MIB, 0, 4 * MIB]


def test_a_driver_that_refuses_to_lock_memory_is_asked_once_for_each_block() -> None:
    asked: list[int] = []
    arena = Arena()

    def refuse(memory: memoryview) -> None:
        asked.append(len(memory))

    for size in (MIB, 2 * MIB, 5 * MIB, 6 * MIB):
        arena.reserve(size, refuse)

    assert asked == [2 * MIB, 6 * MIB]

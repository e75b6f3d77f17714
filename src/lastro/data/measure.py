"""Times a few reads of a pack on the disk that it lies on, past what the system holds in memory."""

from __future__ import annotations

import random
import time
from collections.abc import Callable

from lastro.data.choice import Reads
from lastro.data.reader import Reader

#: So many samples are read alone, and as many blocks together; with fewer samples nothing is measured.
ALONE, BLOCKS, LEAST = 24, 2, 256


def measure(reader: Reader, files_of: Callable[[int], range], samples: int, block: int) -> Reads | None:
    """Return what reads cost here; None when there are too few samples.

    Args:
        reader: of the pack.
        files_of: the numbers of the files of a sample.
        samples: how many there are.
        block: how many of them make a block.
    """
    if samples < LEAST or block < 2:
        return None
    chance = random.Random(0)
    block = min(block, samples // BLOCKS)
    last = files_of(samples - 1)
    reader.forget(0, last.stop)
    began = time.perf_counter()
    for _number in range(ALONE):
        for file in files_of(chance.randrange(samples)):
            reader.read(file)
    alone = (time.perf_counter() - began) / ALONE
    reader.forget(0, last.stop)
    began = time.perf_counter()
    for _number in range(BLOCKS):
        begin = chance.randrange(samples - block + 1)
        reader.touch(files_of(begin).start, files_of(begin + block - 1).stop)
    together = (time.perf_counter() - began) / (BLOCKS * block)
    return Reads(alone=alone, together=together, count=ALONE)

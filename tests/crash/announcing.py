"""Does each durable sequence of lastro below a folder, and says on standard output what it may rely on.

Run under a tracer by test_power_cut.py: `announce` marks the moment from which a power cut must not lose
what is named.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

from lastro import atomic
from lastro.checkpoint import store
from lastro.checkpoint.arena import Arena
from lastro.checkpoint.retention import apply_retention
from lastro.clock import SystemClock
from lastro.journal.events import EventType
from lastro.journal.streams import StreamWriter
from lastro.rules import CheckpointPolicy

CHECKPOINTS = 4


def announce(what: str, value: object) -> None:
    os.write(1, f"ANNOUNCED {what} {value}\n".encode())


def main(root: Path) -> None:
    stream = StreamWriter(root / "journal" / "r-1.jsonl", SystemClock(), {"campaign": "c"})
    arena = Arena()
    checkpoints = atomic.make_folder(root / "runs" / "r" / "checkpoints")
    for number in range(1, CHECKPOINTS + 1):
        step = number * 10
        facts = store.Facts(run="r", attempt=1, step=step, why="due", created="now", position={})
        with store.publish(checkpoints, facts, lambda: True) as draft:
            memory = arena.reserve(9_000)  # two whole blocks and a rest
            memory[:] = os.urandom(len(memory))
            draft.write_memory("tensors.safetensors", memory)
            fixed = arena.reserve(5_000)
            fixed[:] = bytes([number // 2]) * len(fixed)  # changes with the second and the fourth
            name, entry = draft.write_base(fixed)
            draft.base[name] = entry
            draft.write("state.json", [b'{"step": ', b"%d}" % step])
        announce("checkpoint", step)
        event = stream.append(EventType.CHECKPOINT_COMMITTED, step=step)
        announce("stream", event.seq)
        atomic.write_text(root / "order.json", f"version {number}")
        announce("file", number)
        if atomic.claim(root / f"{number}.json", b"mine"):
            announce("claim", number)
        assert not store.verify(checkpoints / facts.name, from_disk=True)
        apply_retention(checkpoints, CheckpointPolicy(keep=1), verified=[facts.name])


if __name__ == "__main__":
    main(Path(sys.argv[1]))

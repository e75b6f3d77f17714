"""A job that needs a package and a model, writes beside itself, and goes on where it stopped."""

from __future__ import annotations

import os
import sys
import time
import urllib.request
from pathlib import Path

import lastro

sys.path.insert(0, "packages")  # where `setup:` has installed them
import tinynet  # type: ignore[import-not-found]


def weights() -> bytes:
    """Return the model, downloaded once into the cache that the environment names."""
    kept = Path(os.environ["HF_HOME"]) / "tiny-model" / "weights.bin"
    if not kept.exists():
        kept.parent.mkdir(parents=True, exist_ok=True)
        with urllib.request.urlopen(os.environ["EXAMPLE_HUB"] + "/weights.bin") as answer:
            kept.write_bytes(answer.read())
    return kept.read_bytes()


class Model:
    """Counts what it has seen: a wrong resume shows in the sum."""

    def __init__(self) -> None:
        self.seen = 0

    def state_dict(self) -> dict[str, int]:
        """Return everything that is needed to go on."""
        return {"seen": self.seen}

    def load_state_dict(self, state: dict[str, int]) -> None:
        """Go on from a state."""
        self.seen = state["seen"]


steps, pace = int(sys.argv[1]), float(os.environ["EXAMPLE_PACE"])
attempt = lastro.attach()
model, size = Model(), len(weights())
attempt.track(model=model)
for step in range(attempt.restore() + 1, steps + 1):
    model.seen += step
    time.sleep(pace)
    attempt.log(loss=tinynet.SCALE / step)
    if step == 15:
        Path("sample.txt").write_text(f"a sample of step {step}, beside the script\n")
    attempt.safe_point(step)
with attempt.output("predictions.csv") as path:
    rows = "".join(f"{number},1\n" for number in range(10))
    path.write_text("id,prediction\n" + rows)
with attempt.output("seen.txt") as path:
    path.write_text(f"{model.seen} with {size} bytes of weights\n")

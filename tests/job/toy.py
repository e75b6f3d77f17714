"""A training script without torch: a counter that learns nothing, fast. Run as a program.

Environment: TOY is a JSON object with `steps`, and optionally `nan_at`, `fail_at`, `linger_at` (until the
file `until` exists).
"""

from __future__ import annotations

import json
import os
import random
import time
from pathlib import Path
from typing import Any

import lastro

wish: dict[str, Any] = json.loads(os.environ["TOY"])


class Counter:
    """Adds a random number at each step, so that a lost random state shows."""

    def __init__(self) -> None:
        self.total = 0.0

    def state_dict(self) -> dict[str, float]:
        return {"total": self.total}

    def load_state_dict(self, state: dict[str, float]) -> None:
        self.total = state["total"]


attempt = lastro.attach()
random.seed(attempt.seed)
counter = Counter()
attempt.track(counter=counter)
for step, batch in attempt.steps(list(range(wish["steps"])), epochs=1):
    counter.total += random.random() + batch
    if step.number == wish.get("fail_at"):
        raise RuntimeError("the data ran out")
    attempt.log(loss=float("nan") if step.number == wish.get("nan_at") else counter.total)
    if step.number == wish.get("linger_at"):
        while not Path(wish["until"]).exists():
            time.sleep(0.01)
with attempt.output("total.txt") as path:
    path.write_text(repr(counter.total))

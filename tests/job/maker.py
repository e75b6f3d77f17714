"""A job that makes items. Run as a program.

Environment: MAKER is a JSON object with `ids`, and optionally `batch`, `name`, `groups` (of that size),
`fail_at` or `kill_at` or `linger_at` an id (until the file `until` exists), `made` (a file that gets the id
of each body that begins).
"""

from __future__ import annotations

import json
import os
import signal
import time
from pathlib import Path
from typing import Any

import lastro

wish: dict[str, Any] = json.loads(os.environ["MAKER"])
attempt = lastro.attach()
name = wish.get("name", "items/{id}")


def make(item: Any) -> None:
    if "made" in wish:
        with Path(wish["made"]).open("a") as file:
            file.write(f"{item.id}\n")
    with item.path.open("w") as file:
        file.write(f"content of {item.id}")
        file.flush()
        if item.id == wish.get("kill_at"):
            os.kill(os.getpid(), signal.SIGKILL)
        if item.id == wish.get("fail_at"):
            raise RuntimeError("no")
        while item.id == wish.get("linger_at") and not Path(wish["until"]).exists():
            time.sleep(0.01)


if "groups" in wish:
    for group in attempt.item_batches(wish["ids"], wish["groups"], name=name):
        for one in group:
            make(one)
else:
    for one in attempt.items(wish["ids"], batch=wish.get("batch", 1), name=name):
        make(one)

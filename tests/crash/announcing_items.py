"""Publishes items one by one, a few and many at a time, and says how many may be relied on.

Run under a tracer by test_power_cut_items.py.
"""

from __future__ import annotations

import sys
from pathlib import Path

from lastro import atomic
from lastro.job.attempt import Attempt
from lastro.job.item_index import count_lines
from lastro.job.place import Place
from lastro.rules import Attempt as Told
from lastro.strictjson import read
from tests.crash.announcing import announce
from tests.job.hand import make_run


def main(root: Path) -> None:
    run = make_run(root)
    atomic.make_folder(run.folder.attempts)  # as a supervisor does
    folder = run.attempt()
    attempt = Attempt(Place(Told.from_json(read(folder.attempt)), folder, by_hand=False))
    for batch, ids in ((1, range(3)), (3, range(10, 16)), (12, range(20, 32))):
        for item in attempt.items(ids, batch=batch):
            announce("items", count_lines(run.folder.items_index)[0])
            if int(item.id) % 7 == 6:
                item.path.mkdir()
                (item.path / "part").write_text(f"part of {item.id}")
            else:
                item.path.write_text(f"content of {item.id}")
    announce("items", count_lines(run.folder.items_index)[0])


if __name__ == "__main__":
    main(Path(sys.argv[1]))

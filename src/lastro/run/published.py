"""How many items an attempt has published: what the job told at its start, and what the index grew by since.

The job tells once; from there on the lines of `items.jsonl` are counted, which are written when the items
themselves are durable. So a job that is killed has told everything.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from lastro.job.item_index import count_lines

#: Seconds between two events that tell how many there are by now.
TELL_SECONDS = 2.0


class PublishedItems:
    """Counts the items of one run while one attempt works on them.

    done: published so far, over all attempts; None while the attempt has not begun with items. total: of
    how many, None when that is not known. before: `done` when the attempt began with them. offset: bytes of
    the index that are counted.
    """

    def __init__(self, index: Path) -> None:
        self._index = index
        self.done: int | None = None
        self.total: int | None = None
        self.before: int | None = None
        self.offset = 0
        self._told_done: int | None = None
        self._told_at = 0.0

    def begin(self, facts: Mapping[str, Any]) -> None:
        """Take in what the job says when it begins, or finds that published items have gone.

        Never more than the index has lines. Raises KeyError, TypeError or ValueError for anything that is
        no such line.
        """
        lines, self.offset = count_lines(self._index, 0, int(facts["offset"]))
        self.done = min(int(facts["done"]), lines)
        self.total = None if facts["total"] is None else int(facts["total"])
        if self.before is None:
            self.before = self.done
        self._told_done = None

    def take_up(self, facts: Mapping[str, Any]) -> None:
        """Go on from what an earlier supervisor has recorded."""
        self.done, self.total, self.offset = facts["done"], facts["total"], facts["offset"]
        self._told_done = self.done
        if self.before is None:
            self.before = self.done

    def look(self) -> None:
        """Count what was published since the last look."""
        if self.done is not None:
            lines, self.offset = count_lines(self._index, self.offset)
            self.done += lines

    def is_news(self, *, last: bool) -> bool:
        """Say whether the count is to be told now; `last`: it will not be asked again."""
        if self.done == self._told_done:
            return False
        now = time.monotonic()
        if not last and self._told_done is not None and now - self._told_at < TELL_SECONDS:
            return False
        self._told_done, self._told_at = self.done, now
        return True

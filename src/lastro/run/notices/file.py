"""A file: how the local provider's machines announce their end, and how any script can."""

from __future__ import annotations

import os
import time
from pathlib import Path

from lastro import strictjson
from lastro.errors import StorageError
from lastro.records import dataclass
from lastro.run.notices.base import Announcement


@dataclass
class File:
    """`{"action", "in_seconds", "at"}`; `in_seconds` counts from when it is first seen."""

    path: str
    pause: float = 0.0
    _seen: Announcement | None = None

    def ask(self) -> Announcement | None:
        if not os.path.exists(self.path):  # noqa: PTH110 - asked at every look
            self._seen = None
            return None
        try:
            told = strictjson.read(Path(self.path))
            seconds, key = float(told["in_seconds"]), str(told.get("at"))
        except (OSError, StorageError, KeyError, TypeError, ValueError, AttributeError):
            self._seen = None
            return None
        if self._seen is None or self._seen.key != key:
            what = str(told.get("action", "terminate"))
            self._seen = Announcement(
                source="machine", key=key, what=what, gone_at=time.monotonic() + seconds
            )
        return self._seen

"""Checkpoints that came too late: published by an attempt after its replacement had begun.

A frozen machine that thaws finds itself fenced at its next publish. What slips through between that check and
the rename is told apart by what the replacement saw when it claimed its number, which `attempt.json` holds.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

from lastro import strictjson
from lastro.errors import StorageError
from lastro.locale import _
from lastro.paths import RunFolder


def late_checkpoints(run: RunFolder, names: Iterable[str]) -> Mapping[str, str]:
    """Return which of these checkpoints are used by no later attempt, and why.

    Args:
        run: the run that they lie in.
        names: `<step>-a<attempt>`.
    """
    numbers = sorted(_numbers(run.attempts))
    seen_by: dict[int, frozenset[str] | None] = {}
    late = {}
    for name in names:
        attempt = int(name.rpartition("-a")[2])
        for later in (number for number in numbers if number > attempt):
            if later not in seen_by:
                seen_by[later] = _inherited(run.attempt(later).attempt)
            seen = seen_by[later]
            if seen is None:
                continue  # it never began, or was made by a version that did not write this down
            if name not in seen:
                late[name] = _("attempt {attempt} published it after attempt {later} had begun").format(
                    attempt=attempt, later=later
                )
            break
    return late


def _numbers(attempts: Path) -> list[int]:
    try:
        return [int(path.name) for path in attempts.iterdir() if path.name.isdigit()]
    except FileNotFoundError:
        return []


def _inherited(attempt: Path) -> frozenset[str] | None:
    try:
        names = strictjson.read(attempt).get("inherited")
    except (OSError, StorageError, AttributeError):
        return None
    return None if names is None else frozenset(map(str, names))

"""When this command was typed: what it promises in seconds begins there, and not when all of it is loaded."""

from __future__ import annotations

import time

_typed_at = time.monotonic()


def mark() -> None:
    """Say that a command begins now."""
    global _typed_at  # noqa: PLW0603 - a process carries out one command at a time
    _typed_at = time.monotonic()


def typed_at() -> float:
    """Return when the command began, on the monotonic clock."""
    return _typed_at

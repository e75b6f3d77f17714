"""The step of preflight that loads the machine: is its core as fast as it was, and does it compute right?"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping

from lastro.preflight.budget import Yielded
from lastro.preflight.burn.check import check as burn
from lastro.preflight.check import Subject
from lastro.preflight.lock import Value
from lastro.preflight.speed.check import check as speed


def work(subject: Subject, seconds: float, _measured: Mapping[str, Mapping[str, Value]]) -> Iterator[Yielded]:
    """Judge the core first, while nothing else works, then burn with what is left of the time."""
    began = time.monotonic()
    yield from speed(subject)
    yield from burn(subject, max(0.0, seconds - (time.monotonic() - began)) * 0.95)

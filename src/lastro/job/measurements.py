"""`measurements.<rank>.jsonl`: one line per `log`, in the kernel before `log` returns.

A line is `{"s":step,"t":seconds since attach,"v":{name: number}}`; NaN and infinities are marked strings.
"""

from __future__ import annotations

import json
import time
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

from lastro import strictjson
from lastro.errors import wrong_type
from lastro.journal.signals import LineWriter, OnFull, refuse


class Measurements:
    """Writes what a job measures and remembers what the stop rules still have to see.

    Args:
        path: the file to append to.
        watched: names that a stop rule watches.
        on_full: asked when a line finds no room.
    """

    def __init__(self, path: Path, watched: Collection[str], on_full: OnFull = refuse) -> None:
        self._write = LineWriter(path, on_full).write
        self._watched = frozenset(watched)
        self._start = time.monotonic()
        self._names: dict[str, str] = {}
        self._held: list[tuple[int, float, Mapping[str, Any]]] = []
        self._unjudged: list[tuple[int, Mapping[str, float]]] = []

    def log(self, step: int, values: Mapping[str, Any]) -> None:
        """Append one line. A tensor on a device is kept, and written by the next `settle`.

        Raises:
            UsageError: a value is not one number.
        """
        seconds = time.monotonic() - self._start
        for value in values.values():
            kind = type(value)
            if kind is not float and kind is not int:
                self._log_others(step, seconds, values)
                return
        self._append(step, seconds, values)

    def _append(self, step: int, seconds: float, values: Mapping[str, float]) -> None:
        # Formatted by hand: a third of the time of json.dumps, and this runs in every step.
        names = self._names
        parts = []
        for name, value in values.items():
            key = names.get(name)
            if key is None:
                key = names[name] = json.dumps(name, ensure_ascii=False) + ":"
            parts.append(key + (repr(value) if value - value == 0 else f'"{strictjson.mark(value)}"'))
        self._write(f'{{"s":{step},"t":{seconds:.4f},"v":{{{",".join(parts)}}}}}\n'.encode())
        if not self._watched.isdisjoint(values):
            self._unjudged.append((step, values))

    def _log_others(self, step: int, seconds: float, values: Mapping[str, Any]) -> None:
        kept = {name: _held(value) for name, value in values.items()}
        if any(value is not None for value in kept.values()):
            mixed = {name: values[name] if value is None else value for name, value in kept.items()}
            self._held.append((step, seconds, mixed))
        else:
            self._append(step, seconds, _numbers(values))

    def settle(self) -> list[tuple[int, Mapping[str, float]]]:
        """Write what was kept back; return the watched values (with their steps) since the last call."""
        for step, seconds, values in self._held:
            self._append(step, seconds, _numbers(values))
        self._held = []
        unjudged, self._unjudged = self._unjudged, []
        return unjudged


def _held(value: Any) -> Any:
    """Return a private copy of a number on a device, still on the device; None for anything else.

    The copy is queued, not waited for; it protects against values that the loop changes in place.
    """
    device = getattr(getattr(value, "device", None), "type", "cpu")
    if device == "cpu" or not hasattr(value, "detach"):
        return None
    return value.detach().clone()


def _numbers(values: Mapping[str, Any]) -> dict[str, float]:
    return {name: _number(name, value) for name, value in values.items()}


def _number(name: str, value: Any) -> float:
    if type(value) is int:
        return value
    try:
        number = value.item() if hasattr(value, "item") else value
        if isinstance(number, (str, bytes)):
            raise TypeError
        return float(number)
    except (TypeError, ValueError, RuntimeError) as error:
        raise wrong_type(f"log({name}=...)", value, "one number") from error

"""Strict JSON for records: numbers that JSON cannot hold become the strings NaN, Infinity, -Infinity."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

from lastro.errors import StorageError
from lastro.locale import _

_MARKS = {"NaN": math.nan, "Infinity": math.inf, "-Infinity": -math.inf}


def mark(value: Any) -> Any:
    """Return `value` with every float that JSON cannot hold replaced by its marked string."""
    if isinstance(value, float) and not math.isfinite(value):
        return "NaN" if math.isnan(value) else ("Infinity" if value > 0 else "-Infinity")
    if isinstance(value, dict):
        return {key: mark(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [mark(item) for item in value]
    return value


def number(value: Any) -> float:
    """Return a measured value as a float, marked strings included. Raises ValueError for anything else."""
    if isinstance(value, str) and value in _MARKS:
        return _MARKS[value]
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise ValueError(f"not a number: {value!r}")
    return float(value)


def dumps(value: Any) -> str:
    """Return one line of strict JSON, keys in the order given."""
    return json.dumps(mark(value), ensure_ascii=False, allow_nan=False, separators=(",", ":"))


def pretty(value: Any) -> str:
    """Return strict JSON for a file that people open, with a last newline."""
    return json.dumps(mark(value), ensure_ascii=False, allow_nan=False, indent=2) + "\n"


def _refuse_constant(text: str) -> float:
    raise ValueError(f"not strict JSON: {text}")


#: Made once: `json.loads` with an argument makes a decoder for each call, and a journal is read by line.
_DECODER = json.JSONDecoder(parse_constant=_refuse_constant)


def loads(text: str | bytes) -> Any:
    """Read strict JSON, bytes as UTF-8. Raises ValueError, also for bare NaN and Infinity."""
    try:
        return _DECODER.decode(text if isinstance(text, str) else text.decode())
    except RecursionError as error:
        raise ValueError("nested too deep") from error


def read(path: Path) -> Any:
    """Read a file of strict JSON.

    Raises:
        StorageError: the file is not strict JSON.
        FileNotFoundError: it is not there.
    """
    try:
        return loads(path.read_bytes())
    except ValueError as error:
        raise StorageError(
            _("{path} is not the JSON that lastro writes: {error}").format(path=path, error=error),
            hint=_("it was changed or cut by something else; restore it from a copy"),
        ) from error

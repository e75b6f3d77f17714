"""Numbers, times and amounts as people read them; unknown has its own word and is never a zero."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from contextlib import suppress
from datetime import datetime, timedelta
from typing import Any

from lastro import strictjson
from lastro.clock import from_iso
from lastro.locale import _, forms
from lastro.units import Money, parse_money, show_duration


def unknown() -> str:
    """Return the word for what nobody knows."""
    return _("unknown")


def number(value: float | None) -> str:
    """Return a measured value with five significant digits; NaN and infinities as such."""
    if value is None:
        return unknown()
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "∞" if value > 0 else "−∞"
    return forms.decimal(f"{value:.5g}").replace("-", "−")


def difference(value: float | None) -> str:
    """Return a difference with its sign, three significant digits."""
    if value is None:
        return "–"
    if not math.isfinite(value):
        return number(value)
    # What is left of 0.98 - 0.97 below the fifteenth digit is the binary fraction's, not the metric's.
    rounded = float(f"{value:.3g}")
    return "±0" if rounded == 0 else forms.decimal(f"{rounded:+.3g}").replace("-", "−")


def count(value: int | None) -> str:
    """Return a count with thin spaces between thousands."""
    return unknown() if value is None else f"{value:,}".replace(",", "\u202f")


def seconds(value: float | None) -> str:
    """Return a duration."""
    return unknown() if value is None else show_duration(timedelta(seconds=value))


def hours(value: float | None) -> str:
    """Return a duration that is given in hours."""
    return unknown() if value is None else show_duration(timedelta(hours=value))


def signed_hours(value: float) -> str:
    """Return a difference of durations with its sign."""
    shown = show_duration(timedelta(hours=abs(value)))
    return f"+{shown}" if value > 0 else f"−{shown}" if value < 0 else "±0"


def money(value: Money | None) -> str:
    """Return an amount; one that is not known says so."""
    return unknown() if value is None else str(value)


def moment(text: str | None) -> str:
    """Return an event's time to the second, in UTC; other texts are returned as they are."""
    if text is None:
        return unknown()
    try:
        return forms.moment(from_iso(text))
    except ValueError:
        return text


def clock_time(value: datetime) -> str:
    """Return a time to the second, in UTC."""
    return forms.moment(value)


def day(text: str | None) -> str:
    """Return the day of an event, in UTC; other texts are returned as they are."""
    if text is None:
        return unknown()
    try:
        return forms.day(from_iso(text))
    except ValueError:
        return text


def config_value(value: Any) -> str:
    """Return a value of a configuration as it was written."""
    return value if isinstance(value, str) else strictjson.dumps(value)


def amount_of(value: Any) -> Money | None:
    """Read an amount from a plan: Money as JSON, or a text such as `60 USD`; None for anything else."""
    if isinstance(value, Mapping) and {"amount", "currency"} <= set(value):
        return Money.from_json({"amount": str(value["amount"]), "currency": str(value["currency"])})
    if isinstance(value, str):
        with suppress(ValueError):
            return parse_money(value)
    return None


def shortened(text: str, limit: int) -> str:
    """Return at most `limit` characters of a name."""
    return text if len(text) <= limit else text[: limit - 1] + "…"


def flattened(value: Any, prefix: str = "") -> Iterator[tuple[str, str]]:
    """Yield the leaves of nested mappings as (dotted key, text)."""
    if isinstance(value, Mapping):
        for key, item in value.items():
            yield from flattened(item, f"{prefix}.{key}" if prefix else str(key))
    elif isinstance(value, (list, tuple)):
        yield prefix, ", ".join(config_value(item) for item in value)
    elif value is not None:
        yield prefix, config_value(value)

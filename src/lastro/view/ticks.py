"""Round numbers for axes: values, steps and time. Pure."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise

from lastro.locale import _, forms

_NICE = (1.0, 2.0, 2.5, 5.0, 10.0)
#: Intervals that clocks are read in, in seconds.
_TIMES = (
    0.1, 0.2, 0.5, 1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14400, 21600, 43200,
    86400, 172800, 432000, 864000, 2592000,
)  # fmt: skip


def linear(low: float, high: float, wanted: int = 5) -> list[float]:
    """Return round values from at most `low` to at least `high`, about `wanted` of them."""
    if not high > low:
        pad = abs(low) / 10 or 1.0
        low, high = low - pad, high + pad
    rough = (high - low) / max(1, wanted - 1)
    if not math.isfinite(rough) or rough <= 0:
        return [low, high]
    power = math.floor(math.log10(rough))
    step = next(nice for nice in _NICE if nice * 10.0**power >= rough * 0.999) * 10.0**power
    first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
    return [number * step for number in range(first, last + 1)]


def steps(low: int, high: int, wanted: int = 5) -> list[int]:
    """Return round whole numbers within `low` to `high`."""
    if high <= low:
        return [low]
    found = [round(value) for value in linear(low, high, wanted) if abs(value - round(value)) < 1e-9]
    return [value for value in found if low <= value <= high] or [low, high]


def decades(low: float, high: float) -> list[float]:
    """Return powers of ten from at most `low` to at least `high` (both positive), at most seven of them."""
    first, last = math.floor(math.log10(low)), math.ceil(math.log10(high))
    every = max(1, -(-(last - first) // 6))
    last += (first - last) % every
    return [10.0**power for power in range(first, last + 1, every)]


def label(value: float, ticks: Sequence[float]) -> str:
    """Return the text of one tick, with as many decimals as tell the ticks apart."""
    largest = max(abs(tick) for tick in ticks)
    if largest >= 1e15 or 0 < largest < 1e-3:
        return forms.decimal(f"{value:.3g}").replace("-", "−")
    for size, letter in ((1e12, "T"), (1e9, "G"), (1e6, "M")):
        if largest >= size:
            return label(value / size, [tick / size for tick in ticks]) + (letter if value else "")
    gap = min((abs(b - a) for a, b in pairwise(ticks)), default=largest) or 1.0
    digits = max(0, -math.floor(math.log10(gap) + 1e-9))
    # A gap of 0.25 needs the second decimal too.
    digits += round(gap, digits) != round(gap, digits + 2)
    return forms.decimal(f"{value:.{digits}f}").replace("-", "−")


def power(value: float) -> str:
    """Return a power of ten as people write it: 0.01, 100, 10⁶."""
    exponent = round(math.log10(value))
    if -4 <= exponent <= 4:
        return forms.decimal(f"{value:g}")
    return "10" + str(exponent).translate(str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"))


def step_label(value: int) -> str:
    """Return a step, thousands as k and millions as M when nothing is lost by it."""
    if value >= 1_000_000 and value % 100_000 == 0:
        return forms.decimal(f"{value / 1_000_000:g}M")
    if value >= 10_000 and value % 100 == 0:
        return forms.decimal(f"{value / 1000:g}k")
    return str(value)


def times(span: float, wanted: int = 6) -> list[float]:
    """Return moments from zero within `span` seconds, on intervals that clocks are read in."""
    step = next((gap for gap in _TIMES if span / gap <= wanted), _TIMES[-1])
    return [number * step for number in range(int(span / step + 1e-9) + 1)]


def time_label(seconds: float, span: float) -> str:
    """Return a moment of a span in its natural unit."""
    if span <= 180:
        return _("{value} s").format(value=forms.decimal(f"{seconds:g}"))
    if span <= 3 * 3600:
        return _("{value} min").format(value=forms.decimal(f"{seconds / 60:g}"))
    if span <= 5 * 86400:
        return _("{value} h").format(value=forms.decimal(f"{seconds / 3600:g}"))
    return _("{value} d").format(value=forms.decimal(f"{seconds / 86400:g}"))

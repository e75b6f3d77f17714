"""Prices that hold for some hours of the day."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Annotated

from pydantic import BeforeValidator

from lastro.locale import _
from lastro.spec.base import Contradiction, Problem, shown
from lastro.spec.prices import PriceOrNone

_HOURS = re.compile(r"([0-9]{1,2})-([0-9]{1,2})")


def hours_of_day(text: str) -> tuple[int, ...]:
    """Return the hours that begin within `22-06` (22, 23, 0 ... 5). Raises ValueError for the user."""
    match = _HOURS.fullmatch(text)
    start, end = (int(match[1]), int(match[2])) if match else (0, 0)
    if start == end or start > 23 or end > 24:
        raise ValueError(
            _("{value} is not a part of the day such as '22-06' or '08-18'").format(value=shown(text))
        )
    return tuple(hour % 24 for hour in range(start, end if end > start else end + 24))


def _check(value: object) -> object:
    if not isinstance(value, Mapping):
        return value
    problems: list[Problem] = []
    taken: dict[int, str] = {}
    for key in value:
        try:
            hours = hours_of_day(key)
        except ValueError as error:
            problems.append(Problem((key,), str(error)))
            continue
        other = next((taken[hour] for hour in hours if hour in taken), None)
        if other is not None:
            text = _("{key} and {other} have an hour in common").format(key=key, other=other)
            problems.append(Problem((key,), text))
        taken.update((hour, key) for hour in hours)
    if problems:
        raise Contradiction(*problems)
    return value


#: Parts of the day, each with a price for an hour, None for `unknown`, or `none`: not to be had then.
ByHour = Annotated[dict[str, PriceOrNone], BeforeValidator(_check)]

"""The stages of a campaign's calendar as users write them."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from datetime import timedelta
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, WithJsonSchema, model_validator

from lastro.locale import _
from lastro.spec.base import AlsoWritten, Contradiction, Name, Problem, Strict, as_tuple, shown, written_as
from lastro.units import parse_duration

_PERCENT = re.compile(r"([0-9]+(?:\.[0-9]+)?)\s*%")
#: Ten years: longer is a mistake, and would leave the range of dates.
_LONGEST_HOURS = 87_600


@dataclass(frozen=True)
class Hours:
    """How long a stage takes, in hours. One number in the file means that all three are equal."""

    low: float
    likely: float
    high: float


def _three(value: object) -> list[object]:
    numbers = value if isinstance(value, list) else [value] * 3
    if len(numbers) != 3:
        raise ValueError(
            _("{value} has to be one number or three: low, likely, high").format(value=shown(value))
        )
    return numbers


def _ordered(hours: list[float], value: object) -> Hours:
    if not all(math.isfinite(hour) and 0 <= hour <= _LONGEST_HOURS for hour in hours):
        raise ValueError(_("{value} has to lie between 0 and 10 years").format(value=shown(value)))
    if hours != sorted(hours):
        raise ValueError(
            _("{low}, {likely}, {high} are not in the order low, likely, high").format(
                low=hours[0], likely=hours[1], high=hours[2]
            )
        )
    return Hours(*hours)


def _hours(value: object) -> object:
    """Read `8` or `[8, 10, 14]`."""
    if value is None or isinstance(value, Hours):
        return value
    hours = []
    for item in _three(value):
        if isinstance(item, bool) or not isinstance(item, (int, float)):
            raise ValueError(_("{value} is not a number of hours").format(value=shown(item)))
        hours.append(float(item))
    return _ordered(hours, value)


def _person(value: object) -> object:
    """Read `2h` or `[1h, 2h, 4h]`."""
    if value is None or isinstance(value, Hours):
        return value
    hours = []
    for item in _three(value):
        if not isinstance(item, str):
            raise ValueError(_("{value} is not a duration such as '2h'").format(value=shown(item)))
        hours.append(parse_duration(item) / timedelta(hours=1))
    return _ordered(hours, value)


def _part(value: object) -> object:
    """Read `10 %` as 0.1."""
    if value is None:
        return None
    match = _PERCENT.fullmatch(value.strip()) if isinstance(value, str) else None
    if not match or not 0 < float(match[1]) <= 100:
        raise ValueError(_("{value} is not a part such as '10 %'").format(value=shown(value)))
    return float(match[1]) / 100


def _after(value: object) -> object:
    return (value,) if isinstance(value, str) else as_tuple(value)


def _one_or_three(kind: str, examples: list[Any]) -> WithJsonSchema:
    """Return how low, likely and high are told to editors: as one value, or as three."""
    three = {"type": "array", "items": {"type": kind}, "minItems": 3, "maxItems": 3}
    return WithJsonSchema({"anyOf": [{"type": kind}, three, {"type": "null"}], "examples": examples})


class Stage(Strict):
    """One line of the calendar.

    Exactly one of `person`, `hours` and `part` says how long it takes; `each: run` makes one of every run,
    `run: NAME` ties it to one. `after` None waits for the stage above, an empty one for nothing.
    """

    person: Annotated[Hours | None, BeforeValidator(_person), _one_or_three("string", ["2h"])] = None
    hours: Annotated[Hours | None, BeforeValidator(_hours), _one_or_three("number", [[8, 10, 14]])] = None
    part: Annotated[
        float | None,
        BeforeValidator(_part),
        written_as("10 %", pattern=rf"^\s*{_PERCENT.pattern}\s*$", type=["string", "null"]),
    ] = None
    gpu: Annotated[int, Field(ge=0, le=1024)] = 0
    cpu: Annotated[int, Field(ge=0, le=1024)] = 0
    each: Literal["run"] | None = None
    run: Name | None = None
    after: Annotated[tuple[Name, ...] | None, BeforeValidator(_after), AlsoWritten({"type": "string"})] = None
    decide: bool = False

    @model_validator(mode="after")
    def _one_duration(self) -> Stage:
        given = [key for key in ("person", "hours", "part") if getattr(self, key) is not None]
        problems = []
        if len(given) > 1:
            problems.append(
                Problem(
                    (given[1],), _("{a} and {b} both say how long it takes").format(a=given[0], b=given[1])
                )
            )
        if not given:
            problems.append(
                Problem(
                    (),
                    _("nothing says how long this stage takes"),
                    _("give it one of: person: 2h, hours: [8, 10, 14], part: 10 %"),
                )
            )
        if self.part is not None and self.run is None:
            problems.append(Problem(("part",), _("a part of which run? give the stage run: NAME")))
        if self.each and self.run:
            problems.append(
                Problem(("run",), _("each: run and run: {run} exclude each other").format(run=self.run))
            )
        if problems:
            raise Contradiction(*problems)
        return self

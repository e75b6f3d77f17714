"""How long something takes: low, likely and high hours, for any card or for each kind, with their origin."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from datetime import timedelta
from decimal import Decimal
from typing import Any

from pydantic import WithJsonSchema

from lastro.locale import _
from lastro.records import dataclass
from lastro.spec.base import Contradiction, Problem, shown
from lastro.units import parse_bytes, parse_duration

#: Ten years: longer is a mistake, and would leave the range of dates.
LONGEST_HOURS = 87_600
_RATE = re.compile(r"(.+?)\s*/\s*s")
#: Where a number comes from when nobody says it.
DECLARED = "declared"


@dataclass(frozen=True)
class Hours:
    """Low, likely and high hours, and who says so. One number in the file means that all three are equal."""

    low: float
    likely: float
    high: float
    origin: str = DECLARED

    def times(self, factor: float) -> Hours:
        """Return a part, or a multiple, of these hours."""
        return Hours(self.low * factor, self.likely * factor, self.high * factor, self.origin)


@dataclass(frozen=True)
class Durations:
    """The hours on each kind of card; `anywhere` on any other, None when nothing is known of others."""

    anywhere: Hours | None
    on_card: Mapping[str, Hours]

    def on(self, gpu: str | None) -> Hours | None:
        """Return the hours on a card, named as in an offer; None when they are unknown there.

        Without a card, as on a machine of which none is known, hours that are given for one kind only count.
        """
        if gpu is None:
            only = list(self.on_card.values())
            return self.anywhere or (only[0] if len(only) == 1 else None)
        return self.on_card.get(card(gpu), self.anywhere)

    def of(self, run: str | None) -> Durations:
        """Return the hours of one run. What a person writes is for every run that it is given to."""
        return self

    def times(self, factor: float) -> Durations:
        """Return a part, or a multiple, of these hours."""
        anywhere = self.anywhere.times(factor) if self.anywhere else None
        return Durations(anywhere, {name: hours.times(factor) for name, hours in self.on_card.items()})


def card(name: str) -> str:
    """Return one spelling of a card's name: makers, spaces and capitals do not tell two cards apart.

    `NVIDIA GeForce RTX 4090`, `rtx-4090` and `RTX4090` are one; `A100 40GB` and `A100 80GB` are two.
    """
    words = re.sub(r"[^a-z0-9]+", " ", name.casefold()).split()
    return "".join(word for word in words if word not in ("nvidia", "geforce", "tesla", "amd", "radeon"))


def three(value: object) -> list[object]:
    """Return low, likely and high as they are written: one value stands for all."""
    numbers = value if isinstance(value, list) else [value] * 3
    if len(numbers) != 3:
        raise ValueError(
            _("{value} has to be one number or three: low, likely, high").format(value=shown(value))
        )
    return numbers


def _ordered(hours: list[float], value: object, origin: str = DECLARED) -> Hours:
    if not all(math.isfinite(hour) and 0 <= hour <= LONGEST_HOURS for hour in hours):
        raise ValueError(_("{value} has to lie between 0 and 10 years").format(value=shown(value)))
    if hours[1] == 0:
        raise ValueError(_("{value} is no time at all").format(value=shown(value)))
    if hours != sorted(hours):
        raise ValueError(
            _("{low}, {likely}, {high} are not in the order low, likely, high").format(
                low=hours[0], likely=hours[1], high=hours[2]
            )
        )
    low, likely, high = hours
    return Hours(low, likely, high, origin)


def _of_numbers(value: object, origin: str = DECLARED) -> Hours:
    hours = []
    for item in three(value):
        if isinstance(item, bool) or not isinstance(item, (int, float)):
            raise ValueError(_("{value} is not a number of hours").format(value=shown(item)))
        hours.append(float(item))
    return _ordered(hours, value, origin)


def _with_origin(value: object) -> Hours:
    """Read hours, or a mapping of hours and origin."""
    if not isinstance(value, Mapping):
        return _of_numbers(value)
    if not {"hours"} <= set(value) <= {"hours", "origin"}:
        raise ValueError(_("a duration has the keys hours and origin, not {keys}").format(keys=shown(value)))
    origin = value.get("origin", DECLARED)
    if not isinstance(origin, str) or not origin.strip():
        raise ValueError(_("{value} does not say where the hours come from").format(value=shown(origin)))
    return _of_numbers(value["hours"], origin)


def read_durations(value: object) -> object:
    """Read `8`, `[8, 10, 14]`, or one of these for each kind of card."""
    if value is None or isinstance(value, Durations):
        return value
    if not isinstance(value, Mapping) or "hours" in value:
        return Durations(_with_origin(value), {})
    if not value:
        raise ValueError(_("no card is named"))
    on_card: dict[str, Hours] = {}
    problems = []
    for name, hours in value.items():
        try:
            if not isinstance(name, str) or not card(name):
                raise ValueError(_("{value} is not the name of a card").format(value=shown(name)))
            if card(name) in on_card:
                raise ValueError(_("{name} is named twice").format(name=name))
            on_card[card(name)] = _with_origin(hours)
        except ValueError as error:
            problems.append(Problem((name,), str(error)))
    if problems:
        raise Contradiction(*problems)
    anywhere = on_card.pop("any", None)
    return Durations(anywhere, on_card)


def read_person(value: object) -> object:
    """Read `2h` or `[1h, 2h, 4h]`."""
    if value is None or isinstance(value, Hours):
        return value
    hours = []
    for item in three(value):
        if not isinstance(item, str):
            raise ValueError(_("{value} is not a duration such as '2h'").format(value=shown(item)))
        hours.append(parse_duration(item) / timedelta(hours=1))
    return _ordered(hours, value)


@dataclass(frozen=True)
class Rate:
    """Bytes in a second: low, likely and high."""

    low: int
    likely: int
    high: int

    def hours(self, count: int) -> Hours:
        """Return how long `count` bytes take: a low rate takes long."""
        low, likely, high = (
            float(Decimal(count) / rate / 3600) for rate in (self.high, self.likely, self.low)
        )
        return Hours(low, likely, high)


def read_rate(value: object) -> object:
    """Read `100 MB/s` or `[50 MB/s, 100 MB/s, 200 MB/s]`, low to high."""
    if isinstance(value, Rate):
        return value
    rates = []
    for item in three(value):
        match = _RATE.fullmatch(item.strip()) if isinstance(item, str) else None
        if not match:
            raise ValueError(_("{value} is not a rate such as '100 MB/s'").format(value=shown(item)))
        rates.append(parse_bytes(match[1]))
    if min(rates) <= 0:
        raise ValueError(_("{value}: nothing moves at no rate").format(value=shown(value)))
    if rates != sorted(rates):
        raise ValueError(
            _("{value} is not in the order low, likely, high").format(
                value=", ".join(str(item) for item in three(value))
            )
        )
    return Rate(*rates)


def one_or_three(kind: str, examples: list[Any], *more: dict[str, Any]) -> WithJsonSchema:
    """Return how low, likely and high are told to editors: as one value, or as three."""
    values = {"type": "array", "items": {"type": kind}, "minItems": 3, "maxItems": 3}
    return WithJsonSchema({"anyOf": [{"type": kind}, values, {"type": "null"}, *more], "examples": examples})


#: Hours for each kind of card, as editors are told.
BY_CARD: dict[str, Any] = {
    "type": "object",
    "additionalProperties": {
        "anyOf": [
            {"type": "number"},
            {"type": "array", "items": {"type": "number"}, "minItems": 3, "maxItems": 3},
            {
                "type": "object",
                "properties": {"hours": {}, "origin": {"type": "string"}},
                "required": ["hours"],
                "additionalProperties": False,
            },
        ]
    },
}

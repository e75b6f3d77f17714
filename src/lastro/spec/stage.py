"""The stages of a campaign's calendar as users write them."""

from __future__ import annotations

import re
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, WithJsonSchema, model_validator

from lastro.locale import _
from lastro.spec.base import (
    AlsoWritten,
    Contradiction,
    Name,
    Problem,
    Size,
    Strict,
    Text,
    as_tuple,
    shown,
    written_as,
)
from lastro.spec.durations import (
    BY_CARD,
    LONGEST_HOURS,
    Durations,
    Hours,
    Rate,
    one_or_three,
    read_durations,
    read_person,
    read_rate,
)
from lastro.units import show_bytes

#: What a stage is for. Those that a plan cannot do without are asked for by name.
Purpose = Literal[
    "prepare",
    "setup",
    "data-check",
    "download",
    "pilot",
    "drill",
    "evaluate",
    "transfer",
    "recover",
    "allowance",
]
Priority = Literal["required", "useful", "exploratory"]
#: The two ends of a move that every campaign has; other texts name a region, a store or a provider.
MACHINE, HOME = "machine", "home"

_PERCENT = re.compile(r"([0-9]+(?:\.[0-9]+)?)\s*%")


def read_percent(value: object) -> float:
    """Read `10 %` as 0.1. Raises ValueError for anything else, and for nothing and more than all."""
    match = _PERCENT.fullmatch(value.strip()) if isinstance(value, str) else None
    if not match or not 0 < float(match[1]) <= 100:
        raise ValueError(_("{value} is not a part such as '10 %'").format(value=shown(value)))
    return float(match[1]) / 100


def _part(value: object) -> object:
    return value if value is None else read_percent(value)


def _after(value: object) -> object:
    return (value,) if isinstance(value, str) else as_tuple(value)


IS_PERCENT = written_as("10 %", pattern=rf"^\s*{_PERCENT.pattern}\s*$", type=["string", "null"])
_RATES: dict[str, Any] = {"type": "string", "pattern": "/ *s *$"}


class Moves(Strict):
    """Bytes that a stage moves: it takes as long as they need, and what leaves a place may be billed.

    `origin` and `to`: `machine`, `home`, or the name of a region, a store or a provider.
    """

    size: Size
    rate: Annotated[
        Rate,
        BeforeValidator(read_rate),
        WithJsonSchema(
            {
                "anyOf": [_RATES, {"type": "array", "items": _RATES, "minItems": 3, "maxItems": 3}],
                "examples": ["100 MB/s"],
            }
        ),
    ]
    origin: Annotated[Text, Field(alias="from")] = "internet"
    to: Text = MACHINE

    @model_validator(mode="after")
    def _moves_something(self) -> Moves:
        problems = []
        if self.size <= 0:
            problems.append(Problem(("size",), _("nothing is moved")))
        elif self.rate.hours(self.size).high > LONGEST_HOURS:
            text = _("{size} at this rate take longer than 10 years").format(size=show_bytes(self.size))
            problems.append(Problem(("size",), text))
        if self.origin == self.to:
            problems.append(Problem(("to",), _("from {place} to itself").format(place=self.to)))
        if problems:
            raise Contradiction(*problems)
        return self


class Stage(Strict):
    """One line of the calendar.

    Exactly one of `person`, `hours`, `part` and `moves` says how long it takes; `each: run` makes one of
    every run, `run: NAME` ties it to one. `after` None waits for the stage above, an empty one for nothing.
    `memory`: what every card that it holds has to have. `does`: what it is for, where the plan has to know.
    `steps`: how many the whole run has, so that the pace of a part of it says how long the whole takes.
    """

    person: Annotated[Hours | None, BeforeValidator(read_person), one_or_three("string", ["2h"])] = None
    hours: Annotated[
        Durations | None, BeforeValidator(read_durations), one_or_three("number", [[8, 10, 14]], BY_CARD)
    ] = None
    part: Annotated[float | None, BeforeValidator(_part), IS_PERCENT] = None
    moves: Moves | None = None
    gpu: Annotated[int, Field(ge=0, le=1024)] = 0
    cpu: Annotated[int, Field(ge=0, le=1024)] = 0
    memory: Size | None = None
    each: Literal["run"] | None = None
    run: Name | None = None
    after: Annotated[tuple[Name, ...] | None, BeforeValidator(_after), AlsoWritten({"type": "string"})] = None
    decide: bool = False
    does: Purpose | None = None
    priority: Priority = "required"
    never_spot: bool = False
    steps: Annotated[int | None, Field(ge=1, le=10**12)] = None

    @model_validator(mode="after")
    def _one_duration(self) -> Stage:
        given = [key for key in ("person", "hours", "part", "moves") if getattr(self, key) is not None]
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
                    _("give it one of: person: 2h, hours: [8, 10, 14], part: 10 %, moves: ..."),
                )
            )
        if self.steps is not None and self.run is None and self.each is None:
            problems.append(
                Problem(("steps",), _("steps of which run? give the stage run: NAME or each: run"))
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

"""The base of every model, the types that several of them share, and how a model says what is wrong."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from datetime import timedelta
from pathlib import PurePosixPath
from typing import Annotated, Any, TypeVar

from pydantic import BaseModel, BeforeValidator, ConfigDict, GetJsonSchemaHandler, WithJsonSchema
from pydantic_core import CoreSchema

from lastro.locale import _
from lastro.records import dataclass
from lastro.units import Money, parse_bytes, parse_duration, parse_money

T = TypeVar("T")

#: Integers up to here are exact in every reader of JSON (RFC 8785, section 3.2.2.3).
LARGEST_INTEGER = 2**53 - 1


class Strict(BaseModel):
    """Frozen, no conversion behind the user's back, no unknown keys."""

    model_config = ConfigDict(frozen=True, strict=True, extra="forbid", arbitrary_types_allowed=True)


@dataclass(frozen=True)
class Problem:
    """One thing that is wrong, and where: `path` leads from the model that says it to the value."""

    path: tuple[str | int, ...]
    message: str
    hint: str | None = None


class Contradiction(ValueError):
    """Raised inside a model; the loader turns each problem into a line with its place."""

    def __init__(self, *problems: Problem) -> None:
        super().__init__("; ".join(problem.message for problem in problems))
        self.problems = problems


def shown(value: object) -> str:
    """Return a value as an error message shows it: short, on one line, as YAML would spell it."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, Mapping):
        return _("a mapping ({keys})").format(keys=", ".join(map(str, list(value)[:4])) or "{}")
    if isinstance(value, (list, tuple)):
        return _("a list of {count}").format(count=len(value))
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."


def written_as(*examples: str, pattern: str | None = None, **schema: Any) -> WithJsonSchema:
    """Return how a type of our own is told to editors: as the text that stands in the file."""
    told: dict[str, Any] = {"type": "string", **schema}
    if pattern is not None:
        told["pattern"] = pattern
    return WithJsonSchema({**told, "examples": list(examples)})


class AlsoWritten:
    """Says that a value may be written in these ways too, which a validator turns into the type itself."""

    def __init__(self, *schemas: dict[str, Any]) -> None:
        self._schemas = schemas

    def __get_pydantic_json_schema__(
        self, core_schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> dict[str, Any]:
        return {"anyOf": [*self._schemas, handler(core_schema)]}


#: As `lastro.units` reads them; a schema has no way to say that capitals do not matter.
_DURATION = r"^\s*([0-9]+(\.[0-9]+)?\s*[A-Za-z]+\s*)+$"
AMOUNT_PATTERN = r"^\s*[0-9]+(\.[0-9]+)?\s+[A-Z]{3}\s*$"
_SIZE = r"^\s*[0-9]+(\.[0-9]+)?\s*[A-Za-z]+\s*$"
IS_DURATION = written_as("72h", "10min", "1h 30min", pattern=_DURATION)
IS_AMOUNT = written_as("60 USD", "47.14 BRL", pattern=AMOUNT_PATTERN)


def _reader(parse: Callable[[str], T], kind: type[T], wanted: Callable[[], str]) -> Callable[[object], T]:
    """Return a function that parses text, keeps a parsed value, and refuses the rest by name."""

    def convert(value: object) -> T:
        if isinstance(value, str):
            return parse(value)
        if isinstance(value, kind) and not isinstance(value, bool):
            return value
        raise ValueError(_("{value} is not {wanted}").format(value=shown(value), wanted=wanted()))

    return convert


def _read(parse: Callable[[str], T], kind: type[T], wanted: Callable[[], str]) -> BeforeValidator:
    return BeforeValidator(_reader(parse, kind, wanted))


def _parse_positive_duration(text: str) -> timedelta:
    duration = parse_duration(text)
    if duration <= timedelta(0):
        raise ValueError(_("{text!r} is no time at all").format(text=text))
    return duration


def _parse_positive_money(text: str) -> Money:
    money = parse_money(text)
    if money.amount < 0:
        raise ValueError(_("{text!r} is less than nothing").format(text=text))
    return money


#: Reads an amount of money that is not less than nothing. Raises ValueError for the user.
read_amount = _reader(
    _parse_positive_money, Money, lambda: _("an amount with its currency, such as '60 USD'")
)

#: A length of time that is more than none.
Duration = Annotated[
    timedelta,
    _read(_parse_positive_duration, timedelta, lambda: _("a duration such as '72h' or '10min'")),
    IS_DURATION,
]
DurationOrZero = Annotated[
    timedelta,
    _read(parse_duration, timedelta, lambda: _("a duration such as '2s' or '10min'")),
    IS_DURATION,
]
Amount = Annotated[Money, BeforeValidator(read_amount), IS_AMOUNT]
#: A number of bytes.
Size = Annotated[
    int,
    _read(parse_bytes, int, lambda: _("a size such as '100 GB' or '16 GiB'")),
    written_as("100 GB", "16 GiB", pattern=_SIZE, type=["string", "integer"]),
]

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]*(?:\.[A-Za-z0-9_-]+)*")


def _name(value: object) -> str:
    if not isinstance(value, str):
        raise ValueError(_("{value} is not a name; write it in quotes").format(value=shown(value)))
    if len(value) > 64 or not _NAME.fullmatch(value):
        raise ValueError(
            _(
                "{value} cannot be a name: up to 64 letters, digits, '-', '_' and single '.', as in a path"
            ).format(value=shown(value))
        )
    return value


#: Names become folders on the disk, so they are spelled as every file system can.
Name = Annotated[
    str,
    BeforeValidator(_name),
    WithJsonSchema({"type": "string", "maxLength": 64, "pattern": f"^{_NAME.pattern}$"}),
]


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise ValueError(_("{value} is not a text; write it in quotes").format(value=shown(value)))
    if not value.strip() or "\0" in value:
        raise ValueError(_("it is empty"))
    return value


Text = Annotated[str, BeforeValidator(_text), WithJsonSchema({"type": "string", "pattern": r"\S"})]


def _inside(value: object) -> str:
    text = _text(value)
    path = PurePosixPath(text)
    if path.is_absolute() or ".." in path.parts or text.startswith("~") or str(path) == ".":
        raise ValueError(
            _("{value} has to be a path inside its folder: relative, without '..' or '~'").format(
                value=shown(text)
            )
        )
    return str(path)


#: A relative path that stays where it is, in its normal form.
InsidePath = Annotated[
    str,
    BeforeValidator(_inside),
    WithJsonSchema({"type": "string", "pattern": r"^[^/~]", "examples": ["data/x.npz"]}),
]


def as_tuple(value: object) -> object:
    """Return a list of the file as the tuple that a frozen model holds; anything else is left to the type."""
    return tuple(value) if isinstance(value, list) else value


def check_config(config: object) -> object:
    """Refuse what cannot be told exactly in JSON: other kinds of values, and integers beyond 2^53 - 1."""
    if not isinstance(config, Mapping):
        raise ValueError(
            _("{value} is not a mapping such as {{width: 64, epochs: 12}}").format(value=shown(config))
        )
    problems = [
        Problem((key,), message) for key, value in config.items() if (message := _not_json(value)) is not None
    ]
    if problems:
        raise Contradiction(*problems)
    return dict(config)


def _not_json(value: object) -> str | None:
    if isinstance(value, (list, tuple)):
        return next((message for item in value if (message := _not_json(item))), None)
    if isinstance(value, Mapping):
        return next((message for item in value.values() if (message := _not_json(item))), None)
    if isinstance(value, int) and abs(value) > LARGEST_INTEGER:
        return _("{value} is too large to be exact in JSON (at most 2^53 - 1)").format(value=shown(value))
    if isinstance(value, float) and not math.isfinite(value):
        return _("{value} is not a finite number").format(value=shown(value))
    if value is None or isinstance(value, (bool, int, float, str)):
        return None
    return _("{value} is no number, text, true, false, null, list or mapping").format(value=shown(value))


#: A configuration: names to JSON values.
Config = Annotated[dict[str, Any], BeforeValidator(check_config)]

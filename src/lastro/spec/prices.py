"""What prices, sizes and dates of an offers file are read as, and what a reckoned amount says of itself."""

from __future__ import annotations

import contextlib
import datetime as dates
from collections.abc import Iterable, Iterator
from enum import Enum
from typing import Annotated

from pydantic import AfterValidator, BeforeValidator, PlainValidator, WithJsonSchema

from lastro.locale import _
from lastro.records import dataclass
from lastro.spec.base import AMOUNT_PATTERN, AlsoWritten, Amount, Problem, Size, read_amount, shown
from lastro.units import Money, show_bytes

#: Prices of storage and traffic are for 10^9 bytes, as `lastro.units` reads "GB".
GB = 10**9
#: Nothing that one can rent has as much; it is a slip of the unit.
_ABSURD = 100 * 10**15


class Word(str, Enum):
    """What may stand where an amount does: as much as the first, or not to be had at all."""

    SAME = "same"
    NONE = "none"


@dataclass(frozen=True, kw_only=True)
class Priced:
    """An amount that was reckoned, and how. None is unknown, or (`refused`) not to be had at any price."""

    amount: Money | None
    why: str
    refused: bool = False


def unknown_is_none(value: object) -> object:
    """Return None for the word `unknown`; everything else as it is."""
    return None if value == "unknown" else value


#: An amount, or None for `unknown`.
Price = Annotated[Amount | None, BeforeValidator(unknown_is_none), AlsoWritten({"const": "unknown"})]


def _price_or(*words: Word) -> PlainValidator:
    def read(value: object) -> Money | Word | None:
        if value is None or value == "unknown":
            return None
        if isinstance(value, str) and value in [word.value for word in words]:
            return Word(value)
        return read_amount(value)

    return PlainValidator(read)


_AS_AMOUNT = {"type": "string", "pattern": AMOUNT_PATTERN, "examples": ["0.40 USD"]}
#: How editors are told of a price that stands where something else may.
AS_PRICE = ({"const": "unknown"}, _AS_AMOUNT)


def _written_as_price_or(*words: Word) -> WithJsonSchema:
    written = {"enum": ["unknown", *(word.value for word in words)]}
    return WithJsonSchema({"anyOf": [written, _AS_AMOUNT, {"type": "null"}]})


#: An amount, None for `unknown`, or one of the words.
PriceOrNone = Annotated[Money | Word | None, _price_or(Word.NONE), _written_as_price_or(Word.NONE)]
PriceSameOrNone = Annotated[
    Money | Word | None, _price_or(Word.SAME, Word.NONE), _written_as_price_or(Word.SAME, Word.NONE)
]


def _some_bytes(size: int) -> int:
    if size <= 0:
        raise ValueError(_("a size of {count} bytes is nothing").format(count=size))
    if size > _ABSURD:
        raise ValueError(
            _("{size} is more than anybody rents; is the unit right?").format(size=show_bytes(size))
        )
    return size


#: A number of bytes, at least one.
SomeBytes = Annotated[Size, AfterValidator(_some_bytes)]


def _date(value: object) -> dates.date:
    if isinstance(value, dates.date):
        return value
    if isinstance(value, str):
        with contextlib.suppress(ValueError):
            return dates.date.fromisoformat(value)
    raise ValueError(_("{value} is not a date such as 2026-11-30").format(value=shown(value)))


def _date_or_none(value: object) -> dates.date | None:
    return None if value is None else _date(value)


#: The day on which something was read; None when nobody wrote it down.
Seen = Annotated[dates.date | None, BeforeValidator(_date_or_none)]
#: The same where nothing holds without its day.
SeenOn = Annotated[dates.date, BeforeValidator(_date)]


def mixed_currencies(amounts: Iterable[tuple[tuple[str | int, ...], object]]) -> list[Problem]:
    """Return a problem for each amount whose currency is not that of the first; the rest are no amounts."""
    first: Money | None = None
    problems = []
    for path, amount in amounts:
        if not isinstance(amount, Money):
            continue
        first = first or amount
        if amount.currency != first.currency:
            problems.append(
                Problem(
                    path,
                    _("{amount} is in another currency than {first} of the same row").format(
                        amount=amount, first=first
                    ),
                    _("write one currency in a row; `rates:` converts what is added up later"),
                )
            )
    return problems


def twice(where: tuple[str, str], names: Iterable[str], what: str) -> Iterator[Problem]:
    """Yield a problem for each name that stood before it; `where`: the list, and the key of its rows."""
    rows, key = where
    before: set[str] = set()
    for index, name in enumerate(names):
        if name in before:
            yield Problem((rows, index, key), what.format(name=name))
        before.add(name)

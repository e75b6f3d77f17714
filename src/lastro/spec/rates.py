"""Rates of exchange that the user gives with their day, and money that lies with a provider already."""

from __future__ import annotations

import datetime as dates
import re
from collections.abc import Sequence
from decimal import Decimal
from typing import Annotated

from pydantic import BeforeValidator, Field, PlainValidator, WithJsonSchema, model_validator

from lastro.locale import _
from lastro.spec.base import Amount, Contradiction, Problem, Strict, Text, shown
from lastro.spec.prices import Priced, Seen, SeenOn
from lastro.units import Money

_CURRENCY = re.compile(r"[A-Z]{3}")
_FACTOR = re.compile(r"[0-9]{1,12}(\.[0-9]{1,12})?")


def _currency(value: object) -> str:
    if isinstance(value, str) and _CURRENCY.fullmatch(value):
        return value
    raise ValueError(_("{value} is not a currency code such as USD or BRL").format(value=shown(value)))


def _factor(value: object) -> Decimal:
    if isinstance(value, Decimal):
        return value
    # The shortest spelling of a float is what stands in the file.
    text = value if isinstance(value, str) else repr(value)
    if isinstance(value, bool) or not _FACTOR.fullmatch(text) or not Decimal(text):
        raise ValueError(
            _("{value} is not a rate: a number above 0, such as 0.18").format(value=shown(value))
        )
    return Decimal(text)


Currency = Annotated[
    str, BeforeValidator(_currency), WithJsonSchema({"type": "string", "pattern": _CURRENCY.pattern})
]


class Rate(Strict):
    """One unit of `base` was worth `rate` units of `to` on the day `seen`."""

    base: Annotated[Currency, Field(alias="from")]
    to: Currency
    rate: Annotated[Decimal, PlainValidator(_factor), WithJsonSchema({"type": ["number", "string"]})]
    seen: SeenOn
    source: Text = "declared"

    @model_validator(mode="after")
    def _two_currencies(self) -> Rate:
        if self.base == self.to:
            text = _("{currency} needs no rate to itself").format(currency=self.to)
            raise Contradiction(Problem(("to",), text))
        return self


class Balance(Strict):
    """Money paid to a provider in advance, as it was on the day `seen`."""

    provider: Text
    amount: Amount
    seen: Seen = None


def convert(money: Money, to: str, rates: Sequence[Rate], on: dates.date) -> Priced:
    """Return `money` in another currency by the latest rate of that direction that is not later than `on`.

    Never by an inverse or a chain of rates: what a bank takes differs by direction, and nobody wrote it down.
    """
    if money.currency == to:
        return Priced(amount=money, why=_("no conversion"))
    known = [rate for rate in rates if (rate.base, rate.to) == (money.currency, to) and rate.seen <= on]
    if not known:
        text = _("no rate from {base} to {to} of {day} or before was given")
        return Priced(amount=None, why=text.format(base=money.currency, to=to, day=on.isoformat()))
    rate = max(known, key=lambda each: each.seen)
    return Priced(
        amount=Money(money.amount * rate.rate, to),
        why=_("1 {base} = {rate} {to} ({source}, {day})").format(
            base=rate.base, rate=rate.rate, to=to, source=rate.source, day=rate.seen.isoformat()
        ),
    )

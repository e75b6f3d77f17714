"""Bytes, durations and money, read from what people write and shown as people read them."""

from __future__ import annotations

import re
from datetime import timedelta
from decimal import Decimal, InvalidOperation

from lastro.locale import _, forms
from lastro.records import dataclass

#: 1 GB = 10^9 bytes, 1 GiB = 2^30 bytes.
_BYTES = {
    "B": 1, "KB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12, "PB": 10**15,
    "KIB": 2**10, "MIB": 2**20, "GIB": 2**30, "TIB": 2**40, "PIB": 2**50,
}  # fmt: skip
_SECONDS = {
    "ms": Decimal("0.001"), "s": Decimal(1), "sec": Decimal(1), "min": Decimal(60), "m": Decimal(60),
    "h": Decimal(3600), "d": Decimal(86400), "day": Decimal(86400), "days": Decimal(86400),
    "w": Decimal(604800),
}  # fmt: skip
#: More digits than these are a mistake, and would be slow to reckon with.
_NUMBER = r"[0-9]{1,18}(?:\.[0-9]{1,18})?"
_PART = re.compile(rf"\s*({_NUMBER})\s*([A-Za-z]+)")
#: ISO 4217 codes have three capital letters; which of them exist is not checked.
_CURRENCY = re.compile(r"[A-Z]{3}")


@dataclass(frozen=True)
class Money:
    """An amount in one currency. Two currencies never add up: that needs a dated rate."""

    amount: Decimal
    currency: str

    def __post_init__(self) -> None:
        if not self.amount.is_finite():
            raise ValueError(
                _("an amount of money has to be a finite number, not {amount}").format(amount=self.amount)
            )
        if not _CURRENCY.fullmatch(self.currency):
            raise ValueError(
                _("{currency!r} is not a currency code such as USD or BRL").format(currency=self.currency)
            )

    def __add__(self, other: Money) -> Money:
        if self.currency != other.currency:
            raise ValueError(
                _("{a} and {b} cannot be added without a dated rate").format(
                    a=self.currency, b=other.currency
                )
            )
        return Money(self.amount + other.amount, self.currency)

    def times(self, factor: Decimal | int) -> Money:
        """Return the amount times an exact factor."""
        return Money(self.amount * factor, self.currency)

    def divided(self, count: int) -> Money:
        """Return an equal share of the amount, to a millionth. Raises ValueError for a share among none."""
        if count <= 0:
            raise ValueError(_("a cost among none is undefined"))
        return Money((self.amount / count).quantize(Decimal("0.000001")), self.currency)

    def as_json(self) -> dict[str, str]:
        """Return `{"amount": "47.14", "currency": "USD"}`: at least two decimals, never an exponent."""
        amount = self.amount
        if amount == amount.quantize(Decimal("0.01")):
            amount = amount.quantize(Decimal("0.01"))
        else:
            amount = amount.normalize()
        return {"amount": f"{amount:f}", "currency": self.currency}

    @classmethod
    def from_json(cls, value: dict[str, str]) -> Money:
        """Read what `as_json` wrote."""
        return cls(Decimal(value["amount"]), value["currency"])

    def __str__(self) -> str:
        """Return the amount as people read it, in cents; below one unit with two significant digits."""
        amount = self.amount
        digits = Decimal("0.01")
        if amount and abs(amount) < 1:
            digits = min(digits, Decimal(1).scaleb(amount.adjusted() - 1))
        return forms.money(f"{amount.quantize(digits):f}", self.currency)


def parse_money(text: str) -> Money:
    """Read `60 USD` or `47.14 BRL`. Raises ValueError with a sentence for the user."""
    match = re.fullmatch(rf"\s*(-?{_NUMBER})\s+(\S+)\s*", text)
    if not match:
        raise ValueError(_("{text!r} is not an amount with its currency, such as '60 USD'").format(text=text))
    try:
        amount = Decimal(match[1])
    except InvalidOperation as error:  # pragma: no cover - the pattern admits only numbers
        raise ValueError(_("{text!r} is not an amount").format(text=text)) from error
    return Money(amount, match[2])


def parse_bytes(text: str) -> int:
    """Read `100 GB`, `1.5 TiB`, `512 MB`. Raises ValueError with a sentence for the user."""
    match = _PART.fullmatch(text.strip())
    if not match or match[2].upper() not in _BYTES:
        raise ValueError(_("{text!r} is not a size such as '100 GB' or '16 GiB'").format(text=text))
    return int(Decimal(match[1]) * _BYTES[match[2].upper()])


def parse_duration(text: str) -> timedelta:
    """Read `72h`, `10min`, `1h 30min`, `90s`, `3d`. Raises ValueError with a sentence for the user."""
    position, total = 0, Decimal(0)
    stripped = text.strip()
    while position < len(stripped):
        match = _PART.match(stripped, position)
        if not match or match[2].lower() not in _SECONDS:
            raise ValueError(
                _("{text!r} is not a duration such as '72h', '10min' or '90s'").format(text=text)
            )
        total += Decimal(match[1]) * _SECONDS[match[2].lower()]
        position = match.end()
    if not stripped:
        raise ValueError(_("{text!r} is not a duration such as '72h', '10min' or '90s'").format(text=text))
    try:
        return timedelta(seconds=float(total))
    except OverflowError as error:
        raise ValueError(_("{text!r} is longer than any campaign").format(text=text)) from error


def show_bytes(count: int) -> str:
    """Return a size with three significant digits in decimal units: `1.01 GB`."""
    value = float(count)
    for unit in ("B", "kB", "MB", "GB", "TB"):
        if abs(value) < 1000 or unit == "TB":
            return f"{count} B" if unit == "B" else f"{forms.decimal(f'{value:.3g}')} {unit}"
        value /= 1000
    raise AssertionError("unreachable")


def show_duration(duration: timedelta) -> str:
    """Return a duration as people say it: `1.4 s`, `4 min 05 s`, `2 h 03 min`, `3 d 4 h`."""
    seconds = duration.total_seconds()
    if seconds < 0:
        return "-" + show_duration(-duration)
    if seconds < 60:
        return forms.decimal(f"{seconds:.1f} s" if seconds < 10 else f"{seconds:.0f} s")
    minutes, rest = divmod(round(seconds), 60)
    if minutes < 60:
        return f"{minutes} min {rest:02d} s"
    hours, minutes = divmod(minutes, 60)
    if hours < 48:
        return f"{hours} h {minutes:02d} min"
    days, hours = divmod(hours, 24)
    return f"{days} d {hours} h"

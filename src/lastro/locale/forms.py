"""How numbers, money and dates are written in the user's language. Files and JSON are not concerned."""

from __future__ import annotations

from datetime import datetime, timezone

from lastro.locale import language

#: What stands before an amount in Portuguese; other currencies keep their code.
_SIGNS = {"BRL": "R$", "USD": "US$", "EUR": "€", "GBP": "£"}


def decimal(digits: str) -> str:
    """Return a number that was written with a point with the sign that the language has for it."""
    return digits if language() == "en" else digits.replace(".", ",")


def money(digits: str, currency: str) -> str:
    """Return an amount with its currency: `1234.50 USD`, in Portuguese `US$ 1.234,50`.

    Args:
        digits: the amount as Python writes it, rounded already, as `-1234.50`.
        currency: ISO 4217 code.
    """
    if language() == "en":
        return f"{digits} {currency}"
    whole, point, cents = digits.removeprefix("-").partition(".")
    sign = "-" if digits.startswith("-") else ""
    grouped = f"{int(whole):,}".replace(",", ".") if whole.isdigit() else whole
    return f"{sign}{_SIGNS.get(currency, currency)} {grouped}{',' if point else ''}{cents}"


def day(value: datetime) -> str:
    """Return a date in UTC: `2026-11-30`, in Portuguese `30/11/2026`."""
    return value.astimezone(timezone.utc).strftime("%Y-%m-%d" if language() == "en" else "%d/%m/%Y")


def moment(value: datetime) -> str:
    """Return a time to the second, in UTC: `2026-11-30 08:00:00 UTC`."""
    return f"{day(value)} {value.astimezone(timezone.utc):%H:%M:%S} UTC"

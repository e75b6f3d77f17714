"""What people type as money or as a day, read the same in every command."""

from __future__ import annotations

from datetime import date

import click

from lastro.locale import _
from lastro.units import Money, parse_money


def read_money(_ctx: click.Context, _option: click.Parameter, text: str) -> Money:
    """Read `47.14 USD`; below nothing is refused, since every command says what the money is for."""
    try:
        money = parse_money(text)
    except ValueError as error:
        raise click.BadParameter(str(error)) from error
    if money.amount < 0:
        raise click.BadParameter(_("{price} is less than nothing").format(price=money))
    return money


def read_day(_ctx: click.Context, _option: click.Parameter, text: str) -> date:
    """Read `2026-11-30`."""
    try:
        return date.fromisoformat(text)
    except ValueError as error:
        raise click.BadParameter(_("{text!r} is not a day such as 2026-11-30").format(text=text)) from error

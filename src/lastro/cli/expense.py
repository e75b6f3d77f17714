"""`lastro expense`."""

from __future__ import annotations

from datetime import date
from decimal import Decimal, InvalidOperation
from pathlib import Path

import click

from lastro.cli.options import Translated, TranslatedGroup, as_json_option, campaign_option, option
from lastro.cli.render import print_json
from lastro.cli.types import read_day, read_money
from lastro.clock import SystemClock
from lastro.flow.bookkeeping import Paid, add_expense, give_rate, undo_expense
from lastro.flow.session import Session, find_session
from lastro.journal.views import ExpenseView, RateView
from lastro.locale import _
from lastro.paths import Home, home_root
from lastro.units import Money

_day_option = option("--date", "day", required=True, callback=read_day, metavar="DAY", help="As 2026-11-30.")


def _factor(_ctx: click.Context, _option: click.Parameter, text: str) -> Decimal:
    try:
        number = Decimal(text)
    except InvalidOperation as error:
        raise click.BadParameter(_("{text!r} is not a number").format(text=text)) from error
    if not number.is_finite() or number <= 0:
        raise click.BadParameter(_("{text!r} is not a number above 0").format(text=text))
    return number


@click.group(cls=TranslatedGroup, invoke_without_command=True)
@campaign_option
@as_json_option
@click.pass_context
def expense(ctx: click.Context, campaign_file: Path, as_json: bool) -> None:
    """List what a campaign has cost beside machines and disks, as it was typed.

    \b
    Example:
      lastro expense
      lastro expense add "12.50 USD" --what "labelling" --date 2026-11-30 --ref R-7
    """
    if ctx.invoked_subcommand is not None:
        return
    found = _session(campaign_file).view().expenses
    if as_json:
        print_json({"expenses": [_as_json(one) for one in found], "exit_code": 0})
        return
    for one in found:
        click.echo(_line(one))
    if not found:
        click.echo(_("no expense was typed"))


@expense.command(cls=Translated)
@click.argument("amount", callback=read_money)
@option("--what", required=True, metavar="TEXT", help="What was paid; it stands in the bill.")
@_day_option
@option("--ref", default="", metavar="REF", help="A receipt or order; an invoice is matched by it.")
@option("--refund", is_flag=True, help="It came back.")
@campaign_option
@as_json_option
def add(
    amount: Money, what: str, day: date, ref: str, refund: bool, campaign_file: Path, as_json: bool
) -> None:
    """Keep what was paid beside, a line of the bill.

    Also after the closing, whose report stays as it was.

    \b
    Example:
      lastro expense add "12.50 USD" --what "labelling" --date 2026-11-30 --ref R-7
      lastro expense add "3.00 USD" --what "credit of May" --date 2026-11-30 --refund
    """
    signed = amount.times(-1) if refund else amount
    kept = add_expense(_session(campaign_file), Paid(what=what, amount=signed, day=day, ref=ref))
    _tell(kept, as_json=as_json)


@expense.command(cls=Translated)
@click.argument("wanted", metavar="ID")
@option("--why", required=True, metavar="TEXT", help="The reason; it stays in the journal.")
@campaign_option
@as_json_option
def undo(wanted: str, why: str, campaign_file: Path, as_json: bool) -> None:
    """Count an expense no more. Nothing is deleted: it stays in the journal with the reason.

    \b
    Example:
      lastro expense undo e1 --why "typed twice"
    """
    _tell(undo_expense(_session(campaign_file), wanted, why), as_json=as_json)


@expense.command(cls=Translated)
@option("--from", "base", required=True, metavar="CURRENCY", help="Of which one was worth so much.")
@option("--to", required=True, metavar="CURRENCY", help="In which that is told.")
@option("--rate", required=True, callback=_factor, metavar="NUMBER", help="How much one was worth.")
@_day_option
@option("--source", required=True, metavar="TEXT", help="Where it was read.")
@campaign_option
@as_json_option
def rate(
    base: str, to: str, rate: Decimal, day: date, source: str, campaign_file: Path, as_json: bool
) -> None:
    """Give a rate of exchange, with its day and where it was read.

    Amounts in other currencies than the budget's have no common total without one.

    \b
    Example:
      lastro expense rate --from BRL --to USD --rate 0.18 --date 2026-11-30 --source "card statement"
    """
    for name, text in (("--from", base), ("--to", to)):
        if len(text) != 3 or not (text.isascii() and text.isupper() and text.isalpha()):
            raise click.BadParameter(
                _("{currency!r} is not a currency code such as USD or BRL").format(currency=text),
                param_hint=name,
            )
    given = RateView(base=base, to=to, rate=rate, day=day.isoformat(), source=source)
    give_rate(_session(campaign_file), given)
    if as_json:
        facts = {"from": base, "to": to, "rate": f"{rate:f}", "day": given.day, "source": source}
        print_json({"rate": facts, "exit_code": 0})
    else:
        click.echo(f"1 {base} = {rate:f} {to} ({source}, {given.day})")


def _session(campaign_file: Path) -> Session:
    return find_session(Home(home_root()), SystemClock(), campaign_file)


def _tell(one: ExpenseView, *, as_json: bool) -> None:
    if as_json:
        print_json({"expense": _as_json(one), "exit_code": 0})
    else:
        click.echo(_line(one))


def _line(one: ExpenseView) -> str:
    text = f"{one.id}  {one.day}  {one.amount}  {one.what}" + (f"  ({one.ref})" if one.ref else "")
    return text if one.undone is None else _("{line}  not counted: {why}").format(line=text, why=one.undone)


def _as_json(one: ExpenseView) -> dict[str, object]:
    return {**vars(one), "amount": one.amount.as_json()}

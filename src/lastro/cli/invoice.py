"""`lastro invoice`."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from pathlib import Path

import click

from lastro.cli.options import Translated, TranslatedGroup, as_json_option, campaign_option, option
from lastro.cli.render import print_json
from lastro.cli.types import read_day
from lastro.clock import SystemClock
from lastro.errors import UsageError
from lastro.flow.bookkeeping import add_invoice, read_invoice, source_of, typed_line, undo_invoice
from lastro.flow.session import Session, find_session
from lastro.journal.views import InvoiceLine, InvoiceView, ReconciledLine
from lastro.locale import _
from lastro.paths import Home, home_root
from lastro.view.accounting import account_json


def _lines(_ctx: click.Context, _option: click.Parameter, texts: Sequence[str]) -> tuple[InvoiceLine, ...]:
    try:
        return tuple(map(typed_line, texts))
    except ValueError as error:
        raise click.BadParameter(str(error)) from error


@click.group(cls=TranslatedGroup, invoke_without_command=True)
@campaign_option
@as_json_option
@click.pass_context
def invoice(ctx: click.Context, campaign_file: Path, as_json: bool) -> None:
    """Hold the bills that came against the campaign's own, line by line.

    What differs is told and never taken over.

    \b
    Example:
      lastro invoice
      lastro invoice add bill.csv --number 2026-11 --date 2026-12-01
    """
    if ctx.invoked_subcommand is not None:
        return
    view = _session(campaign_file).view()
    if as_json:
        invoices = [_as_json(one) for one in view.invoices]
        lines = account_json(view.cost)["invoices"]
        print_json({"invoices": invoices, "lines": lines, "exit_code": 0})
        return
    for one in view.invoices:
        click.echo(_told(one))
    for line in view.cost.reconciled:
        click.echo("  " + _compared(line))
    if not view.invoices:
        click.echo(_("no invoice was added"))


@invoice.command(cls=Translated)
@click.argument("file", required=False, type=click.Path(path_type=Path, exists=True, dir_okay=False))
@option("--line", "lines", multiple=True, callback=_lines, metavar="LINE", help="As 'm-1: 0.82 USD'.")
@option("--number", required=True, metavar="REF", help="Of the invoice; the same again corrects it.")
@option("--date", "day", required=True, callback=read_day, metavar="DAY", help="As 2026-11-30.")
@campaign_option
@as_json_option
def add(
    file: Path | None,
    lines: tuple[InvoiceLine, ...],
    number: str,
    day: date,
    campaign_file: Path,
    as_json: bool,
) -> None:
    """Keep a bill: the lines of a CSV file, or typed ones.

    Columns are ref, what, amount, currency. A line belongs to what it names: a machine, an order, a disk, the
    reference of an expense.

    \b
    Example:
      lastro invoice add bill.csv --number 2026-11 --date 2026-12-01
      lastro invoice add --line "m-1: 0.82 USD" --number 2026-11 --date 2026-12-01
    """
    if (file is None) == (not lines):
        raise UsageError(
            _("an invoice is a file, or typed lines"), hint=_('lastro invoice add --line "m-1: 0.82 USD"')
        )
    found, source = (read_invoice(file), source_of(file)) if file is not None else (lines, "typed")
    session = _session(campaign_file)
    kept = add_invoice(session, number, day, found, source)
    _tell(session, kept, as_json=as_json)


@invoice.command(cls=Translated)
@click.argument("number")
@option("--why", required=True, metavar="TEXT", help="The reason; it stays in the journal.")
@campaign_option
@as_json_option
def undo(number: str, why: str, campaign_file: Path, as_json: bool) -> None:
    """Compare with an invoice no more. It stays in the journal with the reason.

    \b
    Example:
      lastro invoice undo 2026-11 --why "of another campaign"
    """
    session = _session(campaign_file)
    _tell(session, undo_invoice(session, number, why), as_json=as_json)


def _session(campaign_file: Path) -> Session:
    return find_session(Home(home_root()), SystemClock(), campaign_file)


def _tell(session: Session, one: InvoiceView, *, as_json: bool) -> None:
    bill = session.view().cost
    if as_json:
        print_json({"invoice": _as_json(one), "lines": account_json(bill)["invoices"], "exit_code": 0})
        return
    click.echo(_told(one))
    for line in bill.reconciled:
        click.echo("  " + _compared(line))


def _told(one: InvoiceView) -> str:
    text = _("{number} of {day}: {count} lines, {source}").format(
        number=one.number, day=one.day, count=len(one.lines), source=one.source
    )
    return text if one.undone is None else _("{line}  not counted: {why}").format(line=text, why=one.undone)


def _compared(line: ReconciledLine) -> str:
    said = {
        "matched": _("{ref}: {invoiced}, as in the journal"),
        "differs": _("{ref}: {invoiced} on the invoice, {journal} in the journal, {difference} more"),
        "invoice_only": _("{ref}: {invoiced}, on the invoice only"),
        "journal_only": _("{ref}: {journal}, in the journal only"),
        "unknown": _("{ref}: {invoiced} on the invoice, not comparable with the journal ({journal})"),
    }
    return said[line.status].format(
        ref=line.ref,
        invoiced=line.invoiced,
        journal=line.journal if line.journal is not None else _("unknown"),
        difference=line.difference,
    )


def _as_json(one: InvoiceView) -> dict[str, object]:
    lines = [{"ref": line.ref, "what": line.what, "amount": line.amount.as_json()} for line in one.lines]
    return {**vars(one), "lines": lines}

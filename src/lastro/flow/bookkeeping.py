"""What a person types of a campaign's money, kept in home's journal; a mistake is undone, never deleted."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from datetime import date
from pathlib import Path

from lastro.errors import CampaignInvalid, UsageError
from lastro.flow.noting import noting
from lastro.flow.session import Session
from lastro.journal.events import EventType
from lastro.journal.views import ExpenseView, InvoiceLine, InvoiceView, RateView
from lastro.locale import _
from lastro.records import dataclass
from lastro.storage.digest import sha256_file
from lastro.units import Money, parse_money

#: Names of the columns of a bill as providers write them, the first that is there.
_COLUMNS: Mapping[str, tuple[str, ...]] = {
    "ref": ("ref", "reference", "id", "resource"),
    "what": ("what", "description", "item"),
    "amount": ("amount", "total", "cost"),
    "currency": ("currency",),
}


@dataclass(frozen=True, kw_only=True)
class Paid:
    """What a person typed of an expense. `amount` below nothing: money that came back."""

    what: str
    amount: Money
    day: date
    ref: str = ""


def add_expense(session: Session, paid: Paid) -> ExpenseView:
    """Keep an expense.

    Raises:
        UsageError: a living `lastro run` owns the campaign.
        Fenced: another home drives it.
    """
    with noting(session) as writer:
        name = f"e{len(session.view().expenses) + 1}"
        writer.append(
            EventType.EXPENSE_ADDED,
            id=name,
            what=paid.what,
            amount=paid.amount.as_json(),
            day=paid.day.isoformat(),
            ref=paid.ref,
        )
    return _expense(session, name)


def undo_expense(session: Session, wanted: str, why: str) -> ExpenseView:
    """Count an expense no more; it and the reason stay told. Raises UsageError: there is no such one."""
    with noting(session) as writer:
        known = [one.id for one in session.view().expenses if one.undone is None]
        _require(wanted, known, _("there is no expense '{name}' that counts; there are: {known}"))
        writer.append(EventType.EXPENSE_UNDONE, id=wanted, why=why)
    return _expense(session, wanted)


def _expense(session: Session, wanted: str) -> ExpenseView:
    return next(one for one in session.view().expenses if one.id == wanted)


def give_rate(session: Session, rate: RateView) -> None:
    """Keep a rate of exchange. Raises UsageError: it is none."""
    if rate.base == rate.to or rate.rate <= 0:
        raise UsageError(
            _("1 {base} = {rate} {to} is no rate").format(base=rate.base, rate=rate.rate, to=rate.to)
        )
    with noting(session) as writer:
        writer.append(
            EventType.RATE_GIVEN,
            base=rate.base,
            to=rate.to,
            rate=f"{rate.rate:f}",
            day=rate.day,
            source=rate.source,
        )


def add_invoice(
    session: Session, number: str, day: date, lines: Sequence[InvoiceLine], source: str
) -> InvoiceView:
    """Keep an invoice; the same number again corrects it. The campaign's own bill stays as it is."""
    told = [{"ref": one.ref, "what": one.what, "amount": one.amount.as_json()} for one in lines]
    with noting(session) as writer:
        writer.append(EventType.INVOICE_ADDED, number=number, day=day.isoformat(), source=source, lines=told)
    return _invoice(session, number)


def undo_invoice(session: Session, number: str, why: str) -> InvoiceView:
    """Compare with an invoice no more; it and the reason stay told."""
    with noting(session) as writer:
        known = [one.number for one in session.view().invoices if one.undone is None]
        _require(number, known, _("there is no invoice '{name}' that counts; there are: {known}"))
        writer.append(EventType.INVOICE_UNDONE, number=number, why=why)
    return _invoice(session, number)


def _invoice(session: Session, number: str) -> InvoiceView:
    return next(one for one in session.view().invoices if one.number == number)


def _require(wanted: str, known: Sequence[str], text: str) -> None:
    if wanted not in known:
        raise UsageError(text.format(name=wanted, known=", ".join(known) or "-"))


def source_of(path: Path) -> str:
    """Return what stands in the journal for a bill's file: its name, and the SHA-256 of its bytes."""
    return f"{path.name}, sha256 {sha256_file(path)}"


def read_invoice(path: Path) -> tuple[InvoiceLine, ...]:
    """Read the lines of a bill from a CSV file.

    Columns, by their names: amount (or total, cost), with its currency in it or in a column of that name; and
    ref (or reference, id, resource) or what (or description, item).

    Raises:
        CampaignInvalid: a column is missing, or a line says no amount.
        UsageError: the file cannot be read.
    """
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(_("{path} cannot be read: {why}").format(path=path, why=error)) from error
    rows = csv.DictReader(io.StringIO(text), strict=True)
    names = {str(name).strip().lower(): name for name in rows.fieldnames or ()}
    columns = {key: next((names[one] for one in known if one in names), None)
               for key, known in _COLUMNS.items()}  # fmt: skip
    if columns["amount"] is None or (columns["ref"] is None and columns["what"] is None):
        raise CampaignInvalid(
            _("the first line names no column `amount`, or neither `ref` nor `what`"),
            hint=_("name the columns ref, what, amount, currency"),
            file=str(path),
            line=1,
        )
    try:
        found = tuple(_line(row, columns, str(path), rows.line_num) for row in rows)
    except csv.Error as error:
        raise CampaignInvalid(str(error), file=str(path), line=rows.line_num) from error
    if not found:
        raise CampaignInvalid(_("it has no lines"), file=str(path))
    return found


def _line(
    row: Mapping[str, str | None], columns: Mapping[str, str | None], file: str, number: int
) -> InvoiceLine:
    cells = {key: (row.get(name) or "").strip() if name else "" for key, name in columns.items()}
    amount = f"{cells['amount']} {cells['currency']}".strip()
    ref = cells["ref"] or cells["what"]
    try:
        money = parse_money(amount)
    except ValueError as error:
        raise CampaignInvalid(str(error), file=file, line=number) from error
    if not ref:
        raise CampaignInvalid(_("it says neither `ref` nor `what`"), file=file, line=number)
    return InvoiceLine(ref=ref, what=cells["what"] or ref, amount=money)


def typed_line(text: str) -> InvoiceLine:
    """Read `m-1: 0.82 USD`. Raises ValueError with a sentence for the user."""
    ref, colon, amount = text.rpartition(":")
    if not colon or not ref.strip():
        raise ValueError(_("{text!r} is not a line such as 'm-1: 0.82 USD'").format(text=text))
    return InvoiceLine(ref=ref.strip(), what=ref.strip(), amount=parse_money(amount))

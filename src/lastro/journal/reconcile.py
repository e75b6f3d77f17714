"""A bill that came, held line by line against the journal's own. Pure; it changes neither."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal

from lastro.journal.views import CostLine, InvoiceView, ReconciledLine
from lastro.units import Money

#: Bills are in cents; what differs by less than half of one is the same amount.
_SAME = Decimal("0.005")


def reconcile(lines: Sequence[CostLine], invoices: Sequence[InvoiceView]) -> tuple[ReconciledLine, ...]:
    """Return what both bills say of each thing, in the order of the journal, then what only invoices have.

    Lines belong together by their reference: a machine's id, an order, the name of a disk or of a move, the
    reference of an expense. Several lines of invoices for one thing are added up before they are compared.
    What was undone is not asked.
    """
    if not any(one.undone is None for one in invoices):
        return ()
    billed = _by_ref(invoices)
    found = []
    for line in lines:
        names = [name for name in dict.fromkeys((line.ref, *line.machines)) if name in billed]
        entries = [entry for name in names for entry in billed.pop(name)]
        found += _compared(line, [amount for _what, amount in entries])
    for ref, entries in billed.items():
        found += [
            ReconciledLine(
                status="invoice_only", ref=ref, what=what, invoiced=amount, journal=None, difference=None
            )
            for what, amount in entries
        ]
    return tuple(found)


def _by_ref(invoices: Sequence[InvoiceView]) -> dict[str, list[tuple[str, Money]]]:
    found: dict[str, list[tuple[str, Money]]] = {}
    for invoice in invoices:
        for line in invoice.lines if invoice.undone is None else ():
            found.setdefault(line.ref, []).append((line.what, line.amount))
    return found


def _compared(line: CostLine, amounts: Sequence[Money]) -> list[ReconciledLine]:
    ref = line.ref or line.what
    if not amounts:
        return [
            ReconciledLine(
                status="journal_only",
                ref=ref,
                what=line.what,
                invoiced=None,
                journal=line.amount,
                difference=None,
            )
        ]
    sums: dict[str, Money] = {}
    for amount in amounts:
        had = sums.get(amount.currency)
        sums[amount.currency] = amount if had is None else had + amount
    return [_one(line, ref, invoiced) for invoiced in sums.values()]


def _one(line: CostLine, ref: str, invoiced: Money) -> ReconciledLine:
    own, difference, status = line.amount, None, "unknown"
    if own is not None and own.currency == invoiced.currency:
        difference = Money(invoiced.amount - own.amount, own.currency)
        status = "matched" if abs(difference.amount) < _SAME else "differs"
    return ReconciledLine(
        status=status, ref=ref, what=line.what, invoiced=invoiced, journal=own, difference=difference
    )

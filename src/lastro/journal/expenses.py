"""What a person typed of money: expenses, rates of exchange, invoices. Folded from home's stream. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from decimal import Decimal
from typing import Any

from lastro.journal.events import EventType
from lastro.journal.streams import Event
from lastro.journal.views import CostLine, ExpenseView, InvoiceLine, InvoiceView, RateView
from lastro.locale import _
from lastro.units import Money


def expense_views(home: Sequence[Event]) -> tuple[ExpenseView, ...]:
    """Return every expense, oldest first; one that was undone says why, and stays."""
    found: dict[str, ExpenseView] = {}
    for event in home:
        facts = event.facts
        if event.type is EventType.EXPENSE_ADDED:
            found[facts["id"]] = ExpenseView(
                id=facts["id"],
                what=facts["what"],
                amount=Money.from_json(facts["amount"]),
                day=facts["day"],
                ref=facts["ref"],
                added_at=event.at,
            )
        elif event.type is EventType.EXPENSE_UNDONE and facts["id"] in found:
            found[facts["id"]] = replace(found[facts["id"]], undone=facts["why"])
    return tuple(found.values())


def expense_lines(expenses: Sequence[ExpenseView]) -> tuple[CostLine, ...]:
    """Return a line of the bill for each expense that counts."""
    return tuple(
        CostLine(
            what=one.what,
            quantity=_("paid on {day}").format(day=one.day),
            amount=one.amount,
            source=_("typed, {ref}").format(ref=one.ref) if one.ref else _("typed"),
            kind="expense",
            origin="typed",
            ref=one.ref or one.id,
        )
        for one in expenses
        if one.undone is None
    )


def invoice_views(home: Sequence[Event]) -> tuple[InvoiceView, ...]:
    """Return every invoice, oldest first; the same number again counts as said last."""
    found: dict[str, InvoiceView] = {}
    for event in home:
        facts = event.facts
        if event.type is EventType.INVOICE_ADDED:
            found[facts["number"]] = InvoiceView(
                number=facts["number"],
                day=facts["day"],
                lines=tuple(map(_invoice_line, facts["lines"])),
                source=facts["source"],
                added_at=event.at,
            )
        elif event.type is EventType.INVOICE_UNDONE and facts["number"] in found:
            found[facts["number"]] = replace(found[facts["number"]], undone=facts["why"])
    return tuple(found.values())


def _invoice_line(facts: Mapping[str, Any]) -> InvoiceLine:
    return InvoiceLine(ref=facts["ref"], what=facts["what"], amount=Money.from_json(facts["amount"]))


def rate_views(home: Sequence[Event], plan: Mapping[str, Any] | None) -> tuple[RateView, ...]:
    """Return the rates of exchange that are known: of the frozen plan, and those that a person gave since."""
    frozen = ((plan or {}).get("tariffs") or {}).get("rates") or ()
    found = [
        RateView(
            base=one["base"],
            to=one["to"],
            rate=Decimal(one["rate"]),
            day=one["seen"],
            source=one["source"],
        )
        for one in frozen
    ]
    for event in home:
        if event.type is EventType.RATE_GIVEN:
            facts = event.facts
            found.append(
                RateView(
                    base=facts["base"],
                    to=facts["to"],
                    rate=Decimal(facts["rate"]),
                    day=facts["day"],
                    source=facts["source"],
                )
            )
    return tuple(found)

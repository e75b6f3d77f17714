"""The account for programs: lines, what of them bought nothing, what may be billed yet, invoices. Pure."""

from __future__ import annotations

from typing import Any

from lastro.journal.views import CostLine, CostView, RateView, ReconciledLine, ShareView, StillBilled
from lastro.units import Money


def account_json(bill: CostView) -> dict[str, Any]:
    """Return what the account says beside its total."""
    return {
        "idle": _share(bill.idle) if bill.idle else None,
        "lost": _share(bill.lost) if bill.lost else None,
        "may_bill": [_still(one) for one in bill.may_bill],
        "rates": [_rate(one) for one in bill.rates],
        "invoices": [_reconciled(one) for one in bill.reconciled],
    }


def line_json(line: CostLine) -> dict[str, Any]:
    """Return one line of the bill."""
    return {
        "kind": line.kind,
        "what": line.what,
        "ref": line.ref,
        "quantity": line.quantity,
        "unit_price": _money(line.unit_price),
        "per": line.per,
        "amount": _money(line.amount),
        "source": line.source,
        "origin": line.origin,
        "reason": line.reason,
        "running": line.running,
        "machines": list(line.machines),
    }


def _money(value: Money | None) -> dict[str, str] | None:
    return None if value is None else value.as_json()


def _share(share: ShareView) -> dict[str, Any]:
    return {
        "seconds": share.seconds,
        "gpu_hours": share.gpu_hours,
        "amounts": [amount.as_json() for amount in share.amounts],
        "reason": share.reason,
        "lines": list(share.lines),
    }


def _still(one: StillBilled) -> dict[str, Any]:
    return {"what": one.what, "unit_price": _money(one.unit_price), "per": one.per, "why": one.why}


def _rate(one: RateView) -> dict[str, Any]:
    return {"from": one.base, "to": one.to, "rate": f"{one.rate:f}", "day": one.day, "source": one.source}


def _reconciled(one: ReconciledLine) -> dict[str, Any]:
    return {
        "status": one.status,
        "ref": one.ref,
        "what": one.what,
        "invoiced": _money(one.invoiced),
        "journal": _money(one.journal),
        "difference": _money(one.difference),
    }

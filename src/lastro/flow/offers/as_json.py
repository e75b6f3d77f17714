"""Offers as JSON: money as amount and currency, sizes in bytes, times in seconds, unknown as null."""

from __future__ import annotations

import datetime as dates
from collections.abc import Mapping
from dataclasses import asdict
from decimal import Decimal
from enum import Enum
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from lastro.flow.offers.importing import Imported
from lastro.flow.offers.listing import Listed, Listing
from lastro.spec.offers import Offers
from lastro.units import Money


def listing_json(listing: Listing, file: Offers, path: Path) -> dict[str, Any]:
    """Return what `lastro offers --json` prints, without its exit code."""
    return {
        "file": str(path),
        "today": listing.today.isoformat(),
        "offers": [
            {"class": one_class.name, **_offer(one)}
            for one_class in listing.classes
            for one in one_class.offers
        ],
        "left_out": dict(listing.left_out),
        "disks": plain(file.disks),
        "egress": plain(file.egress),
        "rates": plain(file.rates),
        "balances": plain(file.balances),
        "doubts": [asdict(doubt) for doubt in listing.doubts],
    }


def imported_json(imported: Imported) -> dict[str, Any]:
    """Return what `lastro offers import --json` prints, without the file and the exit code."""
    return {
        "offers": plain(imported.offers),
        "mended": plain(imported.mended),
        "unreadable": dict(imported.unreadable),
        "left_out": dict(imported.left_out),
    }


def _offer(one: Listed) -> dict[str, Any]:
    derived = one.derived
    return {
        **plain(one.offer),
        "machine_price": plain(one.offer.machine_price),
        "machine_by_hour": plain(one.offer.machine_by_hour),
        "not_by_hour": list(one.offer.not_by_hour),
        "renewal_price": plain(one.offer.renewal_price),
        "age_days": one.age_days,
        "derived": {"gpu_hour": plain(derived.amount), "why": derived.why} if derived else None,
        "doubts": [asdict(doubt) for doubt in one.doubts],
    }


def plain(value: Any) -> Any:
    """Return a row of an offers file, or anything in it, as JSON's kinds of values."""
    if isinstance(value, Money):
        return value.as_json()
    if isinstance(value, BaseModel):
        fields = type(value).model_fields
        return {field.alias or name: plain(getattr(value, name)) for name, field in fields.items()}
    if isinstance(value, Mapping):
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, dates.date):
        return value.isoformat()
    if isinstance(value, dates.timedelta):
        return value.total_seconds()
    return str(value) if isinstance(value, Decimal) else value

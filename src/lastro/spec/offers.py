"""What can be rented: lots with a price for their term, machines by the hour, and spot."""

from __future__ import annotations

import datetime as dates
from typing import Annotated

from pydantic import BeforeValidator, Field, model_validator

from lastro.billing import Lease, LeaseKind
from lastro.locale import _
from lastro.spec.base import (
    AlsoWritten,
    Amount,
    Contradiction,
    Duration,
    DurationOrZero,
    Problem,
    Size,
    Strict,
    Text,
    as_tuple,
    shown,
)


def _kind(value: object) -> object:
    if isinstance(value, LeaseKind):
        return value
    try:
        return LeaseKind(value)
    except ValueError as error:
        raise ValueError(_("{value} is none of: lot, hourly, spot").format(value=shown(value))) from error


def _unknown(value: object) -> object:
    return None if value == "unknown" else value


def _date(value: object) -> object:
    if isinstance(value, str):
        try:
            return dates.date.fromisoformat(value)
        except ValueError:
            pass
    elif value is None or isinstance(value, dates.date):
        return value
    raise ValueError(_("{value} is not a date such as 2026-11-30").format(value=shown(value)))


class Offer(Strict):
    """One thing that can be rented. A price of None is unknown, never free.

    `price` is for the whole term of a lot, and for one hour otherwise. `interruptions` is the mean time
    between them. `boot` is how long its machines take to come up. `provider` None: anywhere.
    """

    name: Text
    kind: Annotated[LeaseKind, BeforeValidator(_kind)]
    price: Annotated[Amount | None, BeforeValidator(_unknown), AlsoWritten({"const": "unknown"})]
    term: Duration | None = None
    unit: Duration | None = None
    minimum: DurationOrZero | None = None
    gpu: Text | None = None
    gpus: Annotated[int, Field(ge=0, le=1024)] = 1
    memory: Size | None = None
    region: Text | None = None
    jurisdiction: Text | None = None
    source: Text = "declared"
    seen: Annotated[dates.date | None, BeforeValidator(_date)] = None
    capacity: Annotated[int, Field(ge=0)] | None = None
    provider: Text | None = None
    boot: DurationOrZero | None = None
    interruptions: Duration | None = None

    @property
    def boot_seconds(self) -> float:
        """How long a machine of this offer takes to come up; 0.0 when the file does not say."""
        return self.boot.total_seconds() if self.boot else 0.0

    def lease(self) -> Lease:
        """Return this offer taken now, its price copied."""
        return Lease(
            offer=self.name,
            kind=self.kind,
            price=self.price,
            unit_seconds=int(self.unit.total_seconds()) if self.unit else 1,
            minimum_seconds=int(self.minimum.total_seconds()) if self.minimum else 0,
            term_seconds=int(self.term.total_seconds()) if self.term else None,
            source=f"{self.source}, {self.seen.isoformat()}" if self.seen else self.source,
        )

    @model_validator(mode="after")
    def _fits_its_kind(self) -> Offer:
        problems = []
        if self.kind is LeaseKind.LOT:
            if self.term is None:
                problems.append(Problem((), _("a lot needs its term"), _("for example term: 3d")))
            problems += [
                Problem((key,), _("a lot has one price for its term, so {key} means nothing").format(key=key))
                for key in ("unit", "minimum")
                if getattr(self, key) is not None
            ]
        elif self.term is not None:
            problems.append(
                Problem(
                    ("term",), _("{kind} has no term; its price is for one hour").format(kind=self.kind.value)
                )
            )
        for key in ("term", "unit", "minimum"):
            duration = getattr(self, key)
            if duration is not None and duration.total_seconds() % 1:
                problems.append(Problem((key,), _("time is billed in whole seconds")))
        if problems:
            raise Contradiction(*problems)
        return self


class Offers(Strict):
    """An offers file."""

    offers: Annotated[tuple[Offer, ...], BeforeValidator(as_tuple)]

    @model_validator(mode="after")
    def _names_once(self) -> Offers:
        names = [offer.name for offer in self.offers]
        problems = [
            Problem(("offers", index, "name"), _("another offer is named {name} too").format(name=name))
            for index, name in enumerate(names)
            if name in names[:index]
        ]
        if problems:
            raise Contradiction(*problems)
        return self

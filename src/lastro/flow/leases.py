"""Leases that were bought by hand, on a website: kept in home's journal, and used by the provider `here`."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timezone
from pathlib import Path

from lastro.billing import Lease, LeaseKind
from lastro.clock import Clock, iso
from lastro.errors import UsageError
from lastro.flow.freeze import draw_up, open_session
from lastro.flow.ownership import require_owner
from lastro.flow.session import Session
from lastro.journal.events import EventType
from lastro.journal.views import LeaseView
from lastro.locale import _
from lastro.paths import Home
from lastro.records import dataclass
from lastro.units import Money


@dataclass(frozen=True, kw_only=True)
class Bought:
    """What a person types in of a lease. `until`: its end, aware. A lot's price is for all of it."""

    order: str
    price: Money
    until: datetime
    kind: LeaseKind = LeaseKind.LOT
    host: str = "here"


def add_lease(campaign_file: Path, bought: Bought, home: Home, clock: Clock) -> LeaseView:
    """Keep a lease for a campaign, also before its first run; the same order again corrects it.

    Raises:
        UsageError: it is over already, or a living `lastro run` owns the campaign.
        Fenced: another home drives it.
    """
    now = clock.now()
    if bought.until <= now:
        raise UsageError(
            _("a lease until {until} is over: it is {now}").format(until=iso(bought.until), now=iso(now)),
            hint=_("times without a zone are those of this computer; add one, such as +00:00"),
        )
    draft = draw_up(campaign_file, clock)
    session = open_session(draft, home, clock)
    require_owner(session)
    lease = Lease(
        offer=bought.order,
        kind=bought.kind,
        price=bought.price,
        source=_("declared on {day}").format(day=f"{now:%Y-%m-%d}"),
        ends_at=iso(bought.until),
        order=bought.order,
    )
    with session.owned() as writer:
        if writer is None:
            raise UsageError(
                _("campaign {name} is being run; a lease cannot be added now").format(
                    name=session.facts.name
                ),
                hint=_("end the command first (Ctrl-C leaves the runs running), add it, and run again"),
            )
        writer.append(EventType.LEASE_ADDED, order=bought.order, host=bought.host, lease=lease.as_json())
        session.mirror()
    return next(one for one in session.view().leases if one.order == bought.order)


def leases_of(session: Session) -> Sequence[LeaseView]:
    """Return the leases of a campaign that were bought by hand."""
    return session.view().leases


def parse_until(text: str) -> datetime:
    """Read `2026-12-03T12:00`, of this computer's zone unless it names one. Raises ValueError."""
    try:
        moment = datetime.fromisoformat(text.replace("Z", "+00:00"))
    except ValueError as error:
        raise ValueError(
            _("{text!r} is not a moment such as 2026-12-03T12:00 or 2026-12-03T12:00+00:00").format(text=text)
        ) from error
    return moment.astimezone(timezone.utc)

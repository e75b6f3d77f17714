"""`lastro close --take-over`: a home that knows nothing of a campaign yet ends what another one has left."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from lastro.clock import Clock
from lastro.flow.freeze import draw_up, open_session
from lastro.flow.halting import request_halt
from lastro.flow.money import may_bill
from lastro.flow.ownership import own
from lastro.flow.releasing import let_go
from lastro.flow.rented import rented
from lastro.flow.session import Session, known_sessions
from lastro.flow.undriven import undriven
from lastro.locale import _
from lastro.paths import Home
from lastro.providers.registry import provider_for


def session_to_take(home: Home, clock: Clock, campaign_file: Path) -> Session:
    """Return the session of a campaign file, also where this home has never seen the campaign.

    Raises:
        CampaignInvalid: there is no such file, or it says nothing that holds.
        ProviderError: the computer that the disk lies on cannot be reached.
    """
    wanted = str(campaign_file.absolute())
    known = [one for one in known_sessions(home, clock) if one.facts.campaign_file == wanted]
    if known:
        return known[-1]
    draft = draw_up(campaign_file, clock)
    return open_session(draft, home, clock, provider_for(draft.plan.provider, home, clock))


def take_over(session: Session, clock: Clock, tell: Callable[[str], None]) -> None:
    """Drive a campaign from here on, have what runs saved and ended, and let every machine go.

    What cannot be asked from here stays, and is told as what may bill on.

    Raises:
        UsageError: it was never frozen, or a `lastro run` of this home drives it.
        GuardRefused: something of value lies on a machine only.
        ProviderError: a machine could not be let go.
    """
    session.require_disk()
    with undriven(session) as held:
        if held.view.closed is not None:
            return
        own(session, held.writer, clock, take_over=True)
        request_halt(session, _("another home takes over, and closes"), None)
        let_go(session, held.writer, held.plan, clock, tell)
        for machine in rented(session.view()):
            tell(may_bill(machine))

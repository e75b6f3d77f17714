"""The right to end a campaign that no `lastro run` drives now."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from lastro.errors import UsageError
from lastro.flow.session import Session
from lastro.journal.streams import StreamWriter
from lastro.journal.views import CampaignView
from lastro.locale import _
from lastro.plan.model import Plan
from lastro.records import dataclass


@dataclass(frozen=True, kw_only=True)
class Undriven:
    """The writer of its stream, what its streams tell by now, and its frozen plan."""

    writer: StreamWriter
    view: CampaignView
    plan: Plan


@contextlib.contextmanager
def undriven(session: Session) -> Iterator[Undriven]:
    """Hold a campaign, so that no `lastro run` begins meanwhile.

    Raises:
        UsageError: it was never frozen, or a `lastro run` of this home drives it.
    """
    with session.owned() as writer:
        if writer is None:
            raise UsageError(
                _("a `lastro run` drives this campaign; it closes it by itself"),
                hint=_("end it first with `lastro stop`"),
            )
        session.ingest()
        view = session.view()
        if view.plan is None:
            raise UsageError(_("this campaign has no frozen plan"), hint=_("run it with `lastro run`"))
        yield Undriven(writer=writer, view=view, plan=Plan.from_json(view.plan))

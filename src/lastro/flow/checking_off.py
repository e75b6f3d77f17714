"""The checklist of a campaign's providers: what is open for its plan, and a file to begin with."""

from __future__ import annotations

import datetime as dates
from pathlib import Path

from lastro import atomic
from lastro.clock import Clock
from lastro.errors import UsageError
from lastro.locale import _
from lastro.plan.checklist import Needed, State, needed_of, states, template
from lastro.records import dataclass
from lastro.spec.checklist import load_checklist
from lastro.spec.load import CHECKLIST, LoadedCampaign, load_campaign, load_offers_file


@dataclass(frozen=True, kw_only=True)
class Listed:
    """How the items stand. `path`: of the file; `is_there`: whether it was written yet."""

    path: Path
    is_there: bool
    states: tuple[State, ...]

    @property
    def days(self) -> float | None:
        """How long all that is open takes when it is begun together; None where that is not known of one."""
        takes = [state.takes_days for state in self.states if state.is_open]
        known = [days for days in takes if days is not None]
        return max(known, default=0.0) if len(known) == len(takes) else None


def checklist_of(campaign_file: Path, clock: Clock) -> Listed:
    """Return how the checklist stands for every provider that the campaign's offers name.

    Raises:
        CampaignInvalid: one of the files is not valid.
    """
    loaded = load_campaign(campaign_file)
    today = clock.now().date()
    path = loaded.folder / CHECKLIST
    checklist = load_checklist(path)
    found = states(checklist, _needed(loaded, today), today)
    return Listed(path=path, is_there=checklist is not None, states=found)


def write_template(campaign_file: Path, clock: Clock) -> Path:
    """Write a checklist to be filled in, beside the campaign file. Returns its path.

    Raises:
        UsageError: there is one, or the offers name no provider.
    """
    loaded = load_campaign(campaign_file)
    today = clock.now().date()
    needed = _needed(loaded, today)
    if not needed:
        raise UsageError(
            _("no offer of this campaign names a provider, so there is nothing to check off"),
            hint=_("write `provider: NAME` at the offers; this box and `local` need no checklist"),
        )
    path = loaded.folder / CHECKLIST
    if not atomic.claim(path, template(needed, today).encode()):
        raise UsageError(
            _("{path} is there already").format(path=path), hint=_("it is yours: fill it in by hand")
        )
    return path


def _needed(loaded: LoadedCampaign, today: dates.date) -> tuple[Needed, ...]:
    offers = load_offers_file(loaded.offers_path).offers if loaded.offers_path else ()
    spec = loaded.spec
    until = today + (spec.window or dates.timedelta(0))
    return needed_of(offers, spec.machines, spec.jurisdictions, until)

"""The whole campaign in small, on this computer's processors: does the path work, closing included?

It has a home and a disk of its own below the real home, so that it never mixes with the real campaign.
"""

from __future__ import annotations

from pathlib import Path

from lastro.clock import Clock
from lastro.errors import DeliverableRejected, NotProven
from lastro.flow.alone import alone
from lastro.flow.campaign import Outcome, Wish, run_campaign
from lastro.flow.driven import Tell
from lastro.flow.own_home import key_of, own_home
from lastro.flow.small import ENVIRONMENT, tiny, with_environment
from lastro.locale import _
from lastro.paths import Home
from lastro.records import dataclass
from lastro.spec.campaign import Campaign
from lastro.spec.load import load_campaign
from lastro.view.parts import Page


@dataclass(frozen=True, kw_only=True)
class Smoke:
    """How it went. `failed`: what did not work, in words; empty when everything did."""

    outcome: Outcome
    failed: tuple[str, ...]
    exit_code: int


def run_smoke(campaign_file: Path, home: Home, clock: Clock, tell: Tell) -> Smoke:
    """Run a campaign from its file to its report with tiny inputs.

    Raises:
        LastroError: with the exit code of its kind.
    """
    loaded = load_campaign(campaign_file)
    tell_left_out(loaded.spec, tell)
    place = home.smoke(key_of(loaded.spec.campaign, loaded.folder))
    busy = _("another `lastro run --smoke` of this campaign is under way")
    with alone(place, busy), own_home(place, clock) as own, with_environment(ENVIRONMENT):
        tell(_("smoke: in {folder}").format(folder=own.root))
        wish = Wish(campaign_file=campaign_file, disk=own.root / "disk", adapt=tiny)
        outcome = run_campaign(wish, own, clock, tell)
    failed = what_failed(outcome.page, outcome.halted)
    return Smoke(outcome=outcome, failed=failed, exit_code=exit_code_of(outcome, failed))


def tell_left_out(campaign: Campaign, tell: Tell) -> None:
    """Name the runs that are the same as another one in small."""
    left_out = set(campaign.variants) - set(tiny(campaign).variants)
    if left_out:
        tell(
            _("the same as another run when tiny, so left out: {names}").format(
                names=", ".join(sorted(left_out))
            )
        )


def what_failed(page: Page, halted: str | None) -> tuple[str, ...]:
    """Return what did not work; that no variant is better is no failure of the path."""
    failed = [halted] if halted is not None else []
    carried = {run.id: run for run in page.runs if run.priority != "exploratory"}
    failed += [
        _("{run}: {status}, {why}").format(run=run.name, status=run.status, why=run.why)
        for run in carried.values()
        if run.status != "completed"
    ]
    failed += [
        _("{run}: {name} is {status}: {why}").format(
            run=carried[item.run].name, name=item.name, status=item.status, why=item.why
        )
        for item in page.deliverables
        if item.run in carried and carried[item.run].status == "completed" and item.status != "accepted"
    ]
    return tuple(failed)


def exit_code_of(outcome: Outcome, failed: tuple[str, ...]) -> int:
    """Return the exit code of a campaign in small: 0 when its path works, whatever its answer is."""
    if not failed:
        return 0
    if outcome.exit_code:
        return outcome.exit_code
    rejected = any(item.status == "rejected" for item in outcome.page.deliverables)
    return DeliverableRejected.exit_code if rejected else NotProven.exit_code

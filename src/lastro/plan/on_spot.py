"""What a calendar becomes on machines that are taken away: longer by what starts, saves and losses take."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from datetime import timedelta

from lastro.billing import LeaseKind
from lastro.checkpoint.interval import SaveCost
from lastro.errors import PlanError, UsageError
from lastro.locale import _
from lastro.plan.interruption import Interruption, Tolerance, judge_tolerance, plan_saves
from lastro.plan.intervals import GPU, Work, hours_on
from lastro.plan.lifetimes import Lifetimes, memoryless, observed_lifetimes
from lastro.plan.spot_lives import Work as SpotWork
from lastro.plan.spot_lives import expect_spot
from lastro.records import dataclass
from lastro.spec.campaign import Campaign
from lastro.spec.offers import Offer

#: Where nobody has measured a save or a new start. Both are named with the numbers that hang on them.
ASSUMED_SAVE = timedelta(seconds=20)
ASSUMED_RESTART = timedelta(minutes=5)


@dataclass(frozen=True, kw_only=True)
class OnSpot:
    """How much longer each interval takes, by its index, as a factor; and what that hangs on.

    `unknown`: why nothing can be expected; the factors are empty then, and the cost is unknown.
    """

    factors: Mapping[int, float] = field(default_factory=dict)
    note: str | None = None
    unknown: str | None = None


def on_spot(campaign: Campaign, offer: Offer, work: Work) -> OnSpot:
    """Return what interruptions make of the intervals that hold a GPU; nothing for machines that stay."""
    if offer.kind is not LeaseKind.SPOT:
        return OnSpot()
    lives = lifetimes_of(offer)
    if lives is None:
        return OnSpot(unknown=_("nobody knows how long machines of {offer} live").format(offer=offer.name))
    saves = saves_of(campaign, offer, lives)
    if saves.every is None:
        return OnSpot(unknown=saves.why)
    stall = _save(campaign).total_seconds() / 3600
    factors, most = {}, 0.0
    for index, one in enumerate(work.intervals):
        hours = hours_on(one, offer.gpu)
        if one.holds != GPU or hours is None:
            continue
        run = SpotWork(
            hours=hours.likely,
            start=offer.boot_seconds / 3600,
            restore=_restart(campaign).total_seconds() / 3600,
            every=min(saves.every.total_seconds() / 3600, hours.likely),
            stall=stall,
        )
        try:
            expected = expect_spot(run, offer.lease(), lives)
        except (PlanError, UsageError) as error:
            return OnSpot(unknown=f"{one.name}: {error.message}")
        # The first start is billed with the lease; the others are part of what interruptions take.
        factors[index] = max(1.0, (expected.held - run.start) / hours.likely)
        most += expected.lives - 1
    text = _("{count:.1f} interruptions are expected, a save every {every:.0f} min; {assumed}")
    note = text.format(count=most, every=saves.every.total_seconds() / 60, assumed=_origin(campaign, lives))
    return OnSpot(factors=factors, note=note)


def spot_work(campaign: Campaign, offer: Offer, hours: float, lives: Lifetimes) -> SpotWork | None:
    """Return so many hours of work as they are done on an offer's machines; None: nothing would be kept."""
    saves = saves_of(campaign, offer, lives)
    if saves.every is None or hours <= 0:
        return None
    return SpotWork(
        hours=hours,
        start=offer.boot_seconds / 3600,
        restore=_restart(campaign).total_seconds() / 3600,
        every=min(saves.every.total_seconds() / 3600, hours),
        stall=_save(campaign).total_seconds() / 3600,
    )


def lifetimes_of(offer: Offer) -> Lifetimes | None:
    """Return how long machines of an offer live: as observed, else from their mean; None: nobody knows."""
    if offer.lifetimes:
        return observed_lifetimes(offer.lifetimes, origin=offer.name)
    if offer.interruptions is not None:
        return memoryless(offer.interruptions.total_seconds() / 3600, origin=offer.name)
    return None


def saves_of(campaign: Campaign, offer: Offer, lives: Lifetimes) -> Interruption:
    """Return how often to save on an offer, from what a save and a new start take, measured or assumed."""
    save = _save(campaign)
    restart = _restart(campaign) + timedelta(seconds=offer.boot_seconds)
    return plan_saves(
        SaveCost(blocked=save, durable=save),
        lives,
        restart=restart,
        max_loss=campaign.checkpoint.max_loss,
    )


def tolerance_of(campaign: Campaign, lives: Lifetimes | None) -> Tolerance | None:
    """Hold the loss that the campaign tolerates against what a save costs; None: it sets no bound."""
    max_loss, save = campaign.checkpoint.max_loss, campaign.interruption.save
    if max_loss is None:
        return None
    measured = None if save is None else SaveCost(blocked=save, durable=save)
    return judge_tolerance(max_loss, measured, between=timedelta(hours=lives.mean) if lives else None)


def _save(campaign: Campaign) -> timedelta:
    return campaign.interruption.save or ASSUMED_SAVE


def _restart(campaign: Campaign) -> timedelta:
    return campaign.interruption.restart or ASSUMED_RESTART


def _origin(campaign: Campaign, lives: Lifetimes) -> str:
    parts = [
        _("{count} lives were observed").format(count=len(lives.hours))
        if lives.observed
        else _("only the mean life of {hours:.1f} h is known").format(hours=lives.mean)
    ]
    if campaign.interruption.save is None:
        parts.append(_("a save of {seconds:.0f} s is assumed").format(seconds=ASSUMED_SAVE.total_seconds()))
    if campaign.interruption.restart is None:
        minutes = ASSUMED_RESTART.total_seconds() / 60
        parts.append(_("a restart of {minutes:.0f} min is assumed").format(minutes=minutes))
    return ", ".join(parts)

"""Which checkpoint of a run stays as the best one: as the file says, else by the decision. Pure."""

from __future__ import annotations

from lastro.rules import Best
from lastro.spec.campaign import Campaign


def best_of(campaign: Campaign) -> Best | None:
    """Return the metric by which one checkpoint stays as the best; None: there is no such metric.

    Nobody has to repeat what the campaign is decided by. It has no effect on a job that does not log it, and
    none on a program's own saves, which say nothing of metrics.
    """
    given = campaign.checkpoint.policy().best
    if given is not None:
        return given
    if not is_by_decision(campaign):
        return None
    assert campaign.decision is not None
    return Best(metric=campaign.decision.metric, higher=campaign.decision.better == "higher")


def is_by_decision(campaign: Campaign) -> bool:
    """Say whether the metric is that of the decision, because the file names no other."""
    saves = campaign.resume == "training" and campaign.checkpoints is None
    return saves and campaign.decision is not None and campaign.checkpoint.best is None

"""A plan from a campaign, its offers and what is known of its code and corpus."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from lastro.clock import iso
from lastro.errors import PlanError
from lastro.locale import _
from lastro.plan.calendar import make_calendar
from lastro.plan.model import DecisionRule, Deliverable, Metric, Plan, PlannedRun
from lastro.plan.price import choose, price_options
from lastro.plan.remarks import FAIL, remarks
from lastro.rules import Corpus, HangPolicy
from lastro.spec import run_id as ids
from lastro.spec.campaign import Campaign
from lastro.spec.offers import Offer

__all__ = ["Code", "Plan", "PlannedRun", "is_possible", "make_plan", "require_possible"]


@dataclass(frozen=True, kw_only=True)
class Code:
    """What is known of the code.

    `excludes`: what was left out of it, so that its digest can be checked again. `only`: the files that are
    the code; None: everything that was not left out. `git`: commit and diff digest, recorded for people.
    """

    digest: str
    excludes: Sequence[str] = ()
    only: Sequence[str] | None = None
    git: Mapping[str, Any] | None = None


def make_plan(
    campaign: Campaign,
    offers: Sequence[Offer],
    *,
    created_at: datetime,
    code: Code,
    corpus: Corpus | None = None,
    disk: str | None = None,
) -> Plan:
    """Plan a campaign. The same arguments give the same plan, with the same digest.

    Args:
        campaign: the campaign file's content; its `provider` is the one that is used.
        offers: what can be rented; empty when nothing is.
        created_at: now, aware.
        code: what is known of the code; its digest is part of every run's id.
        corpus: the fixed input with its digest; None for a campaign without one.
        disk: where the disk is, as it will be shown.
    """
    calendar = make_calendar(campaign)
    options = price_options(campaign, offers, calendar)
    choice = choose(offers, options)
    window = campaign.window.total_seconds() / 3600 if campaign.window else None
    total = calendar.total
    return Plan(
        campaign=campaign.campaign,
        question=campaign.question,
        created_at=iso(created_at),
        provider=campaign.provider,
        machines=campaign.machines,
        disk=disk,
        seed=campaign.seed,
        resume=campaign.resume,
        setup=campaign.setup,
        runs=_runs(campaign, code.digest, corpus),
        stop=campaign.stop,
        checkpoint=campaign.checkpoint.policy(),
        checkpoints=campaign.checkpoints,
        resume_arg=campaign.resume_arg,
        deliverables=_deliverables(campaign),
        decision=_decision(campaign),
        corpus=corpus,
        code_digest=code.digest,
        code_excludes=tuple(code.excludes),
        code_only=tuple(code.only) if code.only is not None else None,
        code_git=dict(code.git) if code.git else None,
        want=dict(campaign.want),
        jurisdictions=campaign.jurisdictions,
        window_hours=window,
        budget=campaign.budget,
        calendar=calendar.slots,
        unplaced=calendar.unplaced,
        total_hours=total,
        slack_hours=None if window is None or total is None else window - total.likely,
        options=options,
        lease=choice.offer.lease() if choice.offer else None,
        lease_why=choice.why,
        boot_seconds=choice.offer.boot_seconds if choice.offer else 0.0,
        remarks=remarks(campaign, calendar, options, choice),
        idle_seconds=campaign.idle.total_seconds() if campaign.idle else None,
        hang=HangPolicy(least=None if campaign.hang == "off" else campaign.hang.total_seconds()),
        max_weather=campaign.max_weather,
        silence_seconds=campaign.silence.total_seconds(),
    )


def is_possible(plan: Plan) -> bool:
    """Say whether the plan's own numbers let it work."""
    return all(remark.level != FAIL for remark in plan.remarks)


def require_possible(plan: Plan) -> None:
    """Raise PlanError when the plan's own numbers say that it cannot work."""
    impossible = [remark.text for remark in plan.remarks if remark.level == FAIL]
    if impossible:
        raise PlanError(
            "; ".join(impossible),
            hint=_(
                "reduce or drop an optional variant, widen the window or the budget, or name other offers"
            ),
        )


def _runs(campaign: Campaign, code_digest: str, corpus: Corpus | None) -> tuple[PlannedRun, ...]:
    return tuple(
        PlannedRun(
            id=ids.run_id(
                config=run.config,
                command=run.command,
                corpus_digest=corpus.digest if corpus else None,
                code_digest=code_digest,
                seed=campaign.seed,
            ),
            name=run.name,
            priority=run.priority,
            config=run.config,
            changes=run.changes,
            command=run.argv,
        )
        for run in campaign.runs()
    )


def _deliverables(campaign: Campaign) -> tuple[Deliverable, ...]:
    return tuple(
        Deliverable(
            name=name,
            path=item.path,
            key=item.key,
            rows=item.rows,
            metric=Metric(**item.metric.model_dump()) if item.metric else None,
            reload=item.reload,
            compare=item.compare,
            recorded=item.recorded,
            base=item.base.model_dump() if item.base else None,
            pickle=item.pickle,
        )
        for name, item in campaign.deliverables.items()
    )


def _decision(campaign: Campaign) -> DecisionRule | None:
    rule = campaign.decision
    if rule is None:
        return None
    return DecisionRule(
        metric=rule.metric, better=rule.better, adopt_margin=rule.adopt_margin, over=rule.over, unit=rule.unit
    )

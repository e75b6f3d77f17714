"""A plan from a campaign, its offers and what is known of its code and corpus."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from lastro.clock import iso
from lastro.plan.best import best_of
from lastro.plan.bill import disk_for
from lastro.plan.by_host import leases_at
from lastro.plan.calendar import Calendar, lay_out, without_unknown
from lastro.plan.candidates import Candidate, Protocol, Question, reductions, whole
from lastro.plan.disk_need import Measured, disk_need, state_of
from lastro.plan.findings import Known, findings
from lastro.plan.findings_of_design import what_it_decides
from lastro.plan.ladder import ladder_of
from lastro.plan.learning import informed
from lastro.plan.model import DecisionRule, Deliverable, Metric, Plan, PlannedRun
from lastro.plan.on_spot import lifetimes_of
from lastro.plan.options import Options, options_of
from lastro.plan.parts import REDUCED, WHOLE
from lastro.plan.points import decision_points
from lastro.plan.risk import Risk
from lastro.plan.stages import stages_digest
from lastro.plan.tariffs import tariffs_of
from lastro.records import dataclass
from lastro.rules import Corpus, ExpectedSave, HangPolicy
from lastro.spec import run_id as ids
from lastro.spec.campaign import Campaign
from lastro.spec.checklist import Checklist
from lastro.spec.offers import Offers


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


def make_plan(  # noqa: PLR0913 - each is an input of its own, and all but two are named
    campaign: Campaign,
    market: Offers | None,
    *,
    created_at: datetime,
    code: Code,
    corpus: Corpus | None = None,
    disk: str | None = None,
    measured: Measured | None = None,
    protocol: str = WHOLE,
    checklist: Checklist | None = None,
) -> Plan:
    """Plan a campaign. The same arguments give the same plan, with the same digest.

    Args:
        campaign: the campaign file's content; its `provider` is the one that is used.
        market: what can be rented, and what keeping and moving data costs; None when nothing is rented.
        created_at: now, aware.
        code: what is known of the code; its digest is part of every run's id.
        corpus: the fixed input with its digest; None for a campaign without one.
        disk: where the disk is, as it will be shown.
        measured: sizes that were looked at, and durations.
        protocol: whole, or reduced: what is useful only is left out until it fits.
        checklist: what was done with providers; None: nobody keeps one.
    """
    market, measured = market or Offers(offers=()), measured or Measured()
    declared, campaign = campaign, informed(campaign, measured.durations)
    question = Question(campaign=campaign, market=market, measured=measured, now=created_at)
    chosen = options_of(question, seed=campaign.seed, protocol=protocol)
    done = _protocol(campaign, chosen, protocol)
    calendar = _calendar(campaign, chosen, done)
    lead = chosen.taken or chosen.base
    need = disk_need(campaign, measured, disk_for(market, lead.offer) if lead else None)
    window, total = question.window_hours, calendar.total
    known = Known(
        campaign=campaign,
        market=market,
        measured=measured,
        calendar=calendar,
        chosen=chosen,
        need=need,
        protocol=protocol,
        now=question.now,
        checklist=checklist,
    )
    return Plan(
        campaign=campaign.campaign,
        question=campaign.question,
        created_at=iso(created_at),
        provider=campaign.provider,
        sbatch=campaign.slurm,
        machines=campaign.machines,
        disk=disk,
        seed=campaign.seed,
        resume=campaign.resume,
        setup=campaign.setup,
        runs=_runs(campaign, code.digest, corpus, done.left_out),
        stop=campaign.stop,
        checkpoint=replace(
            campaign.checkpoint.policy(),
            best=best_of(campaign),
            interruption_seconds=_between_interruptions(chosen.taken),
        ),
        checkpoints=campaign.checkpoints,
        expected_save=_expected_save(campaign, measured),
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
        slack_hours=None if window is None or total is None else round(window - total.likely, 9),
        options=chosen.options,
        option=chosen.taken.name if chosen.taken else None,
        protocol=protocol,
        left_out=done.left_out,
        stages_digest=stages_digest(declared),
        estimates=measured.durations,
        decision_points=decision_points(campaign, calendar.slots),
        disk_need=need,
        max_late=campaign.max_late,
        work_unit=campaign.work.unit if campaign.work else None,
        uncertainties=campaign.uncertainties,
        lease=chosen.taken.offer.lease() if chosen.taken else None,
        lease_why=chosen.why,
        boot_seconds=chosen.taken.offer.boot_seconds if chosen.taken else 0.0,
        findings=findings(known),
        idle_seconds=campaign.idle.total_seconds() if campaign.idle else None,
        hang=HangPolicy(least=None if campaign.hang == "off" else campaign.hang.total_seconds()),
        max_weather=campaign.max_weather,
        silence_seconds=campaign.silence.total_seconds(),
        tariffs=tariffs_of(market, chosen.taken.offer if chosen.taken else None, calendar, need),
        ladder=ladder_of(campaign, market, chosen),
        move_on=campaign.move_on.rules(),
        place=chosen.taken.offer.place if chosen.taken else None,
        leases_at=leases_at(campaign, market, chosen),
    )


def _expected_save(campaign: Campaign, measured: Measured) -> ExpectedSave | None:
    """Return how large a checkpoint of lastro's is; None: nobody knows, or the program saves by itself."""
    state = state_of(campaign, measured)
    if isinstance(state, str) or campaign.resume != "training" or campaign.checkpoints is not None:
        return None
    return ExpectedSave(bytes=state.saved, once=state.once, why=state.why)


def _between_interruptions(taken: Candidate | None) -> float | None:
    """Return the mean time between interruptions of what is taken, for the job that saves by it."""
    lives = lifetimes_of(taken.offer) if taken else None
    return lives.mean * 3600 if lives else None


def _protocol(campaign: Campaign, chosen: Options, kind: str) -> Protocol:
    if kind != REDUCED:
        return whole(campaign)
    if chosen.taken is not None:
        return chosen.taken.protocol
    return next(iter(reductions(campaign)), whole(campaign))


def _calendar(campaign: Campaign, chosen: Options, done: Protocol) -> Calendar:
    """Return the calendar of what is taken; where nothing is rented, that of whatever card is there."""
    lead = chosen.taken or chosen.base
    if lead is not None:
        return _with_effects(lead.calendar, chosen.risk)
    return lay_out(without_unknown(done.work, None), machines=campaign.machines)


def _with_effects(calendar: Calendar, risk: Risk | None) -> Calendar:
    """Add to each slot what one more hour of it does to the end."""
    effects = {effect.name: effect for effect in risk.effects} if risk else {}
    slots = tuple(
        replace(slot, critical=round(found.critical, 4), one_more_hour=round(found.one_more_hour, 4))
        if (found := effects.get(slot.name))
        else slot
        for slot in calendar.slots
    )
    return replace(calendar, slots=slots)


def _runs(
    campaign: Campaign, code_digest: str, corpus: Corpus | None, left_out: Sequence[str]
) -> tuple[PlannedRun, ...]:
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
            decides=what_it_decides(campaign, run),
        )
        for run in campaign.runs()
        if run.name not in left_out
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

"""How long runs of this home have taken, read from its journals, for plans that are made now."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from lastro.clock import from_iso
from lastro.flow.deciding import pace_in
from lastro.flow.earlier import Earlier
from lastro.journal.views import CampaignView, RunView
from lastro.plan.estimates import Observation
from lastro.plan.learned import Learned
from lastro.plan.learning import Seen, learn
from lastro.rules import Corpus
from lastro.spec.campaign import Campaign
from lastro.spec.durations import card


def learned(earlier: Earlier, campaign: Campaign, corpus: Corpus | None) -> tuple[Learned, ...]:
    """Return what runs that were measured at this home say of the runs of a campaign."""
    if not campaign.stages:
        return ()
    seen = [one for _session, view in earlier.campaigns for one in observed(view)]
    return learn(campaign, corpus.digest if corpus else None, seen)


def observed(view: CampaignView) -> Sequence[Seen]:
    """Return what a campaign says of durations: each completed run, and each pilot whose pace tells. Pure.

    A rehearsal with scripted losses says nothing of it, and of a run that worked on two kinds of machine
    nobody knows what its hours belong to.
    """
    if view.plan is None or view.faults:
        return ()
    commands = {run["id"]: tuple(run["command"]) for run in view.plan["runs"]}
    corpus = view.plan["corpus"]["digest"] if view.plan.get("corpus") else None
    cards = _cards(view)
    found = []
    for run in view.runs:
        hours, gpus = pace_in(run, view), {cards.get(life.machine) for life in run.attempts}
        if run.id not in commands or not hours or len(gpus) != 1:
            continue
        seen = Observation(hours=hours, gpu=next(iter(gpus)), when=from_iso(_ended(run)), campaign=view.name)
        found.append(Seen(command=commands[run.id], config=run.config, corpus=corpus, observation=seen))
    return found


def _ended(run: RunView) -> str:
    life = run.attempts[-1]
    return life.ended_at or life.started_at


def _cards(view: CampaignView) -> Mapping[str, str | None]:
    """Return the class of card of each machine: as preflight has seen it, else as its offer says it.

    None: no card is known of it.
    """
    seen = {facts["machine"]: (facts.get("stack") or {}).get("gpus") for facts in view.preflights}
    options = (view.plan or {}).get("options", ())
    told = {one["offer"]: one["gpu"] for option in options for one in option["holdings"] if one["gpu"]}
    found: dict[str, str | None] = {}
    for machine in view.machines:
        gpus = seen.get(machine.id)
        name = gpus[0]["name"] if gpus else told.get(machine.lease.offer) if machine.lease else None
        if machine.id is not None:
            found[machine.id] = card(name) if name else None
    return found

"""What a supervisor is told: one run of the frozen plan, on one machine. Pure."""

from __future__ import annotations

from dataclasses import field, replace
from pathlib import Path
from typing import Any

from lastro.billing import Lease, LeaseKind
from lastro.paths import Disk
from lastro.plan.model import Plan, PlannedRun
from lastro.providers.base import Machine, Traits
from lastro.records import dataclass
from lastro.rules import CodeIdentity, Corpus, ExpectedSave, Limits, Order


@dataclass(frozen=True, kw_only=True)
class Place:
    """Where an order is carried out. `expected_save`: as saves were that were made; None: as planned."""

    machine: Machine
    traits: Traits
    disk: Disk
    home_stream: str
    home_head: str
    limits: Limits = field(default_factory=Limits)
    disk_uuid: str | None = None
    committed_step: int | None = None
    expected_save: ExpectedSave | None = None


def make_order(plan: Plan, run: PlannedRun, place: Place) -> Order:
    """Return the order for one run of the plan on one machine."""
    own = place.traits.own_workdir
    return Order(
        campaign=plan.campaign,
        run=run.id,
        name=run.name,
        command=run.command,
        config=run.config,
        seed=plan.seed,
        resume=plan.resume,
        workdir=str(place.machine.workdir / run.id if own else place.machine.workdir),
        campaign_folder=str(place.disk.campaign(plan.campaign).root),
        machine=place.machine.id,
        node=place.machine.node,
        home_stream=place.home_stream,
        home_head=place.home_head,
        disk=place.disk_uuid,
        committed_step=place.committed_step,
        setup=plan.setup,
        unattended_seconds=unattended_seconds(plan, place.limits.lease),
        stop=plan.stop,
        limits=place.limits,
        checkpoint=plan.checkpoint,
        hang=plan.hang,
        checkpoints=plan.checkpoints,
        expected_save=place.expected_save or plan.expected_save,
        resume_arg=plan.resume_arg,
        corpus=plan.corpus,
        outputs=tuple(deliverable.path for deliverable in plan.deliverables),
        code=replace(code_of(plan), unpack=own, links=_links(plan.corpus, place.disk) if own else {}),
    )


def code_of(plan: Plan) -> CodeIdentity:
    """Return what the code of a plan's runs is, where it lies in the user's own folder."""
    return CodeIdentity(
        digest=plan.code_digest, unpack=False, excludes=plan.code_excludes, only=plan.code_only
    )


def unattended_seconds(plan: Plan, lease: Lease | None = None) -> float:
    """Return how long a machine waits for a word of home after everything on it has ended.

    One of a lot waits as long as the lot lasts: it is paid, and another one would be paid too.
    """
    if lease is not None and lease.kind is LeaseKind.LOT and lease.term_seconds is not None:
        return float(lease.term_seconds)
    return Order.unattended_seconds if plan.idle_seconds is None else plan.idle_seconds


def _links(corpus: Corpus | None, disk: Disk) -> dict[str, str]:
    if corpus is None:
        return {}
    return {corpus.path: str(corpus_on_disk(disk, corpus))}


def corpus_on_disk(disk: Disk, corpus: Corpus) -> Path:
    """Return where a corpus lies on a disk: by its digest, so that two versions never mix."""
    return disk.dataset(corpus.digest[:16]) / Path(corpus.path).name


def config_record(plan: Plan, run: PlannedRun) -> dict[str, Any]:
    """Return `config.json`: what the run is, readable without lastro."""
    return {
        "run": run.id,
        "name": run.name,
        "priority": run.priority,
        "campaign": plan.campaign,
        "config": dict(run.config),
        "command": list(run.command),
        "code_digest": plan.code_digest,
        "corpus_digest": plan.corpus.digest if plan.corpus else None,
        "seed": plan.seed,
    }

"""Closes a campaign: judges what its runs delivered, concludes, accounts, and writes the report."""

from __future__ import annotations

import os
import socket
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from lastro import atomic
from lastro.clock import Clock
from lastro.closeout.account import count_accepted, per_accepted, why_none
from lastro.closeout.close import judge_run
from lastro.closeout.conclude import conclude, evidence_of, exit_code
from lastro.closeout.evidence import with_details
from lastro.closeout.identity import mark_duplicates
from lastro.closeout.instructions import write_instructions
from lastro.closeout.inventory import Surroundings
from lastro.closeout.judge import Judgement, judgements_of
from lastro.closeout.last_manifest import write_close_manifest
from lastro.closeout.near import mark_near
from lastro.closeout.promise import Promise, promise_of
from lastro.closeout.reload.command import Bench
from lastro.closeout.report import write_report
from lastro.closeout.seal import is_final, write_seal
from lastro.closeout.sealed import seal_measurements
from lastro.closeout.signature import sign
from lastro.disk.hold import release_hold
from lastro.errors import UsageError
from lastro.flow.copying import copy_by_itself
from lastro.flow.orders import corpus_on_disk
from lastro.flow.ownership import require_owner
from lastro.flow.releasing import let_go
from lastro.flow.session import Session
from lastro.flow.undriven import undriven
from lastro.flow.verifying import require_whole
from lastro.journal.events import EventType
from lastro.journal.streams import StreamWriter
from lastro.journal.views import CampaignView, RunView
from lastro.locale import _
from lastro.plan.model import Plan
from lastro.providers.environment import with_interpreter
from lastro.records import dataclass
from lastro.storage.digest import sha256_file
from lastro.storage.secrets import secret_values
from lastro.view.gather import page_from
from lastro.view.model import with_report
from lastro.view.parts import Page, PerAccepted

Tell = Callable[[str], None]


@dataclass(frozen=True)
class Closing:
    """A closed campaign: its page and the exit code that it ends with."""

    page: Page
    exit_code: int


def close(
    session: Session, writer: StreamWriter, plan: Plan, tell: Tell, *, stopped: str | None = None
) -> Closing:
    """Close a campaign. What was judged before is judged again: bytes can change until they are closed.

    Args:
        session: the campaign; no run of it is alive.
        writer: of home's stream.
        plan: the frozen one.
        tell: for progress.
        stopped: why the campaign was ended before its runs were; None when it was not.

    Raises:
        JournalDamaged: a stream is damaged, cut or missing: no sum over it could be believed.
    """
    session.mirror()
    session.fetch()
    require_whole(session)
    view = session.view()
    for run in view.runs:  # what a machine that was lost has held
        release_hold(session.disk.hold(plan.campaign, run.id))
    promise = promise_of(plan.as_json())
    judgements = _judge(session, writer, plan, promise, view, tell)
    evidence = [evidence_of(run, promise, judgements) for run in view.runs if run.superseded_by is None]
    conclusion = conclude(promise.decision, evidence, campaign_stop=stopped)
    details = with_details(conclusion.evidence, view, evidence, promise, judgements)
    conclusion = replace(conclusion, evidence=details)
    writer.append(EventType.CAMPAIGN_CONCLUDED, stopped=stopped, **conclusion.as_facts())
    code = exit_code(conclusion, evidence, judgements)
    session.mirror()
    write_instructions(session.on_disk, plan.as_json())
    for sealed in seal_measurements(session.on_disk):
        if sealed.why is not None:
            tell(_("measurements are sealed as {form}: {why}").format(form=sealed.form, why=sealed.why))
    root = write_close_manifest(session.on_disk)
    page = make_page(session, judgements, plan)
    html, json = write_report(page, session.on_disk)
    page = with_report(page, str(html))
    writer.append(
        EventType.CAMPAIGN_CLOSED,
        exit_code=code,
        root_digest=root,
        report_html=sha256_file(html),
        report_json=sha256_file(json),
        sealed=True,
    )
    session.mirror()
    write_seal(session.on_disk)
    return Closing(page, code)


def with_second_copy(session: Session, writer: StreamWriter, closing: Closing, tell: Tell) -> Closing:
    """See to the second copy of what was closed, and return the closing with what is known of it now."""
    copy_by_itself(session, writer, tell)
    view = session.view()
    page = replace(closing.page, closing_state=view.closing_state, copies=view.copies)
    return Closing(page, closing.exit_code)


def _judge(
    session: Session, writer: StreamWriter, plan: Plan, promise: Promise, view: CampaignView, tell: Tell
) -> Sequence[Judgement]:
    work = session.at_home.work
    atomic.make_folder(work)
    found: list[Judgement] = []
    for run in view.runs:
        if run.superseded_by is not None:
            continue
        if run.status == "completed" and promise.deliverables:
            tell(_("reloading the outputs of {run}").format(run=run.name))
        folder = session.on_disk.run(run.id)
        bench, around = _bench(session, plan, run), _around(session, view)
        found += judge_run(run, promise, folder, work, bench, around=around)
    marked = mark_near(mark_duplicates(found))
    for judgement in marked:
        writer.append(EventType.DELIVERABLE_JUDGED, **judgement.as_facts())
    return marked


def _bench(session: Session, plan: Plan, run: RunView) -> Bench:
    links = {plan.corpus.path: str(corpus_on_disk(session.disk, plan.corpus))} if plan.corpus else {}
    return Bench(
        archive=session.on_disk.run(run.id).code(plan.code_digest),
        links=links,
        environment=with_interpreter(os.environ),
    )


def _around(session: Session, view: CampaignView) -> Surroundings:
    """Return what an output must not name: folders and machines that are gone, or will be, and keys."""
    nodes = (machine.node for machine in view.machines)
    return Surroundings(
        folders=(str(session.disk.root), str(session.home.root), str(Path.home())),
        hosts=tuple(sorted({socket.gethostname(), *(node for node in nodes if node is not None)})),
        secrets=secret_values(),
    )


def make_page(session: Session, judgements: Sequence[Judgement] | None, plan: Plan) -> Page:
    """Return the page of a campaign with what an accepted unit has cost."""
    view = session.view()
    unit = plan.decision.unit if plan.decision else None
    judged = judgements_of(view) if judgements is None else judgements
    amount, reason = per_accepted(view.cost, count_accepted(judged, unit), unit, why_none(judged, unit))
    told = PerAccepted(amount=amount, reason=reason, unit=unit)
    return page_from(session.on_disk, view, per_accepted=told)


def closed_before(session: Session, closed: Mapping[str, Any], plan: Plan, tell: Tell) -> Closing:
    """Return the closing that the journal holds: a campaign is concluded once.

    What a kill has kept from the disk after that is put there: the end of the stream, and the seal.
    """
    session.mirror()
    if closed.get("sealed") and not is_final(session.on_disk):
        write_seal(session.on_disk)
    tell(_("this campaign is closed; here is its result"))
    return Closing(make_page(session, None, plan), int(closed["exit_code"]))


def page_again(session: Session) -> Page:
    """Return the page of a closed campaign as it is now."""
    view = session.view()
    assert view.plan is not None, "what was closed has a plan"
    return make_page(session, None, Plan.from_json(view.plan))


def close_session(
    session: Session, clock: Clock, tell: Tell, *, key: Path | None = None, copying: bool = True
) -> Closing:
    """Close a campaign at a person's request; runs that have not ended are told as missing.

    One that is closed already stays as it was concluded.
    Machines that are still rented are let go first: after the closing nobody would look at them again.
    `key`: to sign with, see `closeout.signature`; also what is closed already. `copying`: see to the
    second copy, as `lastro run` does at its end.

    Raises:
        UsageError: it was never frozen, a run of it is alive, or a living `lastro run` owns it.
        StorageError: its disk is not there.
        Fenced: another home drives it.
    """
    session.require_disk()
    require_owner(session)
    with undriven(session) as held:
        writer, view, plan = held.writer, held.view, held.plan
        if view.closed is not None:
            closing = closed_before(session, view.closed, plan, tell)
        else:
            alive = [run.name for run in view.runs if run.status == "running"]
            if alive:
                raise UsageError(
                    _("{names} still runs").format(names=", ".join(alive)),
                    hint=_("wait for it with `lastro run`, or end it with `lastro stop`"),
                )
            let_go(session, writer, plan, clock, tell)
            closing = close(session, writer, plan, tell)
        _sign(session, writer, key)
        return with_second_copy(session, writer, closing, tell) if copying else closing


def _sign(session: Session, writer: StreamWriter, key: Path | None) -> None:
    """Sign the manifest of a closed campaign, when a key was named; another signature takes its place."""
    if key is None:
        return
    sign(session.on_disk, key)
    writer.append(EventType.CAMPAIGN_SIGNED, signature=sha256_file(session.on_disk.close_signature))
    session.mirror()

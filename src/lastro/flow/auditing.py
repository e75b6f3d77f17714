"""Audits the folder of a campaign, anywhere, offline: nothing is believed that can be made again."""

from __future__ import annotations

import os
import socket
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from lastro import strictjson
from lastro.clock import Clock, from_iso
from lastro.closeout.audit import (
    FAILED,
    NOT_REPEATED,
    OK,
    OPEN,
    Audit,
    Check,
    check_conclusion,
    check_cost,
    check_outputs,
)
from lastro.closeout.close import judge_run
from lastro.closeout.identity import mark_duplicates
from lastro.closeout.inventory import Surroundings
from lastro.closeout.judge import Judgement, judgements_of
from lastro.closeout.last_manifest import Damage, close_damage, is_canonical
from lastro.closeout.promise import Promise, promise_of
from lastro.closeout.reload.command import Bench
from lastro.closeout.seal import broken_seal, is_final
from lastro.closeout.signature import Signed, check_signature
from lastro.closeout.unclosed import look_at_unclosed
from lastro.errors import LastroError, StorageError, UsageError
from lastro.flow.orders import corpus_on_disk
from lastro.flow.verifying import loose_ends, verify_folder
from lastro.journal.events import EventType
from lastro.journal.projections import project
from lastro.journal.streams import Event, read_journal
from lastro.journal.views import CampaignView, RunView
from lastro.locale import _
from lastro.paths import CampaignFolder
from lastro.plan.model import Plan
from lastro.providers.environment import with_interpreter
from lastro.providers.registry import is_far
from lastro.storage.digest import digest_of, files_below, sha256_file


def audit(path: Path, clock: Clock, *, reload: bool = True, signers: Path | None = None) -> Audit:
    """Audit the folder of a campaign (`campaigns/<campaign>`); it is read, and never changed.

    Args:
        path: the folder, moved or not.
        clock: for what of it is still open.
        reload: load outputs again; this runs the commands of the campaign, in a jail where there is one.
        signers: the file of signers that are believed, as `ssh-keygen` reads it; None: whoever signed.

    Raises:
        UsageError: it is no such folder.
    """
    folder = CampaignFolder(path.absolute())
    if not folder.journal.is_dir():
        raise UsageError(
            _("{path} is not the folder of a campaign: it has no journal").format(path=path),
            hint=_("it is called campaigns/NAME on the disk"),
        )
    chains = _chains(folder)
    streams = {name: one.events for name, one in read_journal(folder.journal).items()}
    try:
        view = project(streams, clock.now())
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        # A stream that was changed can say anything; its chain has said so already.
        why = _("it tells no campaign: {error}").format(error=error)
        told = Check(name="journal", state=FAILED, why=why)
        return Audit(folder=str(path), campaign="", closed=False, root_digest=None, checks=(chains, told))
    closed = view.closed
    unheld: tuple[str, ...] = ()
    if closed is not None:
        files = _files(folder, closed)
    else:
        files, unheld = _unclosed(folder, view, streams)
    checks = [chains, files]
    if closed is not None:
        checks += [_report(folder, view, streams), check_conclusion(view)]
        checks += _signature(folder, signers)
    damaged = any(check.state == FAILED for check in checks)
    checks += _outputs(folder, view, load=reload, damaged=damaged)
    checks.append(_copy(view))
    return Audit(
        folder=str(path),
        campaign=view.name,
        closed=closed is not None,
        root_digest=str(closed["root_digest"]) if closed is not None else None,
        checks=tuple(checks),
        unheld=unheld,
    )


# --- bytes --------------------------------------------------------------------------------------------


def _chains(folder: CampaignFolder) -> Check:
    checked = verify_folder(folder.journal)
    damage = tuple(Damage(_below(folder, Path(one.path)), one.why) for one in checked if one.why is not None)
    why = _("{count} events in {streams} streams").format(
        count=sum(one.events for one in checked), streams=len(checked)
    )
    loose = loose_ends(folder)
    if loose:
        why = _("{events}; the last event of {names} is held by nothing yet").format(
            events=why, names=", ".join(loose)
        )
    return Check(name="chains", state=FAILED if damage else OK, why=why, damage=damage)


def _below(folder: CampaignFolder, path: Path) -> str:
    return path.relative_to(folder.root).as_posix() if path.is_relative_to(folder.root) else str(path)


def _files(folder: CampaignFolder, closed: Mapping[str, Any]) -> Check:
    """Check every file of a closed campaign, to the byte."""
    damage = [*_listed(folder, closed), *_sealed(folder, closed)]
    for key, path in (("report_html", folder.report_html), ("report_json", folder.report_json)):
        if not path.is_file():
            damage.append(Damage(_below(folder, path), _("it is not there")))
        elif sha256_file(path) != closed[key]:
            damage.append(Damage(_below(folder, path), _("it has other bytes than the journal says")))
    count = sum(1 for _name in files_below(folder.root)) if not damage else 0
    why = _("{count} files are as they were closed").format(count=count)
    if damage:
        why = _("not every file is as it was closed")
    return Check(name="files", state=FAILED if damage else OK, why=why, damage=tuple(_once(damage)))


def _once(damage: Sequence[Damage]) -> list[Damage]:
    return list({one.path: one for one in reversed(damage)}.values())[::-1]


def _listed(folder: CampaignFolder, closed: Mapping[str, Any]) -> list[Damage]:
    own = _below(folder, folder.close_manifest)
    try:
        if not is_canonical(folder):
            return [Damage(own, _("it is not spelled as lastro writes it"))]
        damage = close_damage(folder)
        root = strictjson.read(folder.close_manifest)["root_digest"]
    except FileNotFoundError as error:
        missing = Path(error.filename) if error.filename else folder.close_manifest
        return [Damage(_below(folder, missing), _("it is not there"))]
    except (StorageError, ValueError, KeyError, TypeError) as error:
        return [Damage(own, _("it cannot be read: {why}").format(why=error))]
    if root != closed["root_digest"]:
        why = _("its root digest is {found}, home's stream was closed with {recorded}")
        damage.append(Damage(own, why.format(found=str(root)[:12], recorded=closed["root_digest"][:12])))
    return damage


def _sealed(folder: CampaignFolder, closed: Mapping[str, Any]) -> list[Damage]:
    try:
        if closed.get("sealed") and not is_final(folder):
            return [Damage(_below(folder, folder.close_seal), _("it is not the seal of the closing"))]
        return list(broken_seal(folder))
    except FileNotFoundError:
        return []  # closed by a version that made no seal


def _unclosed(
    folder: CampaignFolder, view: CampaignView, streams: Mapping[str, Sequence[Event]]
) -> tuple[Check, tuple[str, ...]]:
    """Check of an open campaign what its journal holds; return what nothing holds beside it."""
    partial = is_far(str((view.plan or {}).get("provider"))) or any(
        life.mirror is not None for run in view.runs for life in run.attempts
    )
    found = look_at_unclosed(folder, view, streams, partial=partial)
    damage = [*(broken_seal(folder) if folder.close_seal.is_file() else ()), *found.damage]
    why = _(
        "{count} files are what the journal says, with those of {saves} checkpoints; {others} are not held"
    )
    why = why.format(count=len(found.held), saves=found.checkpoints, others=len(found.unheld))
    if damage:
        why = _("not every file is what the journal says")
    state = FAILED if damage else OK
    return Check(name="files", state=state, why=why, damage=tuple(_once(damage))), found.unheld


# --- sums, answer, signature ----------------------------------------------------------------------------


def _report(folder: CampaignFolder, view: CampaignView, streams: Mapping[str, Sequence[Event]]) -> Check:
    """Add the bill up from the journal as it was when the report was made."""
    try:
        report = strictjson.read(folder.report_json)
        made = from_iso(report["at"])
        return check_cost(project(_before_closing(streams), made), report)
    except (LastroError, OSError, KeyError, TypeError, ValueError) as error:
        why = _("close/report.json cannot be compared: {why}").format(why=error)
        return Check(name="cost", state=FAILED, why=why)


def _before_closing(streams: Mapping[str, Sequence[Event]]) -> Mapping[str, Sequence[Event]]:
    found = {}
    for name, events in streams.items():
        ends = [place for place, event in enumerate(events) if event.type is EventType.CAMPAIGN_CLOSED]
        found[name] = events[: ends[-1]] if ends else events
    return found


def _signature(folder: CampaignFolder, signers: Path | None) -> list[Check]:
    if not folder.close_signature.is_file() and signers is None:
        return []  # one that was there and is gone, the seal misses
    found = check_signature(folder, signers)
    state = {Signed.GOOD: OK, Signed.NOT_CHECKED: NOT_REPEATED}.get(found.state, FAILED)
    own = _below(folder, folder.close_signature)
    damage = (Damage(own, found.why),) if state == FAILED else ()
    return [Check(name="signature", state=state, why=found.why, damage=damage)]


def _copy(view: CampaignView) -> Check:
    """Say whether the journal knows of a second copy; it cannot be looked at from here."""
    told = {
        "open": _("not closed"),
        "sealed": _("no second copy on another file system is known, and nobody did without one"),
        "closed": _("a second copy was verified, or done without"),
    }
    state = OK if view.closing_state == "closed" else OPEN
    return Check(name="copy", state=state, why=told[view.closing_state])


# --- outputs --------------------------------------------------------------------------------------------


def _outputs(folder: CampaignFolder, view: CampaignView, *, load: bool, damaged: bool) -> list[Check]:
    """Judge the outputs again in a folder of their own, and compare the verdicts."""
    recorded = [one for one in judgements_of(view) if one.loader is not None or one.metric is not None]
    if view.closed is None or view.plan is None:
        return [Check(name="reload", state=OPEN, why=_("nothing was judged for good yet"))]
    if damaged:
        why = _("nothing is loaded from a folder of which something was changed")
        return [Check(name="reload", state=NOT_REPEATED, why=why)]
    plan = Plan.from_json(view.plan)
    promise, why_not = promise_of(view.plan), None if load else _("it was not asked for")
    corpus = corpus_on_disk(folder.disk, plan.corpus) if plan.corpus else None
    if corpus is not None and plan.corpus is not None and load:
        why_not = _other_corpus(corpus, plan.corpus.digest)
    links = {plan.corpus.path: str(corpus)} if plan.corpus and corpus and corpus.exists() else {}
    asked = promise if why_not is None else _without_reload(promise)
    again: list[Judgement] = []
    with tempfile.TemporaryDirectory(prefix="lastro-audit-") as room:
        for run in view.runs:
            if run.superseded_by is None:
                bench = Bench(
                    archive=folder.run(run.id).code(plan.code_digest),
                    links=links,
                    environment=with_interpreter(os.environ),
                )
                again += _judged(run, asked, folder, Path(room), bench)
    predictions, reloaded = check_outputs(recorded, mark_duplicates(again))
    if why_not is not None:
        reloaded = replace(reloaded, state=NOT_REPEATED, why=why_not, damage=())
    return [predictions, reloaded]


def _judged(
    run: RunView, promise: Promise, folder: CampaignFolder, room: Path, bench: Bench
) -> list[Judgement]:
    around = Surroundings(hosts=(socket.gethostname(),))
    return judge_run(run, promise, folder.run(run.id), room, bench, around=around)


def _other_corpus(corpus: Path, digest: str) -> str | None:
    """Say why the corpus cannot be used here; None when it can."""
    if not corpus.exists():
        return _("the corpus {digest} is not here: it lies beside the folder, at {path}").format(
            digest=digest[:12], path=f"data/{digest[:16]}/{corpus.name}"
        )
    found = digest_of(corpus)
    return None if found == digest else _("the corpus here is another one: {found}").format(found=found[:12])


def _without_reload(promise: Promise) -> Promise:
    """Return the promise with only that asked which needs nothing to be loaded: metrics."""
    kept = (
        replace(one, reload=None, compare=None, recorded=None, base=None, may_unpickle=False)
        for one in promise.deliverables
        if one.metric is not None
    )
    return replace(promise, deliverables=tuple(kept))

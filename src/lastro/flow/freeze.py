"""Draws up the plan of a campaign file, and freezes it: once, with its digest, before anything is rented."""

from __future__ import annotations

import contextlib
import os
import shutil
import stat
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from enum import Enum
from pathlib import Path
from typing import Any

from lastro import atomic, strictjson
from lastro.clock import Clock
from lastro.closeout.instructions import write_instructions
from lastro.disk.facts import open_disk
from lastro.errors import CampaignInvalid, StorageError, UsageError
from lastro.flow.earlier import Earlier
from lastro.flow.far import copy_of, path_there, placed
from lastro.flow.learning import learned
from lastro.flow.measuring import measure
from lastro.flow.mirrors import bring_back, budget, continue_streams, name_mirror
from lastro.flow.orders import corpus_on_disk
from lastro.flow.ownership import require_owner
from lastro.flow.secrets import refuse_secrets
from lastro.flow.session import Facts, Session, known_sessions, session_key
from lastro.flow.settling import settle, settle_once
from lastro.journal.events import EventType
from lastro.journal.streams import StreamWriter
from lastro.journal.views import CampaignView
from lastro.locale import _
from lastro.paths import Disk, Home, home_root
from lastro.plan.best import is_by_decision
from lastro.plan.build import Code, make_plan
from lastro.plan.learned import Learned
from lastro.plan.model import Plan
from lastro.plan.parts import REDUCED, WHOLE
from lastro.providers.base import Provider
from lastro.providers.registry import far_provider, is_far
from lastro.providers.ssh.hosts import Hosts
from lastro.providers.ssh.ssh import DEFAULT_DISK as DEFAULT_DISK_THERE
from lastro.providers.ssh.ssh import Ssh
from lastro.records import dataclass
from lastro.rules import Corpus
from lastro.spec.campaign import Campaign
from lastro.spec.checklist import load_checklist
from lastro.spec.load import CHECKLIST, LoadedCampaign, load_campaign, load_offers_file
from lastro.storage.digest import digest_of
from lastro.storage.snapshot import (
    archive_sums,
    code_digest,
    code_files,
    code_sums,
    git_identity,
    size_warning,
    write_archive,
)

#: The disk of a campaign that names none, beside its file.
DEFAULT_DISK = "lastro-disk"

#: What was made from the rest, and may come out otherwise on another box, with other solvers, on another day.
_DERIVED = {
    "option", "options", "findings", "lease_why", "calendar", "unplaced", "total_hours", "slack_hours",
    "disk_need", "decision_points", "expected_save", "tariffs", "ladder",
}  # fmt: skip
_SAYS_NOTHING = {"created_at", "code_git"} | _DERIVED
_PLACE = {"provider", "disk", "machines", "lease", "boot_seconds", "place", "leases_at"}
_CODE = {"code_digest", "code_excludes", "code_only"}
_SAVES = {"checkpoints", "resume_arg"}


class Durations(Enum):
    """Where the hours of a plan's runs come from.

    AS_FROZEN: as the frozen plan has them, so that it never changes by itself; where none is frozen, as
    MEASURED: from runs at this home, with what the file declares. AS_DECLARED: from the file alone.
    """

    AS_FROZEN = "as frozen"
    MEASURED = "measured"
    AS_DECLARED = "as declared"


@dataclass(frozen=True, kw_only=True)
class Sources:
    """Where figures of a plan come from beside its file.

    `online`: the hub is asked how large the repositories are that `data` names.
    """

    durations: Durations = Durations.AS_FROZEN
    online: bool = False


_USUAL = Sources()


@dataclass(frozen=True)
class Draft:
    """A plan that is drawn up and not frozen. `files`: the code, relative to the campaign's folder.

    `there`: where the disk lies on another computer; `disk` is home's copy of it then.
    """

    loaded: LoadedCampaign
    plan: Plan
    files: tuple[str, ...]
    disk: Path
    there: str | None = None

    @property
    def folder(self) -> Path:
        return self.loaded.folder

    @property
    def disk_named_by(self) -> str | None:
        """Who says that the disk outlives machines, by naming it; None: it is the folder beside the file."""
        declared = self.loaded.spec.disk
        if self.there is not None:
            by_file = declared is not None and self.there == declared.path
            if not by_file:
                return None if self.there == DEFAULT_DISK_THERE else _("the option --disk")
        if self.disk == self.loaded.disk_path or self.there is not None:
            return _("the campaign file {name}").format(name=self.loaded.path.name)
        return None if self.disk == self.folder / DEFAULT_DISK else _("the option --disk")

    @property
    def warning(self) -> str | None:
        """What is odd about the code; None when nothing is."""
        return size_warning(self.folder, self.files)


def draw_up(
    campaign_file: Path | LoadedCampaign,
    clock: Clock,
    *,
    on: str | None = None,
    disk: Path | None = None,
    faults: Path | None = None,
    adapt: Callable[[Campaign], Campaign] | None = None,
    reduced: bool | None = None,
    sources: Sources = _USUAL,
) -> Draft:
    """Plan a campaign file. Reads the code, the corpus and the offers; writes nothing, rents nothing.

    Args:
        campaign_file: its folder holds the code; or a campaign that needs no file.
        clock: for the plan's date.
        on: another provider than the file names.
        disk: another disk than the file names.
        faults: a script of faults, which is not part of the code.
        adapt: makes another campaign of the one in the file; its disk is no part of the code either.
        reduced: whether useful runs are left out until it fits; None: as in the frozen plan.
        sources: where the hours of its runs and sizes come from.

    Raises:
        CampaignInvalid: a file is invalid, or the corpus is not there.
    """
    loaded = campaign_file if isinstance(campaign_file, LoadedCampaign) else load_campaign(campaign_file)
    not_code = [faults, *_own_output()]
    if adapt is not None:
        not_code.append(loaded.disk_path or loaded.folder / DEFAULT_DISK)
        loaded = replace(loaded, spec=adapt(loaded.spec))
    spec = placed(loaded.spec, on)
    root, there = _place_of_disk(loaded, spec, disk)
    if root == loaded.folder:
        raise UsageError(
            _("the disk cannot be the campaign's own folder {path}").format(path=root),
            hint=_("name another folder with --disk or `disk:`, such as ./disk"),
        )
    before = Disk(root).campaign(spec.campaign).plan
    excludes = tuple(sorted({*loaded.left_out(root, *not_code), *_left_out_before(before)}))
    only = _code_only(loaded, before, excludes)
    files = tuple(code_files(loaded.folder, excludes, only))
    git = git_identity(loaded.folder)
    corpus = _corpus(loaded)
    earlier = Earlier(Home(home_root()), clock)
    hours = _hours(sources.durations, before, lambda: learned(earlier, spec, corpus))
    digest = code_digest(loaded.folder, files)
    plan = make_plan(
        spec,
        load_offers_file(loaded.offers_path) if loaded.offers_path else None,
        created_at=clock.now(),
        code=Code(
            digest=digest,
            excludes=excludes,
            only=only,
            git=asdict(git) if git else None,
        ),
        corpus=corpus,
        disk=str(root) if there is None else f"{spec.provider}/{there}",
        measured=replace(
            measure(loaded, spec, code_digest=digest, earlier=earlier, online=sources.online),
            durations=hours,
        ),
        protocol=REDUCED if _reduced(reduced, before) else WHOLE,
        checklist=load_checklist(loaded.folder / CHECKLIST),
    )
    return Draft(loaded, _without_new_best(plan, loaded.spec, before), files, root, there)


def _place_of_disk(loaded: LoadedCampaign, spec: Campaign, disk: Path | None) -> tuple[Path, str | None]:
    """Return the folder that home works with; and, where it is a copy, the path on the other computer."""
    if is_far(spec.provider):
        there = path_there(spec, disk)
        return copy_of(Home(home_root()), spec.provider, there).root, there
    return disk.absolute() if disk else loaded.disk_path or loaded.folder / DEFAULT_DISK, None


def _without_new_best(plan: Plan, spec: Campaign, before: Path) -> Plan:
    """Leave out a best checkpoint that follows from the decision where the frozen plan has none.

    It was frozen by a version that did not do so, and a campaign's rules do not change by themselves.
    """
    if not is_by_decision(spec):
        return plan
    try:
        had_one = strictjson.read(before)["checkpoint"]["best"] is not None
    except (OSError, StorageError, KeyError, TypeError):
        return plan
    if had_one:
        return plan
    findings = tuple(finding for finding in plan.findings if finding.code != "best_by_decision")
    return replace(plan, checkpoint=replace(plan.checkpoint, best=None), findings=findings)


def _hours(durations: Durations, plan: Path, learn: Callable[[], tuple[Learned, ...]]) -> tuple[Learned, ...]:
    """Return what was measured of the runs' durations and is to stand on the calendar."""
    if durations is Durations.AS_DECLARED:
        return ()
    if durations is Durations.AS_FROZEN:
        with contextlib.suppress(OSError, StorageError, KeyError, TypeError, ValueError):
            return tuple(Learned.from_json(one) for one in strictjson.read(plan).get("estimates", ()))
    return learn()


def _reduced(asked: bool | None, plan: Path) -> bool:
    """Say whether the reduced protocol is planned: as the user asks, else as it was frozen."""
    if asked is not None:
        return asked
    try:
        return bool(strictjson.read(plan)["protocol"] == REDUCED)
    except (OSError, StorageError, KeyError, TypeError):
        return False


def _left_out_before(plan: Path) -> Sequence[str]:
    """Return what the frozen plan left out of the code: what was no code once does not become code."""
    try:
        return tuple(strictjson.read(plan)["code_excludes"])
    except (OSError, StorageError, KeyError, TypeError):
        return ()


def _code_only(loaded: LoadedCampaign, plan: Path, excludes: Sequence[str]) -> tuple[str, ...] | None:
    """Return the files that are the code of a campaign that names them; None for one that does not.

    As long as the files of the frozen plan say the same, they are all: what has appeared beside them since
    may be the run's own work.
    """
    if loaded.code is None:
        return None
    try:
        frozen = strictjson.read(plan)
        before = tuple(frozen["code_only"])
        files = code_files(loaded.folder, excludes, before)
        return before if code_digest(loaded.folder, files) == frozen["code_digest"] else loaded.code
    except (OSError, StorageError, KeyError, TypeError):
        return loaded.code


def _own_output() -> Iterator[Path]:
    """Give the files that this command's own output goes to: `lastro run > out.txt` is no change of code."""
    for descriptor in (1, 2):
        with contextlib.suppress(OSError):
            if stat.S_ISREG(os.fstat(descriptor).st_mode):
                yield Path(f"/proc/self/fd/{descriptor}").readlink()


def _corpus(loaded: LoadedCampaign) -> Corpus | None:
    declared = loaded.spec.corpus
    if declared is None:
        return None
    path = loaded.folder / declared.path
    if not path.exists():
        raise CampaignInvalid(
            _("the corpus {path} is not there").format(path=declared.path),
            hint=_("put it beside the campaign file, or correct corpus.path"),
            file=str(loaded.path),
        )
    return Corpus(path=declared.path, digest=digest_of(path), rows=declared.rows)


def open_session(draft: Draft, home: Home, clock: Clock, provider: Provider | None = None) -> Session:
    """Return home's session of a campaign; marks the disk when it is new.

    Args:
        draft: the campaign.
        home: whose session it is.
        clock: for the streams.
        provider: where its machines come from, if that is known already. A disk on another computer is
            reached through it.

    Raises:
        ProviderError: the computer that the disk lies on cannot be reached.
        StorageError: the campaign has begun, or rented, on a disk that was at this path and is not there now.
    """
    disk = Disk(draft.disk)
    mirror = draft.loaded.spec.disk.mirror if draft.loaded.spec.disk is not None else None
    link = None
    if draft.there is not None:
        if mirror is not None:
            raise UsageError(
                _("a disk on another computer has no mirror yet"),
                hint=_("remove disk.mirror; what runs deliver is fetched here when they have ended"),
            )
        far = provider or far_provider(draft.plan.provider, home, clock)
        assert isinstance(far, (Ssh, Hosts))
        link = far.replica(draft.there)
        link.open(draft.disk_named_by)
    else:
        if mirror is not None:
            bring_back(disk, mirror, budget(home, clock))
        _require_the_disk_of_before(draft, disk, home, clock)
    facts = Facts(
        name=draft.plan.campaign,
        campaign_file=str(draft.loaded.path),
        disk=str(draft.disk),
        provider=draft.plan.provider,
        key=session_key(draft.plan.campaign, open_disk(disk, declared=draft.disk_named_by).uuid),
    )
    name_mirror(disk, mirror, home)
    session = Session(home, facts, clock, link)
    session.exchange(now=True)
    if mirror is not None:
        continue_streams(session.at_home, session.on_disk)
    _require_the_same_file(session)
    return session


def _require_the_same_file(session: Session) -> None:
    """Two campaign files of one name on one disk would be one campaign; refuse while the first is there."""
    known = session.at_home.facts
    if not known.exists():
        return
    before = Path(strictjson.read(known)["campaign_file"])
    if str(before) != session.facts.campaign_file and before.exists():
        raise UsageError(
            _("campaign {name} on this disk belongs to {file}").format(name=session.facts.name, file=before),
            hint=_("give this campaign another name, or another disk"),
        )


def _require_the_disk_of_before(draft: Draft, disk: Disk, home: Home, clock: Clock) -> None:
    """See that a disk which was used here before is the one that is here: an empty place is no beginning."""
    for session in known_sessions(home, clock):
        same = (session.facts.campaign_file, session.facts.disk) == (str(draft.loaded.path), str(draft.disk))
        if not same or session.facts.name != draft.plan.campaign:
            continue
        try:
            session.require_disk()
        except StorageError as error:
            missing = error
        else:
            return  # what ran on other disks that were here before it is history
        view = session.view()
        rented = [one.id or one.tag for one in view.machines if one.state != "gone"]
        if rented or any(run.attempts for run in view.runs):
            raise _begun_elsewhere(session, missing.message, rented) from missing


def _begun_elsewhere(session: Session, why: str, rented: Sequence[str]) -> StorageError:
    text = _("{why}; {campaign} has begun on that disk, and would begin again at step 0 here").format(
        why=why, campaign=session.facts.name
    )
    hint = _(
        "attach that disk again. To begin anew on purpose, name another disk with --disk, or "
        "move {record} away"
    ).format(record=session.at_home.root)
    if rented:
        text = _("{text}; machine {id} is still rented").format(text=text, id=", ".join(rented))
        hint = _("{hint}. `lastro stop --release` lets the machine go").format(hint=hint)
    return StorageError(text, hint=hint)


# --- what has changed since the freezing --------------------------------------------------------------


@dataclass(frozen=True)
class Changes:
    """How a fresh plan differs from the frozen one, by what the differences mean. Lists name the keys."""

    rules: tuple[str, ...]
    place: tuple[str, ...]
    code: tuple[str, ...]
    saves: tuple[str, ...] = ()

    @property
    def none(self) -> bool:
        return not (self.rules or self.place or self.code or self.saves)

    def why(self, files: Sequence[str]) -> str:
        """Return the sentence for a revision that needs no reason of the user.

        Args:
            files: what is different in the code, in words.
        """
        parts = []
        if files:
            parts.append(_("the code changed: {files}").format(files=", ".join(files)))
        elif self.code:
            parts.append(_("more is left out of the code"))
        if self.place:
            parts.append(_("the place changed: {keys}").format(keys=", ".join(self.place)))
        if self.saves:
            parts.append(_("how its own saves are found changed: {keys}").format(keys=", ".join(self.saves)))
        return "; ".join(parts)


def changes_between(frozen: Mapping[str, Any], fresh: Mapping[str, Any]) -> Changes:
    """Compare two plans as `plan.json` holds them. Pure."""
    different = {key for key in {*frozen, *fresh} if frozen.get(key) != fresh.get(key)} - _SAYS_NOTHING
    if "runs" in different and _without_ids(frozen) == _without_ids(fresh):
        different.discard("runs")
    return Changes(
        rules=tuple(sorted(different - _PLACE - _CODE - _SAVES)),
        place=tuple(sorted(different & _PLACE)),
        code=tuple(sorted(different & _CODE)),
        saves=tuple(sorted(different & _SAVES)),
    )


def _asks(plan: Mapping[str, Any]) -> list[Any]:
    """Return the offers that a plan asks in their order: they change by a person's word only."""
    return [(rung["offer"], rung["lease"]) for rung in plan.get("ladder", ())]


def _without_ids(plan: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the runs without what follows from other keys of the plan, which are compared by themselves.

    An id follows from code, corpus and configuration; what a run decides, from the decision rule, and it is a
    sentence in the language of whoever has frozen the plan.
    """
    derived = ("id", "decides")
    return [{key: value for key, value in run.items() if key not in derived} for run in plan["runs"]]


def freeze(draft: Draft, session: Session, writer: StreamWriter, revise: str | None = None) -> Plan:
    """Freeze a draft, or return the frozen plan when the draft says the same.

    Changed code, or another place, is a revision with its reason, and runs with changed code are new runs
    beside the old ones. Changed rules need the user's own reason.

    Raises:
        UsageError: the campaign file says something else than the frozen plan, and `revise` is None; or
            the code holds a secret.
        CampaignInvalid: the campaign file holds a secret.
    """
    view = session.view()
    if view.plan is None:
        _refuse_secrets(draft)
        _put_on_disk(draft, session)
        writer.append(EventType.PLAN_FROZEN, digest=draft.plan.digest(), plan=draft.plan.as_json())
        _publish(draft, session, writer)
        return draft.plan
    fresh = draft.plan.as_json()
    changes = changes_between(view.plan, fresh)
    if changes.none and (revise is None or _asks(view.plan) == _asks(fresh)):
        _put_on_disk(draft, session)
        _publish(draft, session, writer, view.plan)
        return Plan.from_json(view.plan)
    require_reason(draft, view.plan, revise)
    _refuse_secrets(draft)
    why = revise or changes.why(_changed_files(draft, session, view.plan))
    _put_on_disk(draft, session)
    writer.append(EventType.PLAN_REVISED, digest=draft.plan.digest(), plan=fresh, why=why)
    _supersede(view, draft.plan, writer, why)
    _publish(draft, session, writer)
    return draft.plan


def require_reason(draft: Draft, frozen: Mapping[str, Any], revise: str | None) -> None:
    """Refuse rules that are other than the frozen ones for want of a person's own reason.

    Raises:
        UsageError: they are, and `revise` is None.
    """
    fresh = draft.plan.as_json()
    rules = changes_between(frozen, fresh).rules
    if not rules or revise is not None:
        return
    what = _("{file} differs from the frozen plan in: {keys}").format(
        file=draft.loaded.path.name, keys=", ".join(rules)
    )
    raise UsageError(
        "; ".join([what, *_other_corpus(frozen.get("corpus"), fresh.get("corpus"))]),
        hint=_("put it back, or say why it changes: --revise WHY (both plans stay in the journal)"),
    )


def _other_corpus(frozen: Mapping[str, Any] | None, fresh: Mapping[str, Any] | None) -> Iterator[str]:
    """Say of a corpus that has the same name, and other bytes."""
    if frozen and fresh and frozen["path"] == fresh["path"] and frozen["digest"] != fresh["digest"]:
        yield _("the corpus {path} has changed: its digest is {now}, it was {then}").format(
            path=fresh["path"], now=fresh["digest"][:12], then=frozen["digest"][:12]
        )


def _refuse_secrets(draft: Draft) -> None:
    commands = [" ".join(run.command) for run in draft.plan.runs]
    refuse_secrets(draft.loaded.path, draft.loaded.text, commands, draft.files)


#: More names than this say less.
_NAMES_SHOWN = 5


def _changed_files(draft: Draft, session: Session, frozen: Mapping[str, Any]) -> list[str]:
    """Name the files in which the code differs from the frozen one, as far as its archive is still there."""
    if frozen["code_digest"] == draft.plan.code_digest:
        return []
    archive = session.on_disk.run(frozen["runs"][0]["id"]).code(frozen["code_digest"])
    try:
        old = archive_sums(archive)
    except (FileNotFoundError, StorageError):
        return [f"{frozen['code_digest'][:12]} -> {draft.plan.code_digest[:12]}"]
    new = code_sums(draft.folder, draft.files)
    words = [_("{name} is new").format(name=name) for name in sorted(new.keys() - old.keys())]
    words += [_("{name} is gone").format(name=name) for name in sorted(old.keys() - new.keys())]
    words += [
        _("{name} is different").format(name=name)
        for name in sorted(new.keys() & old.keys())
        if new[name] != old[name]
    ]
    return [*words[:_NAMES_SHOWN], *(["..."] if len(words) > _NAMES_SHOWN else [])]


def _supersede(view: CampaignView, plan: Plan, writer: StreamWriter, why: str) -> None:
    """Set aside the runs that have begun under an id that the new plan does not have."""
    by_name = {run.name: run.id for run in plan.runs}
    kept = set(by_name.values())
    for run in view.runs:
        if run.attempts and run.id not in kept and run.superseded_by is None:
            writer.append(EventType.RUN_SUPERSEDED, run=run.id, by=by_name.get(run.name), why=why)


def _put_on_disk(draft: Draft, session: Session) -> None:
    """Bring code and corpus to the disk, where every machine finds them."""
    for run in draft.plan.runs:
        archive = session.on_disk.run(run.id).code(draft.plan.code_digest)
        if not archive.exists():
            written = write_archive(draft.folder, draft.files, archive)
            if written != draft.plan.code_digest:
                atomic.remove_tree(session.on_disk.run(run.id).root)
                raise UsageError(
                    _("the code changed while it was being read"),
                    hint=_("save your files, send output to a file elsewhere, and try again"),
                )
    corpus = draft.plan.corpus
    if corpus is not None:
        _copy_corpus(draft.folder / corpus.path, corpus_on_disk(session.disk, corpus), corpus.digest)


def _copy_corpus(source: Path, target: Path, digest: str) -> None:
    """Bring the corpus to the disk once; what lies there, or was copied just now, has to be that corpus.

    Raises:
        StorageError: the copy on the disk was changed.
        UsageError: the source changed while it was copied.
    """
    if target.exists():
        if digest_of(target) != digest:
            raise StorageError(
                _("{path} on the disk is no longer the corpus that it is named after").format(path=target),
                hint=_("remove it and type the command again, which copies the corpus anew"),
            )
        return
    atomic.make_folder(target.parent)
    if source.is_dir():
        with atomic.publish_folder(target) as aside:
            shutil.copytree(source, aside, dirs_exist_ok=True)
            _require_same(aside, digest, source)
    else:
        with atomic.publish_file(target) as aside:
            shutil.copyfile(source, aside)
            _require_same(aside, digest, source)


def _require_same(copy: Path, digest: str, source: Path) -> None:
    if digest_of(copy) != digest:
        raise UsageError(
            _("the corpus {path} changed while it was copied").format(path=source),
            hint=_("let what writes it end, and try again"),
        )


def _publish(
    draft: Draft, session: Session, writer: StreamWriter, frozen: Mapping[str, Any] | None = None
) -> None:
    """Put the frozen plan beside the runs. One that the journal has and a kill has kept away is put there."""
    folder = session.on_disk
    if frozen is None or not folder.plan.exists() or strictjson.read(folder.plan) != frozen:
        plan = draft.plan.as_json() if frozen is None else frozen
        atomic.make_folder(folder.root)
        atomic.write_text(folder.frozen_file, draft.loaded.text)
        write_instructions(folder, plan)
        atomic.write_text(folder.plan, strictjson.pretty(plan))  # last: with it the others are there
    settle(session, writer, [folder.frozen_file, folder.how_to_reload])
    settle_once(session, writer, [folder.run(run.id).code(draft.plan.code_digest) for run in draft.plan.runs])


def freeze_plan(
    campaign_file: Path,
    home: Home,
    clock: Clock,
    *,
    on: str | None = None,
    disk: Path | None = None,
    revise: str | None = None,
    reduced: bool | None = None,
    sources: Sources = _USUAL,
) -> tuple[Plan, Sequence[Mapping[str, Any]]]:
    """Freeze the plan of a campaign file; return it with the revisions so far, oldest first.

    Raises:
        UsageError: a living `lastro run` owns the campaign, or a changed rule needs a reason.
        Fenced: another home drives it.
    """
    draft = draw_up(campaign_file, clock, on=on, disk=disk, reduced=reduced, sources=sources)
    session = open_session(draft, home, clock)
    require_owner(session)
    with session.owned() as writer:
        if writer is None:
            raise UsageError(
                _("campaign {name} is being run; its plan cannot be frozen now").format(
                    name=draft.plan.campaign
                ),
                hint=_("look at it with `lastro status`, or end it with `lastro stop`"),
            )
        plan = freeze(draft, session, writer, revise)
        session.mirror()
        return plan, session.view().revisions

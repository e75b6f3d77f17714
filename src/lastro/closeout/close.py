"""Closing acts here: copy, control, reload and compare the outputs of a run; list what a campaign leaves."""

from __future__ import annotations

import shutil
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from lastro.closeout.base import BaseFacts, FoundBase, base_facts, find_base, hub_cache
from lastro.closeout.compare import Comparison, Tolerance, compare
from lastro.closeout.controls import Refusal, is_bystander, refusals
from lastro.closeout.foreign import usable_prefixes
from lastro.closeout.identity import content_digest, content_parts, digest_of_parts
from lastro.closeout.inventory import Inventory, Surroundings, collect, links_out
from lastro.closeout.judge import Findings, Judgement, Recomputed, judge, judge_unfinished
from lastro.closeout.metric import Measured, against_claim, measure
from lastro.closeout.near import sketch_of
from lastro.closeout.promise import Deliverable, Promise
from lastro.closeout.published import published_of
from lastro.closeout.reload import open_output
from lastro.closeout.reload.apart import Subject, load_apart
from lastro.closeout.reload.command import Bench, Reloaded, lay_out, reload_by_command
from lastro.closeout.reload.loader import Opened
from lastro.closeout.reload.loaders import APART
from lastro.closeout.tables import Table, TableDamaged, TableUnreadable, read_table
from lastro.closeout.verify import copy_outputs, digests_of, not_published, tree_digest
from lastro.errors import LastroError
from lastro.journal.views import RunView
from lastro.locale import _
from lastro.paths import RunFolder
from lastro.records import dataclass


def judge_run(
    run: RunView,
    promise: Promise,
    folder: RunFolder,
    work: Path,
    bench: Bench,
    *,
    around: Surroundings | None = None,
    tolerance: Tolerance | None = None,
) -> list[Judgement]:
    """Judge every output that a run promised; one judgement each, in the order of the plan.

    Writes below `work` only, and removes what it wrote.

    Args:
        run: as the journal tells it.
        promise: what the plan promised.
        folder: the run on the disk. Nothing in it is changed.
        work: a folder of home for copies; another process must not use it.
        bench: code, inputs and deadline for reloads.
        around: what belongs to the run's own machines (its folders, their names), refused inside outputs.
        tolerance: for decimal numbers, see `compare`.
    """
    if run.status != "completed":
        return [
            judge_unfinished(run.id, run.status, run.why, promised, run.outputs)
            for promised in promise.deliverables
        ]
    room = work / run.id
    shutil.rmtree(room, ignore_errors=True)
    try:
        room.mkdir(parents=True)
        given = around or Surroundings()
        surroundings = replace(given, folders=usable_prefixes(given.folders))
        seen = _look(run, promise, folder, room, bench, surroundings)
        reloads = [
            _reload(one, seen, room, bench, tolerance)
            for one in seen
            if one.promised.reload is not None and not one.refusals
        ]
        return [judge(run.id, one.promised, _findings(one, promise, reloads, room, bench)) for one in seen]
    finally:
        shutil.rmtree(room, ignore_errors=True)


@dataclass(frozen=True, kw_only=True)
class _Seen:
    """One output before anything is loaded.

    `digests`: of the copied files, by path; `published`: what the journal says of them. `truth`: what its
    metric is computed against, or why there is none. `base`: as it lies here.
    """

    promised: Deliverable
    copies: Path
    digests: Mapping[str, str]
    published: Mapping[str, str]
    inventory: Inventory
    refusals: tuple[Refusal, ...]
    truth: Table | str | None
    base: FoundBase | None

    @property
    def copy(self) -> Path:
        return self.copies / self.promised.path

    @property
    def digest(self) -> str | None:
        return tree_digest(self.promised.path, self.digests)

    @property
    def known_digests(self) -> frozenset[str]:
        return frozenset((*self.digests.values(), *self.published.values()))


@dataclass(frozen=True, kw_only=True)
class _Reload:
    """What the reload of model `name` said of the deliverable `compare`; None when it names none."""

    name: str
    compare: str | None
    reloaded: Reloaded
    comparison: Comparison | None


def _look(
    run: RunView, promise: Promise, folder: RunFolder, room: Path, bench: Bench, around: Surroundings
) -> list[_Seen]:
    copies, code = room / "copies", room / "code"
    outputs, published = folder.outputs, published_of(run, folder)
    wanted = [path for one in promise.deliverables for path in (one.path, *one.beside)]
    digests = copy_outputs(outputs, wanted, copies)
    no_code = _lay_out_code(promise, bench, code)
    seen = []
    for promised in promise.deliverables:
        path = promised.path
        # A link that leaves the outputs was not copied: it is seen where it lies.
        links = links_out(outputs, path)
        inventory = collect(outputs if path in links else copies, path, around)
        inventory = replace(inventory, links_out=links)
        truth = _truth(promised, code, no_code)
        base = _base(promised, inventory, code, no_code, bench)
        reasons = (
            *not_published(path, digests, published),
            *(reason for name in promised.beside for reason in _beside(name, digests, published)),
            *refusals(promised, inventory, _ids(truth, promised.key)),
            *((Refusal("other_base", str(base.why)),) if base is not None and base.wrong else ()),
        )
        seen.append(
            _Seen(
                promised=promised,
                copies=copies,
                digests=digests_of(path, digests),
                published=digests_of(path, published),
                inventory=inventory,
                refusals=reasons,
                truth=truth,
                base=base,
            )
        )
    return seen


def _beside(name: str, digests: Mapping[str, str], published: Mapping[str, str]) -> tuple[Refusal, ...]:
    if name not in digests:
        return (Refusal("missing", _("{path} was promised and is not there").format(path=name)),)
    return not_published(name, digests, published)


def _lay_out_code(promise: Promise, bench: Bench, code: Path) -> str | None:
    """Lay out code and inputs, among which truths and bases lie; return why that is impossible, or None."""
    if not any(one.metric or (one.base and one.base.path) for one in promise.deliverables):
        return None
    try:
        lay_out(bench, code)
    except (OSError, LastroError) as error:
        return str(error)
    return None


def _truth(promised: Deliverable, code: Path, no_code: str | None) -> Table | str | None:
    """Return the truth of a deliverable with a metric, or a sentence why there is none."""
    if promised.metric is None:
        return None
    why: object = no_code
    if no_code is None:
        try:
            return read_table(code / promised.metric.truth)
        except (TableDamaged, TableUnreadable, OSError) as error:
            why = error
    return _("the truth {path} cannot be read from code or inputs: {why}").format(
        path=promised.metric.truth, why=why
    )


def _base(
    promised: Deliverable, inventory: Inventory, code: Path, no_code: str | None, bench: Bench
) -> FoundBase | None:
    if promised.base is None and inventory.named_base is None:
        return None
    if no_code is not None and promised.base is not None and promised.base.path is not None:
        return FoundBase(place=None, why=no_code)
    return find_base(promised.base, inventory.named_base, code, hub_cache(bench.environment))


def _ids(truth: Table | str | None, key: str | None) -> Collection[str] | None:
    if not isinstance(truth, Table) or key not in truth.columns:
        return None
    return tuple(dict.fromkeys(truth.cells(key)))


def _reload(
    model: _Seen, seen: Sequence[_Seen], room: Path, bench: Bench, tolerance: Tolerance | None
) -> _Reload:
    promised = model.promised
    assert promised.reload is not None
    target = next((one for one in seen if one.promised.name == promised.compare), None)
    reloaded = _run_command(model, target, room / f"reload-{promised.name}", bench)
    comparison = None
    if reloaded.result is not None and target is not None:
        comparison = _compare(target, reloaded.result, tolerance)
    return _Reload(name=promised.name, compare=promised.compare, reloaded=reloaded, comparison=comparison)


def _run_command(model: _Seen, target: _Seen | None, room: Path, bench: Bench) -> Reloaded:
    assert model.promised.reload is not None
    if model.promised.compare is not None and target is None:
        problem = _("the plan compares it with '{name}', which is not a deliverable")
        return Reloaded(problem=problem.format(name=model.promised.compare))
    try:
        return reload_by_command(
            model.promised.reload,
            model.copy,
            bench,
            room,
            wanted=target.promised.path if target else None,
            hidden=target.known_digests if target else (),
        )
    except (OSError, LastroError) as error:
        return Reloaded(problem=_("the reload could not be prepared: {why}").format(why=error))


def _compare(target: _Seen, result: Path, tolerance: Tolerance | None) -> Comparison:
    path, key = target.promised.path, target.promised.key
    if target.digest is None or target.inventory.damage is not None:
        return Comparison(problem=_("{path} is not there to be compared with").format(path=path))
    if target.inventory.table is None:
        same = content_digest(target.copy) == content_digest(result)
        return Comparison(problem=None if same else _("{path} has other content").format(path=path))
    try:
        return compare(target.inventory.table, read_table(result), key, tolerance)
    except (TableDamaged, TableUnreadable) as error:
        return Comparison(problem=_("what was recomputed is not a table: {why}").format(why=error))


def _findings(one: _Seen, promise: Promise, reloads: Sequence[_Reload], room: Path, bench: Bench) -> Findings:
    own = next((reload for reload in reloads if reload.name == one.promised.name), None)
    base = base_facts(
        one.promised.base, one.inventory.named_base, one.base.place if one.base is not None else None
    )
    parts = content_parts(one.copy) if one.digest is not None else []
    return Findings(
        digest=one.digest,
        content=digest_of_parts(parts) if parts else None,
        # Predictions on one evaluation set are near to each other as soon as they are good.
        sketch=sketch_of(parts) if one.promised.metric is None else (),
        refusals=one.refusals,
        opened=_opened(one, room / f"load-{one.promised.name}", bench),
        reloaded=own.reloaded if own else None,
        comparison=own.comparison if own else None,
        recomputed=tuple(
            _recomputed(model.name, reloads)
            for model in promise.deliverables
            if model.compare == one.promised.name
        ),
        measured=_measured(one),
        bases=(base.as_facts(),) if base is not None else (),
        warnings=_warnings(one, base),
    )


def _opened(one: _Seen, room: Path, bench: Bench) -> Opened | None:
    if one.digest is None or one.refusals:
        return None
    recorded = one.promised.recorded
    subject = Subject(
        path=one.copy,
        recorded=one.copies / recorded if recorded is not None else None,
        base=one.base.place if one.base is not None else None,
        base_root=one.base.root if one.base is not None else None,
        rows=one.promised.rows,
    )
    opened = open_output(one.copy)
    apart = next((loader for loader in APART if loader.reads(one.copy)), None) if opened is None else None
    if apart is not None:
        opened = load_apart(apart, subject, bench, room)
    if opened is not None and opened.weaker is not None and one.base is not None and one.base.why is not None:
        return replace(opened, weaker=one.base.why)
    return opened


def _warnings(one: _Seen, base: BaseFacts | None) -> tuple[str, ...]:
    skipped = [
        file.name for file in one.inventory.files if file.pickle is not None and is_bystander(file.name)
    ]
    found = [base.warning] if base is not None else []
    if skipped:
        found.append(_("not loaded, since they are pickles: {names}").format(names=", ".join(skipped)))
    return tuple(warning for warning in found if warning is not None)


def _recomputed(model: str, reloads: Sequence[_Reload]) -> Recomputed:
    for one in reloads:
        if one.name == model:
            return Recomputed(by=model, reloaded=one.reloaded, comparison=one.comparison)
    return Recomputed(by=model)


def _measured(one: _Seen) -> Measured | None:
    rule, table = one.promised.metric, one.inventory.table
    if rule is None or one.refusals:
        return None
    if isinstance(one.truth, str):
        return Measured(problem=one.truth)
    if one.inventory.unreadable is not None:
        return Measured(problem=one.inventory.unreadable)
    if table is None or one.truth is None:
        problem = _("{path} is not a table of predictions").format(path=one.promised.path)
        return Measured(problem=problem, blames_output=True)
    found = measure(rule.name, table, one.truth, one.promised.key)
    return found if rule.claimed is None else against_claim(found, rule.name, one.copies / rule.claimed)

"""Closing acts here: copy, control, reload and compare the outputs of a run; list what a campaign leaves."""

from __future__ import annotations

import shutil
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from lastro.closeout.compare import Comparison, Tolerance, compare
from lastro.closeout.controls import Refusal, refusals
from lastro.closeout.foreign import usable_prefixes
from lastro.closeout.identity import content_digest
from lastro.closeout.inventory import Inventory, collect
from lastro.closeout.judge import Findings, Judgement, Recomputed, judge, judge_unfinished
from lastro.closeout.metric import Measured, measure
from lastro.closeout.promise import Deliverable, Promise
from lastro.closeout.reload import open_output
from lastro.closeout.reload.command import Bench, Reloaded, lay_out, reload_by_command
from lastro.closeout.tables import Table, TableDamaged, read_table
from lastro.closeout.verify import copy_outputs, not_published
from lastro.errors import LastroError
from lastro.journal.views import RunView
from lastro.locale import _
from lastro.paths import RunFolder


def judge_run(
    run: RunView,
    promise: Promise,
    folder: RunFolder,
    work: Path,
    bench: Bench,
    *,
    prefixes: Sequence[str] = (),
    tolerance: Tolerance | None = None,
) -> list[Judgement]:
    """Judge every output that a run promised; one judgement each, in the order of the plan.

    Writes below `work` only, and removes what it wrote.

    Args:
        run: as the journal tells it.
        promise: what the plan promised.
        folder: the run on the disk. Nothing in it is changed.
        work: a folder of home for copies; another process must not use it.
        bench: code, inputs and deadline for reload commands.
        prefixes: folders of the run itself (workdir, scratch, home, tmp), refused inside outputs.
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
        seen = _look(run, promise, folder, room, bench, usable_prefixes(prefixes))
        reloads = [
            _reload(one, seen, room, bench, tolerance)
            for one in seen
            if one.promised.reload is not None and not one.refusals
        ]
        return [judge(run.id, one.promised, _findings(one, promise, reloads)) for one in seen]
    finally:
        shutil.rmtree(room, ignore_errors=True)


@dataclass(frozen=True, kw_only=True)
class _Seen:
    """One output before anything is loaded.

    `digest`: of the copy; `published`: what the journal says. `truth`: what its metric is computed against,
    or why there is none.
    """

    promised: Deliverable
    copy: Path
    digest: str | None
    published: str | None
    inventory: Inventory
    refusals: tuple[Refusal, ...]
    truth: Table | str | None

    @property
    def digests(self) -> frozenset[str]:
        return frozenset(digest for digest in (self.digest, self.published) if digest is not None)


@dataclass(frozen=True, kw_only=True)
class _Reload:
    """What the reload of model `name` said of the deliverable `compare`; None when it names none."""

    name: str
    compare: str | None
    reloaded: Reloaded
    comparison: Comparison | None


def _look(
    run: RunView, promise: Promise, folder: RunFolder, room: Path, bench: Bench, prefixes: Sequence[str]
) -> list[_Seen]:
    copies = room / "copies"
    digests = copy_outputs(folder.outputs, tuple(one.path for one in promise.deliverables), copies)
    truths = _truths(promise, bench, room / "truth")
    seen = []
    for promised in promise.deliverables:
        path, digest = promised.path, digests.get(promised.path)
        # A link that leaves the outputs was not copied: it is seen where it lies.
        inventory = collect(copies if digest is not None else folder.outputs, path, prefixes)
        truth = truths.get(promised.name)
        reasons = (
            *not_published(path, digest, run.outputs),
            *refusals(promised, inventory, _ids(truth, promised.key)),
        )
        seen.append(
            _Seen(
                promised=promised,
                copy=copies / path,
                digest=digest,
                published=run.outputs.get(path),
                inventory=inventory,
                refusals=reasons,
                truth=truth,
            )
        )
    return seen


def _truths(promise: Promise, bench: Bench, code: Path) -> Mapping[str, Table | str]:
    """Return the truth of each deliverable with a metric, or a sentence why there is none."""
    found: dict[str, Table | str] = {}
    for promised in promise.deliverables:
        if promised.metric is None:
            continue
        try:
            if not code.exists():
                lay_out(bench, code)
            found[promised.name] = read_table(code / promised.metric.truth)
        except (TableDamaged, OSError, LastroError) as error:
            found[promised.name] = _("the truth {path} cannot be read from code or inputs: {why}").format(
                path=promised.metric.truth, why=error
            )
    return found


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
            hidden=target.digests if target else (),
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
    except TableDamaged as error:
        return Comparison(problem=_("what was recomputed is not a table: {why}").format(why=error))


def _findings(one: _Seen, promise: Promise, reloads: Sequence[_Reload]) -> Findings:
    own = next((reload for reload in reloads if reload.name == one.promised.name), None)
    return Findings(
        digest=one.digest,
        content=content_digest(one.copy) if one.digest is not None else None,
        refusals=one.refusals,
        opened=open_output(one.copy) if one.digest is not None and not one.refusals else None,
        reloaded=own.reloaded if own else None,
        comparison=own.comparison if own else None,
        recomputed=tuple(
            _recomputed(model.name, reloads)
            for model in promise.deliverables
            if model.compare == one.promised.name
        ),
        measured=_measured(one),
    )


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
    if table is None or one.truth is None:
        problem = _("{path} is not a table of predictions").format(path=one.promised.path)
        return Measured(problem=problem, blames_output=True)
    return measure(rule.name, table, one.truth, one.promised.key)

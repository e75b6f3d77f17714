"""What becomes of one output: accepted, rejected, or only produced. Pure, with its reasons."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field, replace
from enum import Enum
from typing import Any

from lastro.closeout.compare import Comparison
from lastro.closeout.controls import Refusal
from lastro.closeout.metric import Example, Measured
from lastro.closeout.promise import Deliverable
from lastro.closeout.reload.command import LOADER as COMMAND
from lastro.closeout.reload.command import Reloaded
from lastro.closeout.reload.level import JAILED
from lastro.closeout.reload.loader import Opened
from lastro.closeout.verify import tree_digest
from lastro.journal.views import CampaignView
from lastro.locale import _
from lastro.records import dataclass


class Verdict(str, Enum):
    """What an output is worth.

    MISSING: not there, and not expected, since its run did not complete.
    PRODUCED: there, but nothing has proven it.
    """

    MISSING = "missing"
    PRODUCED = "produced"
    ACCEPTED = "accepted"
    REJECTED = "rejected"


@dataclass(frozen=True, kw_only=True)
class Judgement:
    """The verdict on one output of one run.

    `level`: where it was loaded, see `reload.place`; `level_why`: why not farther away from this machine.
    `versions`: of the Python and the packages that loaded it, in `seconds`. `digest` is of the bytes (of a
    folder: of the sums of its files), `content` of what they hold. `duplicate_of`: the accepted output (run
    and path) that holds the same; this one does not count again. `near`: one that holds almost the same.
    `bases`: the models that it was made from, each with licence and gating. `warnings`: what speaks against
    nothing, and should be known. `sketch` (see `near`) and `examples` (what the metric is the mean of, by
    id) are not recorded.
    """

    run: str
    name: str
    path: str
    verdict: Verdict
    why: str
    level: str | None = None
    level_why: str | None = None
    loader: str | None = None
    versions: Mapping[str, str] = field(default_factory=dict)
    seconds: float | None = None
    digest: str | None = None
    metric: float | None = None
    content: str | None = None
    duplicate_of: str | None = None
    near: str | None = None
    bases: tuple[Mapping[str, Any], ...] = ()
    warnings: tuple[str, ...] = ()
    sketch: tuple[int, ...] = ()
    examples: Mapping[str, Example] = field(default_factory=dict)

    def as_facts(self) -> dict[str, Any]:
        """Return the facts of a `deliverable.judged` event."""
        return {
            "run": self.run,
            "name": self.name,
            "path": self.path,
            "verdict": self.verdict.value,
            "why": self.why,
            "level": self.level,
            "level_why": self.level_why,
            "loader": self.loader,
            "versions": dict(self.versions),
            "seconds": self.seconds,
            "digest": self.digest,
            "metric": self.metric,
            "content": self.content,
            "duplicate_of": self.duplicate_of,
            "near": self.near,
            "bases": [dict(base) for base in self.bases],
            "warnings": list(self.warnings),
        }


@dataclass(frozen=True, kw_only=True)
class Recomputed:
    """What a model's reload said of the predictions that it has to reproduce.

    `by`: the model's name. `reloaded`: how it was loaded; None when it was not. `comparison` None: nothing
    was compared.
    """

    by: str
    reloaded: Reloaded | None = None
    comparison: Comparison | None = None


@dataclass(frozen=True, kw_only=True)
class Findings:
    """All that was found out about one output, before it is judged.

    `recomputed`: for predictions, what each model that has to reproduce them made of them.
    `comparison`: for a model, the same seen from its side.
    """

    digest: str | None = None
    content: str | None = None
    sketch: tuple[int, ...] = ()
    refusals: tuple[Refusal, ...] = ()
    opened: Opened | None = None
    reloaded: Reloaded | None = None
    comparison: Comparison | None = None
    recomputed: tuple[Recomputed, ...] = ()
    measured: Measured | None = None
    bases: tuple[Mapping[str, Any], ...] = ()
    warnings: tuple[str, ...] = ()


def judge(run: str, promised: Deliverable, found: Findings) -> Judgement:
    """Judge an output of a run that completed.

    Rejected: anything that was found wrong with it. Accepted: it was reproduced, or a metric was recomputed
    from it and no model that should reproduce it is in doubt. Produced: it opens, and nothing more is known.
    """
    faults = _faults(promised, found)
    verdict, why = (Verdict.REJECTED, "; ".join(faults)) if faults else _proof(promised, found)
    measured = found.measured.value if found.measured else None
    judgement = Judgement(
        run=run,
        name=promised.name,
        path=promised.path,
        verdict=verdict,
        why=why,
        digest=found.digest,
        metric=measured if verdict is Verdict.ACCEPTED else None,
        content=found.content,
        bases=found.bases,
        warnings=found.warnings,
        sketch=found.sketch,
        examples=found.measured.examples if found.measured and verdict is Verdict.ACCEPTED else {},
    )
    command = found.reloaded or next((one.reloaded for one in found.recomputed if one.comparison), None)
    how = command if command is not None and command.level is not None else found.opened
    if how is None:
        return judgement
    return replace(
        judgement,
        loader=COMMAND if isinstance(how, Reloaded) else how.loader,
        level=how.level,
        level_why=how.level_why,
        versions=how.versions,
        seconds=how.seconds,
    )


def _faults(promised: Deliverable, found: Findings) -> list[str]:
    faults = [refusal.text for refusal in found.refusals]
    if found.opened is not None and found.opened.problem is not None:
        faults.append(_("{path} cannot be used: {why}").format(path=promised.path, why=found.opened.problem))
    if found.reloaded is not None and found.reloaded.problem is not None:
        faults.append(found.reloaded.problem)
    if found.comparison is not None and not found.comparison.equal:
        faults.append(
            _("it does not reproduce {other}: {why}").format(other=promised.compare, why=found.comparison.why)
        )
    faults.extend(
        _("{model} does not reproduce it: {why}").format(model=one.by, why=one.comparison.why)
        for one in found.recomputed
        if one.comparison is not None and not one.comparison.equal
    )
    if found.measured is not None and found.measured.blames_output:
        faults.append(_("{path}: {why}").format(path=promised.path, why=found.measured.problem))
    return faults


def _proof(promised: Deliverable, found: Findings) -> tuple[Verdict, str]:
    """Return what an output without faults is worth."""
    proven_by_loader = found.opened is not None and found.opened.proof is not None
    if promised.reload is not None and found.comparison is None and not proven_by_loader:
        return Verdict.PRODUCED, _("it was reloaded, but compared with nothing")
    doubtful = [one.by for one in found.recomputed if one.comparison is None]
    if doubtful:
        why = _("{models} could not be reloaded, so it was not recomputed").format(models=", ".join(doubtful))
        return Verdict.PRODUCED, why
    if found.measured is not None and found.measured.problem is not None:
        return Verdict.PRODUCED, found.measured.problem
    proofs = _proofs(promised, found)
    if not proofs:
        return Verdict.PRODUCED, _why_unproven(found.opened)
    return Verdict.ACCEPTED, "; ".join([*proofs, *_unchecked(found)])


def _why_unproven(opened: Opened | None) -> str:
    if opened is None:
        return _("there is no loader for it, and the plan names no reload, comparison or metric")
    if opened.weaker is not None:
        return _("it was only looked at: {why}").format(why=opened.weaker)
    return _("it opens; the plan names no reload, comparison or metric that could prove it")


def _proofs(promised: Deliverable, found: Findings) -> list[str]:
    proofs = []
    if found.opened is not None and found.opened.proof is not None:
        proofs.append(found.opened.proof)
    if found.comparison is not None and found.reloaded is not None:
        sentence = {
            JAILED: _("reloaded in a jail, it reproduces {other}: {why}"),
        }.get(found.reloaded.level or "", _("reloaded in a fresh process, it reproduces {other}: {why}"))
        proofs.append(sentence.format(other=promised.compare, why=found.comparison.why))
    proofs.extend(
        _("{model} reproduces it: {why}").format(model=one.by, why=one.comparison.why)
        for one in found.recomputed
        if one.comparison is not None
    )
    if found.measured is not None and promised.metric is not None:
        proofs.append(
            _("{metric} was recomputed: {value:.6g}").format(
                metric=promised.metric.name, value=found.measured.value
            )
        )
    return proofs


def _unchecked(found: Findings) -> list[str]:
    if found.opened is None or not found.opened.unchecked:
        return []
    return [_("not checked for NaN: {names}").format(names=", ".join(found.opened.unchecked[:3]))]


def judge_unfinished(
    run: str, status: str, why: str | None, promised: Deliverable, outputs: Mapping[str, str]
) -> Judgement:
    """Judge an output of a run that did not complete: never accepted, whatever it is.

    Args:
        run: its id.
        status: of the run, see `RunView.status`.
        why: what the journal says of that status.
        promised: the output.
        outputs: what the run published, path -> SHA-256.
    """
    digest = tree_digest(promised.path, outputs)
    return Judgement(
        run=run,
        name=promised.name,
        path=promised.path,
        verdict=Verdict.PRODUCED if digest is not None else Verdict.MISSING,
        why=unfinished(status, why),
        digest=digest,
    )


def unfinished(status: str, why: str | None) -> str:
    """Say why outputs of a run with this status do not count."""
    sentence = {
        "stopped": _("the run was stopped: {why}"),
        "failed": _("the run failed: {why}"),
        "superseded": _("the run was superseded: {why}"),
        "paused": _("the run is paused and has not ended: {why}"),
        "interrupted": _("the run was interrupted and has not ended: {why}"),
        "running": _("the run has not ended"),
        "waiting": _("the run has not begun"),
    }.get(status, status)
    return sentence.format(why=why or _("no reason was recorded"))


def of_run(judgements: Sequence[Judgement], run: str) -> tuple[Judgement, ...]:
    """Return the judgements on one run."""
    return tuple(one for one in judgements if one.run == run)


def judgements_of(view: CampaignView) -> tuple[Judgement, ...]:
    """Return the verdicts as the journal tells them; what it does not tell again stays empty."""
    return tuple(
        Judgement(
            run=one.run,
            name=one.name,
            path=one.path,
            verdict=Verdict(one.status),
            why=one.why or "",
            level=one.level,
            level_why=one.level_why,
            loader=one.loader,
            versions=one.versions,
            seconds=one.seconds,
            digest=one.digest,
            metric=one.metric,
            duplicate_of=one.duplicate_of,
            near=one.near,
            bases=one.bases,
            warnings=one.warnings,
        )
        for one in view.deliverables
    )

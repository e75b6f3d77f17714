"""What becomes of one output: accepted, rejected, or only produced. Pure, with its reasons."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any

from lastro.closeout.compare import Comparison
from lastro.closeout.controls import Refusal
from lastro.closeout.metric import Measured
from lastro.closeout.promise import Deliverable
from lastro.closeout.reload.command import LEVEL as FRESH_PROCESS
from lastro.closeout.reload.command import LOADER as COMMAND
from lastro.closeout.reload.command import Reloaded
from lastro.closeout.reload.loader import Opened
from lastro.locale import _

#: Opened by a loader, in the process that closes.
CLOSING_PROCESS = "closing process"


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

    `digest` is of the bytes, `content` of what they hold. `duplicate_of`: the accepted output (run and
    path) that holds the same; this one does not count again.
    """

    run: str
    name: str
    path: str
    verdict: Verdict
    why: str
    level: str | None = None
    loader: str | None = None
    digest: str | None = None
    metric: float | None = None
    content: str | None = None
    duplicate_of: str | None = None

    def as_facts(self) -> dict[str, Any]:
        """Return the facts of a `deliverable.judged` event."""
        return {
            "run": self.run,
            "name": self.name,
            "path": self.path,
            "verdict": self.verdict.value,
            "why": self.why,
            "level": self.level,
            "loader": self.loader,
            "digest": self.digest,
            "metric": self.metric,
            "content": self.content,
            "duplicate_of": self.duplicate_of,
        }


@dataclass(frozen=True, kw_only=True)
class Recomputed:
    """What a model's reload said of the predictions that it has to reproduce.

    `by`: the model's name. `comparison` None: the reload itself failed, nothing was compared.
    """

    by: str
    comparison: Comparison | None


@dataclass(frozen=True, kw_only=True)
class Findings:
    """All that was found out about one output, before it is judged.

    `recomputed`: for predictions, what each model that has to reproduce them made of them.
    `comparison`: for a model, the same seen from its side.
    """

    digest: str | None = None
    content: str | None = None
    refusals: tuple[Refusal, ...] = ()
    opened: Opened | None = None
    reloaded: Reloaded | None = None
    comparison: Comparison | None = None
    recomputed: tuple[Recomputed, ...] = ()
    measured: Measured | None = None


def judge(run: str, promised: Deliverable, found: Findings) -> Judgement:
    """Judge an output of a run that completed.

    Rejected: anything that was found wrong with it. Accepted: it was reproduced, or a metric was recomputed
    from it and no model that should reproduce it is in doubt. Produced: it opens, and nothing more is known.
    """
    faults = _faults(promised, found)
    verdict, why = (Verdict.REJECTED, "; ".join(faults)) if faults else _proof(promised, found)
    by_command = found.reloaded is not None or any(one.comparison for one in found.recomputed)
    opener = found.opened.loader if found.opened else None
    measured = found.measured.value if found.measured else None
    return Judgement(
        run=run,
        name=promised.name,
        path=promised.path,
        verdict=verdict,
        why=why,
        level=FRESH_PROCESS if by_command else CLOSING_PROCESS if opener else None,
        loader=COMMAND if by_command else opener,
        digest=found.digest,
        metric=measured if verdict is Verdict.ACCEPTED else None,
        content=found.content,
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
    if promised.reload is not None and found.comparison is None:
        return Verdict.PRODUCED, _("it was reloaded, but compared with nothing")
    doubtful = [one.by for one in found.recomputed if one.comparison is None]
    if doubtful:
        why = _("{models} could not be reloaded, so it was not recomputed").format(models=", ".join(doubtful))
        return Verdict.PRODUCED, why
    if found.measured is not None and found.measured.problem is not None:
        return Verdict.PRODUCED, found.measured.problem
    proofs = _proofs(promised, found)
    if not proofs:
        opens = _("it opens; ") if found.opened else ""
        return Verdict.PRODUCED, opens + _(
            "the plan names no reload, comparison or metric that could prove it"
        )
    return Verdict.ACCEPTED, "; ".join([*proofs, *_unchecked(found)])


def _proofs(promised: Deliverable, found: Findings) -> list[str]:
    proofs = []
    if found.comparison is not None:
        proofs.append(
            _("reloaded in a fresh process, it reproduces {other}: {why}").format(
                other=promised.compare, why=found.comparison.why
            )
        )
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
    is_there = promised.path in outputs
    return Judgement(
        run=run,
        name=promised.name,
        path=promised.path,
        verdict=Verdict.PRODUCED if is_there else Verdict.MISSING,
        why=unfinished(status, why),
        digest=outputs.get(promised.path),
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

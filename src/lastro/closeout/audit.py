"""What an audit finds, as values: one check each, and the exit code that follows. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any

from lastro.closeout.account import count_accepted, per_accepted
from lastro.closeout.conclude import Answer, conclude, evidence_of
from lastro.closeout.judge import Judgement, Verdict, judgements_of
from lastro.closeout.last_manifest import Damage
from lastro.closeout.promise import promise_of
from lastro.errors import DeliverableRejected, NotProven, StorageError
from lastro.journal.views import CampaignView
from lastro.locale import _
from lastro.records import dataclass

#: What a check can say.
OK, FAILED, NOT_REPEATED, OPEN = "ok", "failed", "not repeated", "open"
#: Metrics are computed again by the same sums; another order of additions may move the last digit.
_SAME_METRIC = Decimal("1e-9")


@dataclass(frozen=True, kw_only=True)
class Check:
    """One question of an audit. `state`: ok | failed | not repeated | open; `why` in words."""

    name: str
    state: str
    why: str
    damage: tuple[Damage, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Audit:
    """All checks of one folder. `root_digest` None: it is not closed.

    `unheld`: of one that is not closed, the files of which nothing holds a digest, so that nothing is known.
    """

    folder: str
    campaign: str
    closed: bool
    root_digest: str | None
    checks: tuple[Check, ...]
    unheld: tuple[str, ...] = ()

    @property
    def whole(self) -> bool:
        """Whether everything that could be compared is what it was."""
        return not any(check.state == FAILED for check in self.checks if check.name != "reload")

    @property
    def damage(self) -> tuple[Damage, ...]:
        return tuple(one for check in self.checks for one in check.damage)

    @property
    def exit_code(self) -> int:
        """0: everything holds. 8: a file, a chain or a sum does not. 9: a reload failed. 11: not closed."""
        if not self.whole:
            return StorageError.exit_code
        if any(check.state == FAILED for check in self.checks):
            return DeliverableRejected.exit_code
        return 0 if self.closed else NotProven.exit_code

    def as_json(self) -> dict[str, Any]:
        return {
            "folder": self.folder,
            "campaign": self.campaign,
            "closed": self.closed,
            "whole": self.whole,
            "root_digest": self.root_digest,
            "checks": [{"name": one.name, "state": one.state, "why": one.why} for one in self.checks],
            "damaged": [vars(one) for one in self.damage],
            "unheld": list(self.unheld),
            "exit_code": self.exit_code,
        }


def check_conclusion(view: CampaignView) -> Check:
    """Follow the frozen rule again, from the verdicts of the journal."""
    name = "conclusion"
    told = view.conclusion
    if told is None or view.plan is None:
        return Check(name=name, state=OPEN, why=_("nothing was concluded"))
    promise = promise_of(view.plan)
    judged = judgements_of(view)
    evidence = [evidence_of(run, promise, judged) for run in view.runs if run.superseded_by is None]
    again = conclude(promise.decision, evidence, campaign_stop=told.stopped)
    if (again.verdict.value, again.run) == (told.verdict, told.run):
        why = _("{verdict}: it follows from the verdicts by the frozen rule").format(verdict=told.verdict)
        return Check(name=name, state=OK, why=why)
    if again.verdict is Answer.UNDECIDED and told.verdict == Answer.STOPPED.value and told.stopped is None:
        # Before the reason was recorded, only the sentence told that the campaign itself was stopped.
        return Check(name=name, state=OK, why=_("stopped as a whole: {why}").format(why=told.why))
    why = _("the journal says {told}, the frozen rule gives {again} ({why})").format(
        told=told.verdict, again=again.verdict.value, why=again.why
    )
    return Check(name=name, state=FAILED, why=why)


def check_cost(view: CampaignView, report: Mapping[str, Any]) -> Check:
    """Add the bill up again, and compare it with the one of the report.

    Args:
        view: folded from the journal as it was when the report was made, at that moment.
        report: `close/report.json`.
    """
    name, told = "cost", report["cost"]
    rule = promise_of(view.plan).decision if view.plan else None
    unit = rule.unit if rule else None
    accepted = count_accepted(judgements_of(view), unit)
    each, _why = per_accepted(view.cost, accepted, unit)
    total = view.cost.total
    again = {
        "total": total.as_json() if total else None,
        "per_accepted": each.as_json() if each else None,
        "by_currency": [one.as_json() for one in view.cost.by_currency],
        "lines": [line.amount.as_json() if line.amount else None for line in view.cost.lines],
    }
    told_lines = [line["amount"] for line in told["lines"]]
    for key, value in again.items():
        said = told_lines if key == "lines" else told[key]
        if said != value:
            why = _("the report says {told} for {key}, the journal gives {again}").format(
                told=said, key=key, again=value
            )
            return Check(name=name, state=FAILED, why=why)
    shown = total if total is not None else view.cost.reason
    return Check(name=name, state=OK, why=_("added up again from the journal: {total}").format(total=shown))


def check_outputs(recorded: Sequence[Judgement], again: Sequence[Judgement]) -> tuple[Check, Check]:
    """Compare verdicts that were made again with those of the journal: metrics, and reloads.

    Args:
        recorded: of the journal.
        again: of the outputs as they lie here; what could not be loaded here is `produced`.
    """
    found = {(one.run, one.name): one for one in again}
    wrong, metrics, failed, repeated, left = [], 0, [], 0, []
    for one in recorded:
        now = found.get((one.run, one.name))
        if one.verdict is not Verdict.ACCEPTED or now is None:
            continue
        place = f"runs/{one.run}/outputs/{one.path}"
        if one.metric is not None and now.metric is not None:
            metrics += 1
            if abs(Decimal(repr(one.metric)) - Decimal(repr(now.metric))) > _SAME_METRIC:
                why = _("its metric is {now}, it was {then}").format(now=now.metric, then=one.metric)
                wrong.append(Damage(place, why))
        if now.verdict is Verdict.ACCEPTED:
            repeated += 1
        elif now.verdict is Verdict.REJECTED and not (lacking := _lacking(one, now)):
            failed.append(Damage(place, now.why))
        elif now.verdict is Verdict.REJECTED:
            left.append(_("{path}: not with other packages ({names} are not here): {why}").format(
                path=place, names=", ".join(lacking), why=now.why))  # fmt: skip
        else:
            left.append(f"{place}: {now.why}")
    predictions = Check(
        name="predictions",
        state=FAILED if wrong else OK,
        why=_("{count} metrics were computed again from predictions").format(count=metrics),
        damage=tuple(wrong),
    )
    return predictions, _reload(failed, repeated, left)


def _lacking(recorded: Judgement, now: Judgement) -> list[str]:
    """Return the packages that had loaded it and are not here; a few names are enough to see."""
    return sorted(set(recorded.versions) - set(now.versions))[:5]


def _reload(failed: Sequence[Damage], repeated: int, left: Sequence[str]) -> Check:
    said = _("{count} outputs were proven again").format(count=repeated)
    if left:
        said = "; ".join([said, *left])
    state = FAILED if failed else NOT_REPEATED if left else OK
    return Check(name="reload", state=state, why=said, damage=tuple(failed))

"""Runs that can no longer change the answer: they are not started, unless a person names them."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Mapping
from pathlib import Path

from lastro import atomic
from lastro.closeout.conclude import RunEvidence, out_of_reach
from lastro.closeout.metric import measure
from lastro.closeout.promise import DecisionRule, Promise, promise_of
from lastro.closeout.reload.command import Bench, lay_out
from lastro.closeout.tables import TableDamaged, TableUnreadable, read_table
from lastro.errors import LastroError
from lastro.flow.orders import corpus_on_disk
from lastro.flow.session import Session
from lastro.journal.views import CampaignView, RunView
from lastro.locale import _
from lastro.plan.model import Plan


def moot_runs(
    rule: DecisionRule | None, view: CampaignView, metric_of: Callable[[RunView], float | None]
) -> Mapping[str, str]:
    """Return the runs that have not begun and can no longer change the answer, with the reason. Pure.

    Only what the control has shown decides: a stop rule has ended it, so there is nothing to compare with; or
    no value that the metric can have would be better by the margin. If the control is rejected later, there
    is no answer with these runs either. What was sent to a machine already goes on.

    Args:
        rule: of the frozen plan; None: nobody asked a question, so each run is wanted for itself.
        view: the campaign now.
        metric_of: the metric of a completed run, as it would be computed again; None: it cannot be.
    """
    control = next(
        (run for run in view.runs if rule and run.name == rule.over and not run.superseded_by), None
    )
    # Where outputs are counted each run is wanted for what it delivers.
    if rule is None or rule.unit is not None or control is None:
        return {}
    why = _why(rule, control, metric_of)
    waiting = [run for run in view.runs if run.status == "waiting" and run.machine is None]
    return {run.id: why for run in waiting if run.id != control.id} if why is not None else {}


def _why(rule: DecisionRule, control: RunView, metric_of: Callable[[RunView], float | None]) -> str | None:
    if control.status == "stopped":
        return _("a stop rule has ended '{control}', which it would be compared with").format(
            control=control.name
        )
    metric = metric_of(control) if control.status == "completed" else None
    if metric is None:
        return None
    shown = RunEvidence(
        id=control.id,
        name=control.name,
        priority=control.priority,
        status=control.status,
        why=None,
        accepted=True,
        metric=metric,
    )
    return out_of_reach(rule, shown)


class Foreseen:
    """Computes metrics of completed runs from what they have published, each once.

    Nothing is reloaded and nothing is judged: that is for the closing.
    """

    def __init__(self, session: Session, plan: Plan) -> None:
        self._session, self._plan = session, plan
        self._promise: Promise = promise_of(plan.as_json())
        self._known: dict[str, float | None] = {}

    @property
    def rule(self) -> DecisionRule | None:
        return self._promise.decision

    def metric_of(self, run: RunView) -> float | None:
        """Return the decision's metric of a completed run; None where it cannot be computed here."""
        if run.id not in self._known:
            self._known[run.id] = self._computed(run)
        return self._known[run.id]

    def _computed(self, run: RunView) -> float | None:
        rule = self.rule
        wanted = [
            one
            for one in self._promise.deliverables
            if rule and one.metric and one.metric.name == rule.metric
        ]
        if not wanted or wanted[0].metric is None:
            return None
        folder, plan, one = self._session.on_disk.run(run.id), self._plan, wanted[0]
        links = (
            {plan.corpus.path: str(corpus_on_disk(self._session.disk, plan.corpus))} if plan.corpus else {}
        )
        room = self._session.at_home.work / f"foreseen-{run.id}"
        try:
            atomic.make_folder(room.parent)
            code = lay_out(Bench(archive=folder.code(plan.code_digest), links=links), _fresh(room))
            truth = read_table(code / wanted[0].metric.truth)
            return measure(wanted[0].metric.name, read_table(folder.outputs / one.path), truth, one.key).value
        except (OSError, LastroError, TableDamaged, TableUnreadable):
            return None
        finally:
            shutil.rmtree(room, ignore_errors=True)


def _fresh(room: Path) -> Path:
    shutil.rmtree(room, ignore_errors=True)
    return room

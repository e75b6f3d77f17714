"""A text for a provider who has to raise a limit: what runs, on how much, for how long, and why."""

from __future__ import annotations

from lastro.errors import PlanError
from lastro.locale import _, ngettext
from lastro.plan.bill import show_hours
from lastro.plan.model import Plan
from lastro.plan.parts import Option
from lastro.units import show_bytes

#: What only the user can fill in.
NAME = "<name>"


def quota_request(plan: Plan, option: str | None = None) -> str:
    """Return a draft for the provider of an option; None: of the one that is taken.

    Raises:
        PlanError: there is no such option, or none is taken.
    """
    found = next((one for one in plan.options if one.name == (option or plan.option)), None)
    if found is None or not found.holdings:
        raise PlanError(
            _("there is no option that machines could be asked for"),
            hint=_("`lastro plan` lists the options; `offers:` says what can be rented"),
        )
    lines = [_subject(found), "", *_work(plan, found), "", *_machines(plan, found), "", *_money(plan, found)]
    lines += ["", _("If this cannot be granted in full, please say which part can, and when."), "", NAME]
    return "\n".join(lines)


def _what(option: Option) -> str:
    holding = option.holdings[0]
    return ngettext("{count} machine with {gpu}", "{count} machines with {gpu}", option.machines).format(
        count=option.machines, gpu=holding.gpu or _("a GPU")
    )


def _subject(option: Option) -> str:
    return _("Subject: request for {what}").format(what=_what(option))


def _work(plan: Plan, option: Option) -> list[str]:
    runs = len(plan.runs)
    text = ngettext("{count} run", "{count} runs", runs).format(count=runs)
    lines = [_("We plan a campaign of {runs}: {name}.").format(runs=text, name=plan.campaign)]
    if plan.question:
        lines.append(_("Its question: {question}").format(question=plan.question))
    if plan.decision is not None:
        lines.append(
            _("It ends with a decision by {metric}; each run promises {count} outputs.").format(
                metric=plan.decision.metric, count=len(plan.deliverables)
            )
        )
    resumes = {
        "training": _("Each run saves checkpoints and goes on from them, so that it can be interrupted."),
        "items": _("Each run publishes item by item, so that it can be interrupted."),
    }
    lines.append(resumes.get(plan.resume, _("A run that is interrupted begins anew.")))
    return lines


def _machines(plan: Plan, option: Option) -> list[str]:
    lines = [_("We need {what} at once.").format(what=_what(option))]
    if option.end is not None:
        lines.append(
            _("For how long: {likely} ({low} to {high}).").format(
                likely=show_hours(option.end.likely),
                low=show_hours(option.end.low),
                high=show_hours(option.end.high),
            )
        )
    if plan.window_hours is not None:
        lines.append(_("Within: {window} from the start.").format(window=show_hours(plan.window_hours)))
    if plan.disk_need is not None and plan.disk_need.recommended is not None:
        size = show_bytes(plan.disk_need.recommended)
        lines.append(_("Disk that outlives the machines: {size}.").format(size=size))
    if plan.jurisdictions:
        lines.append(_("The data has to stay in: {places}.").format(places=", ".join(plan.jurisdictions)))
    return lines


def _money(plan: Plan, option: Option) -> list[str]:
    cost = option.cost.total
    lines = [_("Expected cost: {cost}.").format(cost=cost if cost else _("unknown"))]
    if plan.budget is not None:
        lines.append(_("Spending ends at: {budget}.").format(budget=plan.budget))
    return lines

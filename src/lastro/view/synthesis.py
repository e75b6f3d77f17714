"""A campaign as one page of a notebook, in Markdown: what was asked, answered, paid and learned. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator

from lastro.locale import _
from lastro.view import show, words
from lastro.view.parts import Evidence, Page
from lastro.view.summary import Summary, cost_text

#: What Markdown takes for more than a letter where a name of the user's may stand.
_SPECIAL = re.compile(r"([\\`*_\[\]<>|#])")


def synthesis(page: Page, summary: Summary) -> str:
    """Return the page. What nobody wrote down is said to be missing, so that it can still be written."""
    return "\n".join(
        [
            *_opening(page, summary),
            *_evidence(page.evidence),
            *_cost(page, summary),
            *_listed(_("Order references"), summary.orders, _("none recorded")),
            *_listed(
                _("What was learned"), summary.learned, _("nobody has written it down: `lastro explain`")
            ),
            *_listed(_("Open doubts"), summary.doubts, _("none recorded")),
            *_found_at(page),
        ]
    )


def _opening(page: Page, summary: Summary) -> Iterator[str]:
    yield f"# {_plain(page.campaign)}: {_plain(page.headline.text)}"
    yield ""
    day = show.day(page.closed_at) if page.closed_at else _("not closed")
    yield f"{day}. {_plain(page.question or _('No question was written down.'))}"
    yield ""
    yield f"**{_plain(words.state(summary.state, summary.run))}**: {_plain(page.headline.why)}"
    yield ""


def _evidence(evidence: Evidence | None) -> Iterator[str]:
    yield "## " + _("Evidence")
    yield ""
    if evidence is None:
        yield _("The campaign has no decision rule: there is no metric to compare its runs by.")
        yield ""
        return
    yield f"| {_('run')} | {_plain(evidence.metric)} | {_('difference')} | {_('origin')} |"
    yield "| --- | ---: | ---: | --- |"
    for row in evidence.rows:
        name = f"**{_plain(row.name)}**" if row.adopted else _plain(row.name)
        value = show.number(row.value) if row.source else "–"
        yield f"| {name} | {value} | {show.difference(row.difference)} | {words.metric_source(row.source)} |"
    yield ""


def _cost(page: Page, summary: Summary) -> Iterator[str]:
    cost, accepted = page.cost, page.cost.per_accepted
    yield "## " + _("Cost")
    yield ""
    budget = ", " + _("of a budget of {budget}").format(budget=cost.budget) if cost.budget else ""
    yield f"* {_('total')}: {cost_text(summary) or _('nothing rented')}{budget}"
    if accepted.amount is not None:
        unit = accepted.unit or _("unit")
        yield f"* {_('per accepted {unit}').format(unit=unit)}: {accepted.amount}"
    else:
        yield "* " + _("per accepted unit: undefined, {why}").format(why=_plain(accepted.why))
    for line in cost.bill.lines:
        amount = show.money(line.amount) + (f" ({_plain(line.reason)})" if line.reason else "")
        yield f"* {_plain(line.what)}: {amount}, {_plain(line.quantity)}, {_plain(line.source)}"
    yield ""


def _listed(title: str, texts: tuple[str, ...], nothing: str) -> Iterator[str]:
    yield f"## {title}"
    yield ""
    yield from (f"* {_plain(text)}" for text in texts)
    if not texts:
        yield nothing
    yield ""


def _found_at(page: Page) -> Iterator[str]:
    yield "## " + _("Where it is")
    yield ""
    for name, value in (
        (_("folder"), page.provenance.folder),
        (_("report"), page.provenance.report),
        (_("root digest"), page.provenance.root_digest),
        (_("plan"), page.plan.digest),
    ):
        if value is not None:
            yield f"* {name}: `{value}`"
    yield ""


def _plain(text: str) -> str:
    """Return a text in one line in which nothing is Markdown."""
    return _SPECIAL.sub(r"\\\1", " ".join(text.split()))

"""Campaigns as a list in a terminal: what each asked, answered, cost and taught."""

from __future__ import annotations

from collections.abc import Iterator

from lastro.locale import _
from lastro.view import show, words
from lastro.view.summary import Summary, cost_text


def summary_lines(summary: Summary) -> Iterator[str]:
    """Yield the lines of one campaign, the first of them to be read alone."""
    when = show.day(summary.closed_at or summary.frozen_at)
    yield f"{summary.campaign}  {words.state(summary.state, summary.run)}  {cost_text(summary)}  {when}"
    if summary.question:
        yield f"  {summary.question}"
    if summary.why:
        yield f"  {summary.why}"
    if summary.orders:
        yield "  " + _("orders: {orders}").format(orders=", ".join(summary.orders))
    for text in summary.learned:
        yield "  " + _("learned: {text}").format(text=text)
    for text in summary.doubts:
        yield "  " + _("open: {text}").format(text=text)

"""The report: a page as one HTML file that needs no network, no script and no server."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from functools import cache
from importlib import resources
from math import isfinite
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from lastro.locale import _, forms, ngettext
from lastro.units import show_bytes
from lastro.view import burn_svg, gantt, show, svg, telemetry_text, words
from lastro.view.parts import Evidence, EvidenceRow, MachineRow, Page
from lastro.view.saves import save_rows


@cache
def environment() -> Environment:
    """Return the one Jinja environment. Names, reasons and configurations come from users: all is escaped."""
    environment = Environment(
        loader=PackageLoader("lastro.view"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.globals.update(
        _=_,
        ngettext=ngettext,
        show=show,
        words=words,
        decimal=forms.decimal,
        telemetry=telemetry_text,
        show_bytes=show_bytes,
        quoted=shlex.quote,
        run_class=svg.run_class,
        style=style,
        legend_shape=lambda kind: Markup(gantt.legend_shape(kind)),  # noqa: S704 - constants of gantt
    )
    return environment


def style(*names: str) -> Markup:
    """Return style sheets of ours, one after the other."""
    folder = resources.files("lastro.view").joinpath("templates")
    texts = [folder.joinpath(name).read_text(encoding="utf-8") for name in names]
    return Markup("".join(texts))  # noqa: S704 - our own files


def render(page: Page) -> str:
    """Return the report. The same page gives the same text, byte for byte."""
    curves = sum(len(chart.curves) for chart in (*page.charts, *page.use_charts))
    # svg and gantt escape every text that they write.
    charts = [Markup(svg.line_chart(chart, svg.buckets_for(curves))) for chart in page.charts]  # noqa: S704
    uses = [Markup(svg.line_chart(chart, svg.buckets_for(curves))) for chart in page.use_charts]  # noqa: S704
    return (
        environment()
        .get_template("report.html.j2")
        .render(
            page=page,
            style=style("report.css"),
            charts=charts,
            use_charts=uses,
            tracks=_tracks(page.evidence),
            gantt=Markup(gantt.gantt(page.calendar)),  # noqa: S704
            common_scale=gantt.has_common_scale(page.calendar),
            burn=Markup(burn_svg.burn_chart(page.burn)) if page.burn else "",  # noqa: S704
            burn_svg=burn_svg,
            saves=save_rows(page.runs),
            sure=_sure(page),
            rule_changed=_told(page).get("rule_changed") or (),
            budget_share=budget_share(page),
            machine_facts=machine_facts,
        )
    )


def _told(page: Page) -> Mapping[str, Any]:
    return page.conclusion.evidence if page.conclusion else {}


def _sure(page: Page) -> list[Mapping[str, Any]]:
    """Return the rows of the evidence that say how sure they are, or why they do not count.

    Journals of earlier versions hold rows without intervals: these have no table.
    """
    rows = [row for row in _told(page).get("runs") or () if "interval" in row]
    return rows if any(row["interval"] for row in rows) else []


def _tracks(evidence: Evidence | None) -> dict[str, Markup]:
    """Return the drawing of each run's value beside the control's and the margin, by run id.

    The axis is made for the values that the closing has computed: a stopped run that is far off must not
    press the others into one point.
    """
    if evidence is None:
        return {}
    base = next((row.value for row in evidence.rows if row.is_control and _is_finite(row)), None)
    needed = target(evidence)
    finite = [row for row in evidence.rows if _is_finite(row)]
    judged = [row for row in finite if row.source == "recomputed"]
    values = [row.value for row in judged or finite if row.value is not None]
    values += [value for value in (base, needed) if value is not None]
    if not values:
        return {}
    pad = (max(values) - min(values)) * 0.08 or abs(values[0]) * 0.05 or 1.0
    span = (min(values) - pad, max(values) + pad)
    return {
        row.run: Markup(svg.dot_track(row.value, base, needed, span, svg.run_class(row.index)))  # noqa: S704
        for row in evidence.rows
    }


def _is_finite(row: EvidenceRow) -> bool:
    return row.value is not None and isfinite(row.value)


def target(evidence: Evidence) -> float | None:
    """Return the value that a run has to reach to be adopted; None where control or margin is unknown."""
    base = next((row.value for row in evidence.rows if row.is_control and _is_finite(row)), None)
    if base is None or evidence.margin is None:
        return None
    return base + evidence.margin if evidence.better == "higher" else base - evidence.margin


def budget_share(page: Page) -> float | None:
    """Return the part of the budget that is spent; None where one of them is unknown."""
    total, budget = page.cost.bill.total, page.cost.budget
    if total is None or budget is None or total.currency != budget.currency or budget.amount <= 0:
        return None
    return float(total.amount / budget.amount)


def machine_facts(row: MachineRow) -> str:
    """Return a machine's lease in a few words."""
    lease = row.view.lease
    if lease is None:
        return _("no price known")
    price = _("price unknown") if lease.price is None else str(lease.price)
    if lease.price is not None and lease.kind.value != "lot":
        price = _("{price} an hour").format(price=price)
    return f"{lease.offer}, {words.lease_kind(lease.kind.value)}, {price}"

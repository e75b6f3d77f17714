"""A page in a terminal of 80 columns: after a run or a closing, and while something runs.

Frames and colours are for terminals only: in a pipe there are words and spaces, nothing to strip.
"""

from __future__ import annotations

from collections.abc import Sequence

from rich.box import ROUNDED
from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.padding import Padding
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from lastro.locale import _, ngettext
from lastro.view import show, words
from lastro.view.moves import move_text
from lastro.view.parts import NowRow, Page, RunRow
from lastro.view.telemetry_text import sample_text

_TONE = {
    "adopt": "green",
    "keep_control": "blue",
    "undecided": "yellow",
    "stopped": "red",
    "running": "cyan",
    "waiting": "default",
    "open": "yellow",
}
_STATUS_TONE = {
    "completed": "green",
    "running": "cyan",
    "stopped": "red",
    "failed": "red",
    "interrupted": "yellow",
    "paused": "yellow",
}


class _Framed:
    """A text with a frame on a terminal, and without one in a pipe."""

    def __init__(self, content: RenderableType, tone: str) -> None:
        self._content = content
        self._tone = tone

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        if options.is_terminal:
            yield Panel(self._content, box=ROUNDED, border_style=self._tone, padding=(0, 1))
        else:
            yield self._content


def summary(page: Page) -> RenderableType:
    """Return what is shown after a run or a closing: verdict, runs, interruptions, cost, the report."""
    parts: list[RenderableType] = [_Framed(_headline(page), _TONE.get(page.headline.verdict, "default"))]
    if page.runs:
        parts += [Text(), _run_table(page)]
        parts += _reasons(page)
    parts += _decisions(page)
    parts += _offers(page)
    if page.interruptions:
        parts += [Text(), _title(_("Interruptions")), _interruption_table(page)]
    parts += [Text(), _title(_("Cost")), _cost(page)]
    if page.provenance.report:
        path = page.provenance.report
        # Never wrapped: a path in two lines can neither be clicked nor copied.
        parts += [Text(), Text(_("report: {path}").format(path=path), no_wrap=True, overflow="ignore")]
    return Group(*parts)


def status(page: Page) -> RenderableType:
    """Return what runs now, what it has cost so far, and what is at risk."""
    parts: list[RenderableType] = [_headline(page)]
    for row in page.now:
        parts += [Text(), _now(row)]
    if page.runs:
        parts += [Text(), _run_table(page)]
        parts += _reasons(page)
    parts += _decisions(page)
    parts += _offers(page)
    parts += [Text(), _title(_("Cost")), _cost(page)]
    return Group(*parts)


def _text(text: str, style: str = "") -> Text:
    """Return a text that cannot steer the terminal: a failure's message may hold anything."""
    return Text("".join(letter if letter.isprintable() else " " for letter in text), style=style)


def _title(text: str) -> Text:
    return Text(text, style="bold")


def _headline(page: Page) -> RenderableType:
    tone = _TONE.get(page.headline.verdict, "default")
    lines = [_text(page.headline.text, f"bold {tone}") + _text("  " + page.campaign, "dim")]
    if page.question:
        lines.append(_text(page.question, "italic"))
    lines.append(_text(page.headline.why))
    return Group(*lines)


# --- runs -----------------------------------------------------------------------------------------------


def _columns(*columns: tuple[str, bool]) -> Table:
    """Return an empty table without lines: (heading, is it a number)."""
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim", show_edge=False)
    for heading, is_number in columns:
        table.add_column(heading, justify="right" if is_number else "left", overflow="fold")
    return table


def _run_table(page: Page) -> Table:
    metric = page.evidence.metric if page.evidence else _("metric")
    table = _columns(
        (_("run"), False), (_("status"), False), (_("tries"), True), (_("steps"), True), (_("lost"), True),
        (show.shortened(metric, 11), True), (_("difference"), True), (_("outputs"), False),
    )  # fmt: skip
    gaps = {row.run: row.difference for row in page.evidence.rows} if page.evidence else {}
    for row in page.runs:
        table.add_row(
            _text(show.shortened(row.name, 14), "bold" if row.adopted else ""),
            Text(words.run_status(row.status), style=_STATUS_TONE.get(row.status, "")),
            str(len(row.attempts) or "–"),
            show.count(row.steps) if row.attempts else "–",
            lost(row),
            _metric(row),
            show.difference(gaps.get(row.id)),
            _outputs(row),
        )
    return table


def lost(row: RunRow) -> str:
    """Return the steps that a run's interruptions have lost; what is not known is not zero."""
    if not row.attempts:
        return "–"
    if row.lost_is_complete:
        return show.count(row.lost_steps)
    return f"≥ {show.count(row.lost_steps)}" if row.lost_steps else show.unknown()


def _metric(row: RunRow) -> str:
    if row.metric_source is None:
        return "–"
    return show.number(row.metric) + ("" if row.metric_source == "recomputed" else "*")


def _outputs(row: RunRow) -> str:
    if not row.deliverables:
        return "–"
    accepted = sum(item.status == "accepted" for item in row.deliverables)
    if all(item.status in ("missing", "produced") for item in row.deliverables):
        return _("not judged")
    return _("{accepted} of {count}").format(accepted=accepted, count=len(row.deliverables))


def _reasons(page: Page) -> list[RenderableType]:
    """Return why runs ended as they did, outputs were rejected, and what the star means."""
    lines: list[RenderableType] = []
    for row in page.runs:
        if row.why and row.status not in ("completed", "running"):
            lines.append(_indented(f"{row.name}: {words.run_status(row.status)}: {row.why}"))
        if row.damaged_lines:
            text = ngettext(
                "{count} damaged line of measurements left out",
                "{count} damaged lines of measurements left out",
                row.damaged_lines,
            ).format(count=row.damaged_lines)
            lines.append(_indented(f"{row.name}: {text}"))
        for item in row.deliverables:
            # A run that did not complete has said why already.
            if item.status == "rejected" and row.status == "completed":
                why = item.why or show.unknown()
                lines.append(
                    _indented(
                        _("{run}: {output} rejected: {why}").format(run=row.name, output=item.name, why=why)
                    )
                )
    if any(row.metric_source not in (None, "recomputed") for row in page.runs):
        lines.append(_indented(_("* not recomputed from an accepted output"), "dim"))
    return [Text(), *lines] if lines else []


def _indented(text: str, style: str = "") -> RenderableType:
    return Padding(_text(text, style), (0, 0, 0, 2), expand=False)


def _decisions(page: Page) -> list[RenderableType]:
    """Return what was decided after pilots, what for, and what is left out by it."""
    lines: list[RenderableType] = []
    for row in page.plan.decisions:
        if row.choice is None:
            lines.append(_indented(_("{stage}: nobody has decided yet").format(stage=row.stage)))
            lines += [_indented(text) for text in row.measured]
        else:
            lines.append(_indented(f"{row.stage}: {row.choice}: {row.why}"))
    if page.plan.left_out:
        names = ", ".join(page.plan.left_out)
        lines.append(_indented(_("left out by the reduced protocol: {names}").format(names=names)))
    return [Text(), _title(_("Decisions")), *lines] if lines else []


def _offers(page: Page) -> list[RenderableType]:
    """Return which offers were left for which others, and that none is left."""
    lines = [_indented(move_text(move)) for move in page.plan.moves]
    if page.plan.spent is not None:
        lines.append(_indented(_("no other is left: {why}").format(why=page.plan.spent.why)))
    return [Text(), _title(_("Offers")), *lines] if lines else []


def _interruption_table(page: Page) -> Table:
    table = _columns(
        (_("run"), False), (_("what"), False), (_("at step"), True), (_("saved"), True), (_("lost"), True),
        (_("resumed"), True), (_("to next step"), True),
    )  # fmt: skip
    for item in page.interruptions:
        waited = item.seconds_to_next_step
        table.add_row(
            _text(f"{show.shortened(item.name, 14)} {item.attempt}"),
            Text(words.attempt_end(item.end)),
            show.count(item.step),
            show.count(item.committed_step) if item.committed_step is not None else _("nothing"),
            show.count(item.lost_steps),
            show.count(item.resumed_step) if item.resumed_step is not None else "–",
            show.seconds(waited) if waited is not None else "–",
        )
    return table


# --- money and now --------------------------------------------------------------------------------------


def _pairs(pairs: Sequence[tuple[str, str]]) -> Table:
    table = Table.grid(padding=(0, 3, 0, 0), pad_edge=False)
    table.add_column(style="dim", no_wrap=True)
    table.add_column(overflow="fold")
    for name, value in pairs:
        table.add_row(_text(name), _text(value))
    return table


def _cost(page: Page) -> RenderableType:
    cost = page.cost
    pairs = [
        (show.shortened(line.what, 32), f"{show.money(line.amount)}  {line.reason or line.quantity}")
        for line in cost.bill.lines
    ]
    pairs.append((_("total"), _total(page)))
    each = cost.per_accepted
    if each.amount is not None or each.unit is not None:
        value = (
            show.money(each.amount) if each.amount is not None else _("undefined: {why}").format(why=each.why)
        )
        pairs.append((_("per accepted {unit}").format(unit=each.unit or _("unit")), value))
    if cost.bills_now:
        rate = show.money(cost.rate) if cost.rate is not None else cost.rate_reason or _("paid already")
        pairs.append((_("per hour now"), rate))
    for level, why in dict.fromkeys((row.view.level, row.view.level_why) for row in page.machines):
        if level is not None and why is not None:
            pairs.append((_("machines"), words.machine_level(level, why)))
    if page.machines:
        used, idle = show.seconds(cost.used_seconds), show.seconds(cost.idle_seconds)
        pairs.append((_("rented"), _("{used}, of it idle {idle}").format(used=used, idle=idle)))
    return Padding(_pairs(pairs), (0, 0, 0, 2), expand=False)


def _total(page: Page) -> str:
    bill, budget = page.cost.bill, page.cost.budget
    if bill.total is not None:
        return f"{bill.total}" + ("  " + _("of a budget of {budget}").format(budget=budget) if budget else "")
    known = ", ".join(str(amount) for amount in bill.by_currency)
    text = bill.reason or show.unknown()
    if bill.lines:
        text = _("unknown: {why}").format(why=text)
    return text + ("; " + _("known: {amounts}").format(amounts=known) if known else "")


def _reached(row: NowRow) -> str:
    if row.items_done is None:
        return _("step {step}").format(step=show.count(row.step))
    if row.items_total is None:
        return _("{done} items done").format(done=show.count(row.items_done))
    return _("{done} of {total} items done").format(
        done=show.count(row.items_done), total=show.count(row.items_total)
    )


def _now(row: NowRow) -> RenderableType:
    title = _text(row.name, "bold") + _text("  " + _reached(row))
    if row.at_risk is None:
        risk = show.unknown()
    elif row.items_done is not None:
        risk = ngettext("{count} item in hand", "{count} items in hand", row.at_risk).format(
            count=show.count(row.at_risk)
        )
    elif row.committed_step is None:
        risk = ngettext(
            "{count} step, nothing is saved yet", "{count} steps, nothing is saved yet", row.at_risk
        ).format(count=show.count(row.at_risk))
    else:
        risk = ngettext(
            "{count} step since the checkpoint at {step}",
            "{count} steps since the checkpoint at {step}",
            row.at_risk,
        ).format(count=show.count(row.at_risk), step=show.count(row.committed_step))
    silent = row.silent_seconds
    place = _("{number} on {machine}").format(number=row.attempt, machine=row.machine)
    if row.pid is not None:
        place += _(", process {pid}").format(pid=row.pid)
    pairs = [
        (_("attempt"), place),
        (_("since"), f"{show.moment(row.since)}, {show.seconds(row.running_seconds)}"),
        (_("at risk"), risk),
        (
            _("last sign of life"),
            _("{time} ago").format(time=show.seconds(silent)) if silent is not None else show.unknown(),
        ),
    ]
    if row.sample is not None:
        pairs.append((_("uses"), sample_text(row.sample)))
    return Group(title, Padding(_pairs(pairs), (0, 0, 0, 2), expand=False))

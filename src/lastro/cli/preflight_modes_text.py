"""A profile, the memory of machines, a probe and a checklist, in a terminal of 80 columns."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta

from rich.box import SIMPLE_HEAD
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from lastro.flow.checking_off import Listed
from lastro.flow.machine_memory import Memory
from lastro.flow.probing import Probed
from lastro.journal.nodes import CONFIDENCE, NodeRecord
from lastro.journal.waits import Waits
from lastro.locale import _
from lastro.preflight.profile.law import Bound
from lastro.preflight.profile.result import Profile
from lastro.units import show_duration

_UNKNOWN = "–"


def _table(*names: str) -> Table:
    table = Table(box=SIMPLE_HEAD, pad_edge=False)
    for name in names:
        table.add_column(name, overflow="fold")
    return table


# --- a profile ----------------------------------------------------------------------------------------


def profile_text(profile: Profile) -> RenderableType:
    """Return what holds a loop up, its paces, and what to try."""
    words = {
        Bound.INPUT: _("The loop waits for its input."),
        Bound.COMPUTE: _("The loop computes: input holds nothing up."),
        Bound.MIXED: _("Neither input nor computing alone holds the loop up."),
        Bound.UNKNOWN: _("Nobody knows what holds the loop up."),
    }
    lines: list[RenderableType] = [Text(words[profile.judged.bound]), Text(profile.judged.why)]
    paces = profile.seen.paces if profile.seen is not None else None
    if paces is not None:
        table = _table(_("batches a second"), "")
        table.add_row(_("as it is"), _pace(paces.real))
        table.add_row(_("one batch again and again (free input)"), _pace(paces.replayed))
        table.add_row(_("the loader alone"), _pace(paces.loader))
        table.add_row(_("as the last two predict it"), _pace(profile.predicted))
        lines.append(table)
    if profile.doubt is not None:
        lines.append(Text(_("Careful: {why}.").format(why=profile.doubt)))
    for number, step in enumerate(profile.steps, start=1):
        lines.append(Text(f"{number}. {step.what}"))
        lines.append(Text(f"   {step.why}"))
    if paces is not None and not profile.steps:
        lines.append(Text(_("Nothing was measured that speaks for a change.")))
    return Group(*lines)


def _pace(value: float | None) -> str:
    return _("unknown") if value is None else f"{value:.3g}"


# --- machines -----------------------------------------------------------------------------------------


def history_text(memory: Memory) -> RenderableType:
    """Return how long machines took, and what is known of each."""
    if not memory.provisions and not memory.nodes:
        return Text(_("This home has taken no machine yet."))
    times = _table(_("machines"), _("until"), _("n"), _("given up"), _("median"), _("p90"))
    for group in memory.groups:
        title = f"{_by(group.by)} {group.name if group.name is not None else _('unknown')}"
        for stage in group.stages:
            if not stage.seen and not stage.given_up:
                continue
            row = [_stage(stage.stage), str(len(stage.seen)), str(len(stage.given_up)), *_figures(stage)]
            times.add_row(title, *row)
            title = ""
    nodes = _table(_("node"), _("hours"), _("faults"), _("an hour, {sure:.0%} sure").format(sure=CONFIDENCE))
    for node in memory.nodes:
        hours = _UNKNOWN if node.hours is None else f"{node.hours:.2f}"
        nodes.add_row(node.node, hours, str(len(node.faults)), _rate(node))
    against = [_("{node}: {why}").format(node=node.node, why=node.bad) for node in memory.nodes if node.bad]
    unread = [_("not read: {what}").format(what=what) for what in memory.unread]
    return Group(times, nodes, *map(Text, [*against, *_outliers(memory), *unread]))


def _by(key: str) -> str:
    return {"provider": _("provider"), "gpu": _("GPU"), "hour": _("hour (UTC)")}[key]


def _stage(name: str) -> str:
    return {
        "request": _("made"),
        "boot": _("booted"),
        "reachable": _("reachable"),
        "canary": _("checked"),
        "first_step": _("first step"),
    }[name]


def _figures(stage: Waits) -> tuple[str, str]:
    """Return median and ninth decile; of few, the events themselves."""
    if stage.median is None and stage.p90 is None:
        return ", ".join(_seconds(one) for one in stage.seen) or _UNKNOWN, _UNKNOWN
    return _seconds(stage.median), _seconds(stage.p90)


def _seconds(value: float | None) -> str:
    return _("unknown") if value is None else show_duration(timedelta(seconds=value))


def _rate(node: NodeRecord) -> str:
    if node.high is None:
        return _("unknown")
    return _("{low:.2g} to {high:.2g}").format(low=node.low, high=node.high)


def _outliers(memory: Memory) -> Iterator[str]:
    for group in memory.groups:
        for stage in group.stages:
            for tag in stage.outliers:
                yield _("far slower than the rest ({stage}): {tag}").format(
                    stage=_stage(stage.stage), tag=tag
                )


def probed_text(probed: Probed) -> RenderableType:
    """Return how long each machine took, and what they have cost."""
    table = _table(_("machine"), _("made"), _("booted"), _("reachable"), "")
    for one in probed.machines:
        row = [_seconds(seconds) for seconds in (one.request, one.boot, one.reachable)]
        table.add_row(one.machine or one.tag, *row, one.why or "")
    cost = _("nothing is paid for these machines")
    if probed.spent is not None:
        cost = _("spent: {spent} of {cap}").format(spent=probed.spent, cap=probed.max_spend)
    lines = [cost, *([_("ended early: {why}").format(why=probed.why)] if probed.why else [])]
    return Group(table, *map(Text, lines))


# --- the checklist ------------------------------------------------------------------------------------


def checklist_text(listed: Listed) -> RenderableType:
    """Return how each item stands, and how long all that is open takes."""
    if not listed.states:
        return Text(_("No offer of this campaign names a provider: there is nothing to check off."))
    words = {
        "done": _("done"),
        "expires": _("ends too early"),
        "expired": _("expired"),
        "waiting": _("asked for"),
        "missing": _("missing"),
        "wrong": _("does not fit"),
    }
    parts: list[RenderableType] = []
    for provider in dict.fromkeys(state.provider for state in listed.states):
        table = _table(provider, "", _("why"), _("takes"))
        for state in listed.states:
            if state.provider == provider:
                takes = (
                    _("unknown")
                    if state.takes_days is None
                    else _("{days:g} d").format(days=state.takes_days)
                )
                table.add_row(
                    words[state.state], state.item.what(), state.why, takes if state.is_open else ""
                )
        parts.append(table)
    count = sum(state.is_open for state in listed.states)
    if count == 0:
        parts.append(Text(_("All is done.")))
    elif listed.days is None:
        parts.append(Text(_("{count} open; nobody knows how long a quota takes there").format(count=count)))
    else:
        parts.append(
            Text(
                _("{count} open; begun together they take {days:g} days").format(
                    count=count, days=listed.days
                )
            )
        )
    if not listed.is_there:
        parts.append(
            Text(_("  next: lastro preflight --checklist --init writes {path}").format(path=listed.path))
        )
    return Group(*parts)

"""The result of a rehearsal in a terminal of 80 columns."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from lastro.cli import rehearse_words as words
from lastro.flow.rehearsal import Played, Rehearsal
from lastro.locale import _, ngettext
from lastro.plan.rehearsal_promises import Answer, Promise, show_hours
from lastro.units import show_duration

_TONE = {
    Answer.HELD: "bold green",
    Answer.BROKEN: "bold red",
    Answer.NOT_SHOWN: "bold yellow",
    Answer.UNPROMISED: "dim",
}


def rehearsal_text(done: Rehearsal) -> RenderableType:
    """Return what `lastro rehearse` shows."""
    return Group(*_parts(done))


def _parts(done: Rehearsal) -> Iterator[RenderableType]:
    if done.played is None:
        text = _("rehearsal: it does not work in small, without a single fault: {failed}")
        yield Text(text.format(failed="; ".join(done.failed)))
    else:
        yield from _played(done, done.played)
    if done.folder is not None:
        path = _("journals, logs and faults: {folder}").format(folder=done.folder)
        yield Text(path, no_wrap=True, overflow="ignore")  # a path that is broken cannot be copied


def _played(done: Rehearsal, played: Played) -> Iterator[RenderableType]:
    yield _head(done, played)
    yield from _drawn_from(played)
    yield Text("")
    yield _faults(played)
    yield Text("")
    yield _table(played.promises)
    for one in played.promises:
        why = one.why if one.answer in (Answer.BROKEN, Answer.NOT_SHOWN) else one.condition
        if why:
            text = _("{promise} {answer}: {why}").format(
                promise=words.promise(one.name), answer=words.answer(one.answer), why=why
            )
            yield _under(text, style=_TONE[one.answer])
    yield Text("")
    yield _under(_("cannot be shown: {what}").format(what="; ".join(words.limits())), style="dim", indent=0)


def _head(done: Rehearsal, played: Played) -> Text:
    counted = [one for one in played.promises if one.answer is not Answer.UNPROMISED]
    held = sum(one.answer is Answer.HELD for one in counted)
    head = Text(words.answer(played.verdict), style=_TONE[played.verdict])
    told = ngettext("{held} of {count} promise held", "{held} of {count} promises held", len(counted)).format(
        held=held, count=len(counted)
    )
    if done.seed is None:
        whole = _("{campaign}, with your faults: {told}").format(campaign=done.campaign, told=told)
    else:
        whole = _("{campaign}, seed {seed}: {told}").format(campaign=done.campaign, seed=done.seed, told=told)
    head.append(f"  {whole}", "none")
    return head


def _drawn_from(played: Played) -> Iterator[RenderableType]:
    if played.weather is not None:
        yield _under(_("drawn from: {origin}").format(origin=played.weather.origin))
        if played.forecast.expected is not None:
            text = _("expected by that: {count:.2g} losses").format(count=played.forecast.expected)
            yield _under(text)
    assumed = [*(played.weather.assumed if played.weather else ()), *played.shape.pauses.said]
    if assumed:
        yield _under(_("assumed: {what}").format(what="; ".join(assumed)), style="dim")
    yield _under(_scale(played))
    for note in played.scale.notes:
        yield _under(note, style="dim")


def _scale(played: Played) -> str:
    """Say what the small runs stand for."""
    undisturbed, disturbed = (show_duration(timedelta(seconds=seconds)) for seconds in played.seconds)
    steps = [
        f"{one.run} {show_hours(hours)}"
        for one in played.scale.runs.values()
        if (hours := one.step_hours) is not None
    ]
    text = _("in small: {undisturbed} undisturbed, {disturbed} with faults").format(
        undisturbed=undisturbed, disturbed=disturbed
    )
    if steps:
        text = _("{small}; a step stands for: {steps}").format(small=text, steps=", ".join(steps))
    return text


def _faults(played: Played) -> RenderableType:
    if not played.blows:
        return _under(_("nothing happened"))
    table = Table.grid(padding=(0, 2, 0, 0))
    table.add_column(justify="right", min_width=3)
    table.add_column(overflow="fold")
    for blow in played.blows:
        table.add_row("-" if blow.index is None else str(blow.index + 1), words.fault(played, blow))
    return table


def _table(promises: tuple[Promise, ...]) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim")
    for title in ("", _("promise"), _("promised"), _("seen")):
        table.add_column(title)
    for one in promises:
        table.add_row(
            Text(words.answer(one.answer), style=_TONE[one.answer]),
            words.promise(one.name),
            one.promised,
            one.seen,
        )
    return table


def _under(text: str, *, style: str = "", indent: int = 2) -> RenderableType:
    return Padding(Text(text, style=style), (0, 0, 0, indent), expand=False)

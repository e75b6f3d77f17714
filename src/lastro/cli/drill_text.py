"""The result of a drill in a terminal of 80 columns."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.text import Text

from lastro.drill.budget import Budget
from lastro.drill.crosscheck import Agreement, Check
from lastro.drill.verdict import Answer, ArmResult, DrillResult
from lastro.locale import _, ngettext
from lastro.units import show_duration
from lastro.view import words

_TONE = {
    Answer.EXACT: "bold green",
    Answer.WITHIN_NOISE: "bold green",
    Answer.DIFFERENT: "bold red",
    Answer.NOT_PROVEN: "bold yellow",
}


def drill_text(result: DrillResult) -> RenderableType:
    """Return what `lastro drill` shows."""
    return Group(*_parts(result))


def _parts(result: DrillResult) -> Iterator[RenderableType]:
    head = Text(words.drill(result.verdict.value), style=_TONE[result.verdict])
    head.append(f"  {result.why}", style="default")
    yield head
    yield from _cause(result)
    yield from _size(result)
    if result.budget is not None:
        yield Text(_budget(result.budget), style="dim")
    yield Text("")
    for arm in result.arms:
        yield from _arm(arm, told=result.why)
    for text in result.limits:
        yield _under(_("cannot be seen: {what}").format(what=text), style="yellow")
    for why in dict.fromkeys(why for _what, why in result.left_out):
        left_out = "; ".join(what for what, reason in result.left_out if reason == why)
        yield _under(_("left out ({why}): {what}").format(what=left_out, why=why), style="dim")
    if result.folder is not None:
        path = _("logs and traces: {folder}").format(folder=result.folder)
        yield Text(path, no_wrap=True, overflow="ignore")  # a path that is broken cannot be copied


def _cause(result: DrillResult) -> Iterator[RenderableType]:
    cause = result.cause
    if cause is None:
        return
    if cause.names:
        yield _under(_("what: {names}").format(names=", ".join(cause.names)))
    if cause.also:
        yield _under(_("differs too: {kinds}").format(kinds=", ".join(cause.also)))
    if cause.remedy:
        yield _under(_("next: {remedy}").format(remedy=cause.remedy))
    if result.check is not None:
        yield _under(_checked(result.check))


def _checked(check: Check) -> str:
    text = {
        Agreement.AGREES: _("checked: {why}"),
        Agreement.DISAGREES: _("in doubt: {why}"),
        Agreement.NOT_TRIED: _("not checked: {why}"),
    }[check.answer]
    return text.format(why=check.why)


def _budget(budget: Budget) -> str:
    if budget.seconds is None:
        return _("no budget of time ({why})").format(why=budget.why)
    time = show_duration(timedelta(seconds=budget.seconds))
    return _("budget of time: {time} ({why})").format(time=time, why=budget.why)


def _size(result: DrillResult) -> Iterator[RenderableType]:
    """Yield how much was compared; nothing where nothing was."""
    if not result.undisturbed:
        return
    lives = ngettext("{count} undisturbed life", "{count} undisturbed lives", result.undisturbed).format(
        count=result.undisturbed
    )
    time = show_duration(timedelta(seconds=result.seconds))
    text = _("{lives}, {time} in all").format(lives=lives, time=time)
    if result.updates:
        text = _("{updates} updates compared, {lives}, {time} in all").format(
            updates=result.updates, lives=lives, time=time
        )
    yield Text(text, style="dim")


def _arm(arm: ArmResult, told: str) -> Iterator[RenderableType]:
    """Yield what one arm showed. `told`: what is said already."""
    line = Text("  ")
    line.append(words.drill(arm.answer.value), style=_TONE[arm.answer])
    line.append(f"  {arm.what}")
    yield line
    text = _("{seconds:.1f} s from kill to new update, {lost} updates made again")
    facts = [
        text.format(seconds=one.to_first_update, lost=one.lost)
        for one in arm.measured
        if one.to_first_update is not None
    ]
    if arm.answer is Answer.NOT_PROVEN and arm.why != told:
        facts.append(arm.why)
    for fact in facts:
        yield _under(fact, style="dim", indent=6)


def _under(text: str, *, style: str = "", indent: int = 2) -> RenderableType:
    return Padding(Text(text, style=style), (0, 0, 0, indent), expand=False)

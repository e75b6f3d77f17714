"""What a rehearsal says in words: its promises, its faults, and what it cannot show."""

from __future__ import annotations

from lastro.flow.rehearsal import Played, drawn_of
from lastro.locale import _, ngettext
from lastro.plan.rehearsal_account import Blow
from lastro.plan.rehearsal_draw import Drawn
from lastro.plan.rehearsal_promises import Answer, show_hours
from lastro.plan.rehearsal_weather import Kind


def promise(name: str) -> str:
    """Return what a promise is called."""
    return {
        "window": _("window"),
        "budget": _("budget"),
        "loss": _("work lost at once"),
        "runs": _("runs"),
        "outputs": _("outputs"),
        "answer": _("the answer"),
        "rented": _("rented"),
    }[name]


def answer(code: Answer) -> str:
    """Return what became of a promise."""
    return {
        Answer.HELD: _("held"),
        Answer.BROKEN: _("broke"),
        Answer.NOT_SHOWN: _("not shown"),
        Answer.UNPROMISED: _("not promised"),
    }[code]


def fault(played: Played, blow: Blow) -> str:
    """Return what happened, and what it has cost."""
    return f"{_what(drawn_of(played, blow.index), blow)}: {_cost(blow)}"


def limits() -> tuple[str, ...]:
    """Return what no rehearsal can show."""
    return (
        _("how long real machines take to boot and to be had"),
        _("how fast they, their disks and networks are"),
        _("whether the small runs fail where the real ones would"),
    )


def _what(drawn: Drawn | None, blow: Blow) -> str:
    if drawn is None:
        return _("{run} was interrupted without being asked to ({why})").format(run=blow.run, why=blow.why)
    if drawn.kind is Kind.REFUSED:
        return _("request {number} for a machine is refused").format(number=drawn.create)
    place = _("{run} at step {step}").format(run=drawn.run, step=drawn.step)
    if drawn.kind is Kind.SILENT:
        return _("{place}, its machine freezes").format(place=place)
    if drawn.notice is None:
        text = _("{place}, its machine is gone without notice")
        if drawn.added:
            text = _("{place}, its machine is gone without notice (added: none was drawn)")
        return text.format(place=place)
    return _("{place}, {seconds:.0f} s of notice").format(place=place, seconds=drawn.notice)


def _cost(blow: Blow) -> str:
    if not blow.happened:
        return _("it never came, its run was over")
    if blow.kind is Kind.REFUSED:
        return _("{delay} later").format(delay=show_hours(blow.delay or 0.0))
    if blow.lost is None or blow.delay is None:
        return _("{steps} steps to be done again; how long that takes is unknown").format(
            steps="?" if blow.lost_steps is None else blow.lost_steps
        )
    if not blow.lost_steps:
        return _("nothing lost, {delay} later").format(delay=show_hours(blow.delay))
    text = ngettext(
        "{lost} of work lost ({steps} step), {delay} later",
        "{lost} of work lost ({steps} steps), {delay} later",
        blow.lost_steps,
    )
    return text.format(lost=show_hours(blow.lost), steps=blow.lost_steps, delay=show_hours(blow.delay))

"""Is a card held back: by heat, by its power supply, by a limit that somebody has set?"""

from __future__ import annotations

from collections.abc import Iterator

from lastro.locale import _
from lastro.preflight.check import Finding, Level, Subject
from lastro.stack.driver import Card

#: Bits of nvmlClocksEventReasons (nvml.h) that are no choice of anybody: hardware slowdown, heat (by software
#: and by hardware), power brake. A power cap (4) is how the card keeps its limit, and an idle card (1) rests.
HELD_BACK = {
    0x8: "hardware slowdown",
    0x20: "software thermal",
    0x40: "hardware thermal",
    0x80: "power brake",
}
#: Of the default limit, and of the highest clock under load.
POWER_SHARE, CLOCK_SHARE = 0.9, 0.7
#: A card that computes less than this has no load to be judged by.
UNDER_LOAD = 0.5
_POWER_CAP = 0x4


def check(subject: Subject) -> Iterator[Finding]:
    """Look at each card that can be read."""
    for card in subject.cards:
        yield from judge(card)


def judge(card: Card) -> Iterator[Finding]:
    """Return what holds a card back; one finding when nothing does."""
    found = list(_wrong(card))
    if found:
        yield from found
        return
    known = card.throttle is not None and card.temperature is not None
    yield Finding(
        code="gpu_heat",
        level=Level.PASS if known else Level.NO_ANSWER,
        fact=_("GPU {index}: held back").format(index=card.index),
        value=_("by nothing, at {degrees} °C").format(degrees=card.temperature) if known else _("not told"),
    )


def _wrong(card: Card) -> Iterator[Finding]:
    reasons = [name for bit, name in HELD_BACK.items() if (card.throttle or 0) & bit]
    if reasons:
        yield _finding(
            card,
            "gpu_throttled",
            _("held back: {reasons}").format(reasons=", ".join(reasons)),
            _("none of these reasons"),
            _("let the card cool down and check again; if it comes back, give the machine back"),
        )
    if card.temperature is not None and card.slowdown_at and card.temperature >= card.slowdown_at:
        yield _finding(
            card,
            "gpu_temperature",
            _("{degrees} °C").format(degrees=card.temperature),
            _("below {degrees} °C, where it slows itself down").format(degrees=card.slowdown_at),
            _("give the machine back: it is not cooled"),
        )
    if (
        card.power_limit_mw is not None
        and card.power_default_mw
        and card.power_limit_mw < POWER_SHARE * card.power_default_mw
    ):
        yield _finding(
            card,
            "gpu_power_limit",
            _("{watts:.0f} W").format(watts=card.power_limit_mw / 1000),
            _("at least {watts:.0f} W, {share:.0%} of its default").format(
                watts=POWER_SHARE * card.power_default_mw / 1000, share=POWER_SHARE
            ),
            _("ask the provider why the limit was lowered, or take another machine"),
        )
    if _is_slow(card):
        yield _finding(
            card,
            "gpu_clock",
            _("{clock} MHz under load").format(clock=card.clock),
            _("at least {share:.0%} of {most} MHz").format(share=CLOCK_SHARE, most=card.clock_max),
            _("look for a locked clock (nvidia-smi -rgc), or take another machine"),
        )


def _is_slow(card: Card) -> bool:
    loaded = (card.use or 0) > UNDER_LOAD
    capped = bool((card.throttle or 0) & _POWER_CAP)
    known = card.clock is not None and bool(card.clock_max)
    return loaded and known and not capped and (card.clock or 0) < CLOCK_SHARE * (card.clock_max or 0)


def _finding(card: Card, code: str, value: str, expected: str, next_step: str) -> Finding:
    return Finding(
        code=code,
        level=Level.FAIL,
        fact=_("GPU {index}: held back").format(index=card.index),
        value=value,
        expected=expected,
        consequence=_("steps take longer than was planned, and the hours cost the same"),
        next_step=next_step,
    )

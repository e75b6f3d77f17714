"""Is a card on the full width of its link?"""

from __future__ import annotations

from collections.abc import Iterator

from lastro.locale import _
from lastro.preflight.check import Finding, Level, Subject
from lastro.preflight.gpu_heat import UNDER_LOAD
from lastro.stack.driver import Card

#: Packets that had to be sent again since the driver was loaded: the bound of DCGM's PCIe test (72fa3fe).
MOST_REPLAYS = 80


def check(subject: Subject) -> Iterator[Finding]:
    """Look at each card that can be read."""
    for card in subject.cards:
        yield from judge(card)


def judge(card: Card) -> Iterator[Finding]:
    """Return what is wrong with a card's link; its generation counts under load only, an idle link rests."""
    found = list(_wrong(card))
    if found:
        yield from found
        return
    known = card.link_width is not None and card.link_width_max is not None
    yield Finding(
        code="gpu_link",
        level=Level.PASS if known else Level.NO_ANSWER,
        fact=_("GPU {index}: link").format(index=card.index),
        value=_("x{width}, generation {gen}").format(width=card.link_width, gen=card.link_gen)
        if known
        else _("not told"),
    )


def _wrong(card: Card) -> Iterator[Finding]:
    if card.link_width is not None and card.link_width_max and card.link_width < card.link_width_max:
        yield _finding(
            card,
            "gpu_link_width",
            Level.FAIL,
            f"x{card.link_width}",
            f"x{card.link_width_max}",
        )
    loaded = (card.use or 0) > UNDER_LOAD
    if loaded and card.link_gen is not None and card.link_gen_max and card.link_gen < card.link_gen_max:
        yield _finding(
            card,
            "gpu_link_generation",
            Level.FAIL,
            _("generation {gen} under load").format(gen=card.link_gen),
            _("generation {gen}").format(gen=card.link_gen_max),
        )
    if (card.replays or 0) > MOST_REPLAYS:
        yield _finding(
            card,
            "gpu_link_replays",
            Level.WARN,
            _("{count} packets sent again").format(count=card.replays),
            _("at most {count}").format(count=MOST_REPLAYS),
        )


def _finding(card: Card, code: str, level: Level, value: str, expected: str) -> Finding:
    return Finding(
        code=code,
        level=level,
        fact=_("GPU {index}: link").format(index=card.index),
        value=value,
        expected=expected,
        consequence=_("data reach the card more slowly than it can compute"),
        next_step=_("take another machine; if it is your own, put the card into a full slot"),
    )

"""Does somebody else use these cards?"""

from __future__ import annotations

from collections.abc import Iterator

from lastro.locale import _
from lastro.preflight.check import Finding, Level, Subject
from lastro.stack.driver import Card
from lastro.units import show_bytes

#: Of a card that nobody uses, the driver itself holds less than this; gcm (facebookresearch/gcm, 1b7bde9)
#: allows 15 MiB, which large cards exceed by themselves.
IDLE_SHARE = 0.02


def check(subject: Subject) -> Iterator[Finding]:
    """Look at each card that can be read."""
    if subject.cpu_only or subject.driver.reason is not None:
        return
    for card in subject.driver.cards:
        if not card.is_lost:
            yield from judge(card)


def judge(card: Card) -> Iterator[Finding]:
    """Return the finding for what runs on a card, and what it holds, before anything is begun."""
    fact = _("GPU {index}: others").format(index=card.index)
    next_step = _("end what runs there, or give the machine back: the card is shared")
    if card.processes:
        yield Finding(
            code="gpu_processes",
            level=Level.FAIL,
            fact=fact,
            value=_("processes {pids}").format(pids=", ".join(map(str, card.processes[:5]))),
            expected=_("none"),
            consequence=_("memory and time of the card are shared with somebody else"),
            next_step=next_step,
        )
        return
    if card.used_bytes is None or not card.memory_bytes:
        yield Finding(code="gpu_processes", level=Level.NO_ANSWER, fact=fact, value=_("not told"))
        return
    busy = card.used_bytes > IDLE_SHARE * card.memory_bytes
    yield Finding(
        code="gpu_processes",
        level=Level.FAIL if busy else Level.PASS,
        fact=fact,
        value=_("no process, {size} in use").format(size=show_bytes(card.used_bytes)),
        expected=_("at most {share:.0%} in use").format(share=IDLE_SHARE),
        consequence=_("somebody whom this container cannot see holds memory of the card") if busy else None,
        next_step=next_step if busy else None,
    )

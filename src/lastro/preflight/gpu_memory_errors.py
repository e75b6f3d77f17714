"""Has the memory of these cards been wrong?"""

from __future__ import annotations

from collections.abc import Iterator

from lastro.locale import _
from lastro.preflight.check import Finding, Level, Subject
from lastro.stack.driver import Card

#: Uncorrected errors over a card's life beyond which another one is asked for: practice that ml-engineering
#: (stas00/ml-engineering, 744d01e) tells of.
MOST_AGGREGATE = 4


def check(subject: Subject) -> Iterator[Finding]:
    """Look at each card that can be read."""
    for card in subject.cards:
        yield from judge(card)


def judge(card: Card) -> Iterator[Finding]:
    """Return what counters and remapped rows say; one finding when all is well."""
    found = list(_wrong(card))
    if found:
        yield from found
        return
    silent = card.ecc_volatile is None and card.rows is None
    yield Finding(
        code="gpu_ecc",
        level=Level.NO_ANSWER if silent else Level.PASS,
        fact=_fact(card),
        value=_("this card counts no errors") if silent else _("no uncorrected error, no row pending"),
    )


def _fact(card: Card) -> str:
    return _("GPU {index}: errors of its memory").format(index=card.index)


def _wrong(card: Card) -> Iterator[Finding]:
    give_back = _("give the machine back, and note its node id")
    if card.ecc_volatile:
        yield _finding(
            card,
            "gpu_ecc_volatile",
            _("{count} uncorrected since the driver was loaded").format(count=card.ecc_volatile),
            _("none"),
            give_back,
        )
    if (card.ecc_aggregate or 0) > MOST_AGGREGATE:
        yield _finding(
            card,
            "gpu_ecc_aggregate",
            _("{count} uncorrected in its life").format(count=card.ecc_aggregate),
            _("at most {count}").format(count=MOST_AGGREGATE),
            give_back,
        )
    if card.rows is not None and card.rows[3]:
        yield _finding(
            card,
            "gpu_rows_failed",
            _("a row could not be replaced"),
            _("none"),
            give_back,
        )
    if card.rows is not None and card.rows[2]:
        yield _finding(
            card,
            "gpu_rows_pending",
            _("a row waits to be replaced"),
            _("none"),
            _("reset the card or restart the machine, and check again"),
        )


def _finding(card: Card, code: str, value: str, expected: str, next_step: str) -> Finding:
    return Finding(
        code=code,
        level=Level.FAIL,
        fact=_fact(card),
        value=value,
        expected=expected,
        consequence=_("results and checkpoints may hold numbers that nobody computed"),
        next_step=next_step,
    )

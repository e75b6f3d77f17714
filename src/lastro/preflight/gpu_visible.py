"""Will the job see the cards: by its environment, their modes, and MIG?"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from lastro.locale import _
from lastro.preflight.check import Finding, Level, Subject
from lastro.stack.driver import Card

VARIABLE = "CUDA_VISIBLE_DEVICES"
_UUID = re.compile(r"(GPU|MIG)-[0-9A-Za-z-]+")
#: nvmlComputeMode (nvml.h): no process may compute; one process only.
_PROHIBITED = 2


def check(subject: Subject) -> Iterator[Finding]:
    """Read the environment as CUDA does, and the modes of the cards."""
    if subject.cpu_only or subject.driver.reason is not None or not subject.driver.cards:
        return
    yield judge_environment(subject.environment.get(VARIABLE), subject.driver.cards)
    for card in subject.driver.cards:
        if not card.is_lost:
            yield from judge_modes(card)


def judge_environment(value: str | None, cards: Sequence[Card]) -> Finding:
    """Compare CUDA_VISIBLE_DEVICES with the cards that are there: CUDA stops at the first unknown name.

    Args:
        value: of the variable; None: it is not set, and all cards are seen.
        cards: as the driver tells them.
    """
    wrong = None
    if value is not None:
        names = [name.strip() for name in value.split(",") if name.strip()]
        known = [name for name in names if _is_known(name, cards)]
        if not names or value.strip() in ("-1", "NoDevFiles"):
            wrong = _("it hides every card")
        elif len(known) < len(names):
            first = next(name for name in names if name not in known)
            wrong = _("{name} is no card of this machine; it and all that follow are hidden").format(
                name=first
            )
        elif len(set(names)) < len(names):
            wrong = _("a card is named twice, which hides every card")
    return Finding(
        code="gpu_visible",
        level=Level.PASS if wrong is None else Level.FAIL,
        fact=VARIABLE,
        value=_("not set: all {count}").format(count=len(cards))
        if value is None
        else f"{value!r}" + (f": {wrong}" if wrong else ""),
        expected=_("cards that are there"),
        consequence=None if wrong is None else _("the job sees fewer cards than are paid for, or none"),
        next_step=None
        if wrong is None
        else _("unset {name}, or name cards that are there").format(name=VARIABLE),
    )


def _is_known(name: str, cards: Sequence[Card]) -> bool:
    if name.isdigit():
        return int(name) < len(cards)
    if not _UUID.fullmatch(name):
        return False
    # The instances of a card that is divided are not asked one by one; that one is divided is known.
    return any((card.uuid or "").startswith(name) or (name.startswith("MIG-") and card.mig) for card in cards)


def judge_modes(card: Card) -> Iterator[Finding]:
    """Say when a card may not compute, or is divided."""
    if card.compute_mode == _PROHIBITED:
        yield Finding(
            code="gpu_compute_mode",
            level=Level.FAIL,
            fact=_("GPU {index}: compute mode").format(index=card.index),
            value=_("prohibited"),
            expected=_("default, or exclusive to one process"),
            consequence=_("no process may compute on it"),
            next_step=_("nvidia-smi -c DEFAULT, or take another machine"),
        )
    if card.mig:
        yield Finding(
            code="gpu_mig",
            level=Level.WARN,
            fact=_("GPU {index}: MIG").format(index=card.index),
            value=_("on: the card is divided"),
            expected=_("off, unless a part of a card was rented"),
            consequence=_("a job sees one part of the card, and less memory than its name says"),
            next_step=_("name the instance (MIG-...) in {name}, or take a whole card").format(name=VARIABLE),
        )

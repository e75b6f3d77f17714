"""Are these the cards that the campaign wants and the lease says, all of them, and are they there?"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from lastro.locale import _
from lastro.preflight.check import Finding, Level, Offered, Subject
from lastro.spec.durations import card as one_spelling
from lastro.spec.want import parse_card, parse_count, parse_size
from lastro.stack.driver import Card
from lastro.units import show_bytes

#: A card tells some per cent less than its name says: firmware and ECC keep them (16 GiB told as 15.7).
MEMORY_SHARE = 0.92


def check(subject: Subject) -> Iterator[Finding]:
    """Look at each card, then compare them with the wishes and with the lease."""
    if subject.cpu_only or subject.driver.reason is not None:
        return
    cards = subject.driver.cards
    yield from judge_presence(cards)
    wanted = subject.want
    if "gpus" in wanted:
        yield judge_count(cards, parse_count(wanted["gpus"]))
    if "gpu" in wanted:
        yield judge_names(cards, parse_card(wanted["gpu"]))
    if "gpu_memory" in wanted:
        yield judge_memory(cards, parse_size(wanted["gpu_memory"]).bytes)
    if subject.offered is not None:
        yield from judge_lease(cards, subject.offered)


def judge_presence(cards: Sequence[Card]) -> Iterator[Finding]:
    """Say which cards are there; one that has left the bus is named."""
    for card in cards:
        if card.is_lost or card.name is None:
            yield Finding(
                code="gpu_lost" if card.is_lost else "gpu_unreadable",
                level=Level.FAIL,
                fact=_("GPU {index}").format(index=card.index),
                value=_("it has left the bus")
                if card.is_lost
                else _("it cannot be read (NVML error {codes})").format(
                    codes=", ".join(str(code) for code in sorted(set(card.errors.values()))) or "?"
                ),
                consequence=_("the job hangs or ends when it touches this card"),
                next_step=_("give the machine back, and note its node id"),
            )
    names = ", ".join(card.name for card in cards if card.name)
    yield Finding(
        code="gpu",
        level=Level.PASS if cards else Level.WARN,
        fact=_("GPUs"),
        value=names or _("none: the driver answers, and has no card"),
        consequence=None if cards else _("the job finds no GPU"),
        next_step=None if cards else _("start the container with its GPUs, or take another machine"),
    )


def judge_count(cards: Sequence[Card], wanted: int) -> Finding:
    """Compare the number of cards that can be used."""
    there = sum(1 for card in cards if card.name is not None and not card.is_lost)
    well = there >= wanted
    return Finding(
        code="gpu_count",
        level=Level.PASS if well else Level.FAIL,
        fact=_("number of GPUs"),
        value=str(there),
        expected=_("at least {count}").format(count=wanted),
        consequence=None if well else _("the job does not start, or takes longer than was planned"),
        next_step=None if well else _("give the machine back: it is not what was asked for"),
    )


def judge_names(cards: Sequence[Card], wanted: Sequence[str]) -> Finding:
    """Compare each card's name with those that are well."""
    known = {one_spelling(name) for name in wanted}
    others = sorted({str(card.name) for card in cards if card.name and one_spelling(card.name) not in known})
    well = not others and bool(cards)
    return Finding(
        code="gpu_name",
        level=Level.PASS if well else Level.FAIL,
        fact=_("kind of GPU"),
        value=", ".join(others) or ", ".join(sorted({str(card.name) for card in cards})) or _("none"),
        expected=_(" or ").join(wanted),
        consequence=None if well else _("speed, memory and results are not those of the plan"),
        next_step=None if well else _("give the machine back: it is not what was asked for"),
    )


def judge_memory(cards: Sequence[Card], wanted: int) -> Finding:
    """Compare the smallest card with the memory that each has to have."""
    told = [card.memory_bytes for card in cards if card.memory_bytes is not None]
    least = min(told, default=None)
    well = least is not None and least >= wanted * MEMORY_SHARE
    return Finding(
        code="gpu_memory",
        level=Level.PASS if well else Level.FAIL if least is not None else Level.NO_ANSWER,
        fact=_("memory of each GPU"),
        value=show_bytes(least) if least is not None else _("not told"),
        expected=_("at least {size}, less what the card keeps").format(size=show_bytes(wanted)),
        consequence=None if well else _("the job runs out of memory on the card"),
        next_step=None if well else _("take a larger card, or a smaller batch"),
        required=True,
    )


def judge_lease(cards: Sequence[Card], offered: Offered) -> Iterator[Finding]:
    """Compare the cards with what is being paid for."""
    if offered.gpus:
        yield judge_count(cards, offered.gpus)
    if offered.gpu is not None and cards:
        yield judge_names(cards, (offered.gpu,))
    if offered.memory_bytes is not None:
        yield judge_memory(cards, offered.memory_bytes)

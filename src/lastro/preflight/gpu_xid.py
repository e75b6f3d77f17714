"""Did a card report a critical error (Xid) while it was watched?"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from lastro.locale import _
from lastro.preflight.check import Finding, Level
from lastro.records import dataclass

#: Codes after which a machine is not used, after NVIDIA's Xid catalogue as leptonai/gpud (4a8de33a) has it.
REJECT = frozenset({48, 62, 64, 74, 79, 95, 109, 119, 120, 136, 140, 143, 149})
#: Codes after which the card is reset first.
RESET = frozenset({63})
#: Codes that mostly are the fault of the program that was running.
OF_THE_PROGRAM = frozenset({13, 31, 43, 45})
#: Codes that come with corrupted memory: no risk to be accepted.
CORRUPTS = frozenset({48, 64, 95, 140})


@dataclass(frozen=True, kw_only=True)
class Xid:
    """One event. `card` None: it was not told which."""

    code: int
    card: int | None


def judge(
    events: Sequence[Xid], watched: Sequence[int], deaf: Sequence[int], lost: str | None
) -> Iterator[Finding]:
    """Return the findings for what was heard. Nothing heard is "not seen", never "none".

    Args:
        events: in their order.
        watched: cards that were listened to.
        deaf: cards that give no events.
        lost: why the watch ended early, if it did.
    """
    for code, card in dict.fromkeys((event.code, event.card) for event in events):
        yield _of(code, card)
    if lost is not None or (deaf and not watched):
        yield Finding(
            code="gpu_xid",
            level=Level.NO_ANSWER,
            fact=_("Xid events"),
            value=lost or _("no card gives events"),
        )
    elif not events:
        yield Finding(
            code="gpu_xid",
            level=Level.PASS,
            fact=_("Xid events"),
            value=_("not seen on {count} cards while they were watched").format(count=len(watched)),
        )


def _of(code: int, card: int | None) -> Finding:
    rejects = code in REJECT or code in RESET
    steps = {
        True: _("give the machine back, and note its node id"),
        False: _("look at the job first: this is mostly its own fault")
        if code in OF_THE_PROGRAM
        else _("look the code up in NVIDIA's catalogue, and check again"),
    }
    return Finding(
        code="gpu_xid_corrupt" if code in CORRUPTS else "gpu_xid",
        level=Level.FAIL if rejects else Level.WARN,
        fact=_("Xid events"),
        value=_("Xid {code} on GPU {card}").format(code=code, card="?" if card is None else card),
        expected=_("none while it is watched"),
        consequence=_("the card fails under load, or computes what nobody asked for"),
        next_step=_("reset the card, and check again") if code in RESET else steps[rejects],
    )

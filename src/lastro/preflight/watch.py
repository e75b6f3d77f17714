"""Listens to the cards while they work: critical Xid events, and once a second what holds them back."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields, replace
from typing import Any

from lastro.locale import _
from lastro.preflight import gpu_heat, gpu_link, gpu_xid
from lastro.preflight.check import Finding, Level
from lastro.preflight.gpu_heat import UNDER_LOAD
from lastro.preflight.gpu_xid import Xid
from lastro.records import dataclass
from lastro.stack.driver import Card, leave, lines_until, start_child

#: A child that is told to end does so within one look; after this it is left behind.
_SECONDS_TO_END = 2.0
#: Longer than any size of preflight; who watches ends it before.
_AT_MOST = 3 * 3600.0


@dataclass(frozen=True, kw_only=True)
class Watched:
    """What was heard and seen. `lost`: why it ended early; None: it did not. `samples`: of cards, in time."""

    events: tuple[Xid, ...] = ()
    watched: tuple[int, ...] = ()
    deaf: tuple[int, ...] = ()
    lost: str | None = None
    samples: tuple[Mapping[str, Any], ...] = ()


class Watch:
    """Listens from its making until `end`. What a driver that hangs says is that nothing was heard."""

    def __init__(self, environment: Mapping[str, str] | None = None) -> None:
        self._lines: list[Mapping[str, Any]] = []
        self._child = start_child(["watch"], environment)
        self._thread = threading.Thread(target=self._listen, name="preflight-watch", daemon=True)
        self._thread.start()

    def _listen(self) -> None:
        for line in lines_until(self._child, time.monotonic() + _AT_MOST):
            self._lines.append(line)

    @property
    def begun(self) -> bool:
        """Whether it listens already."""
        return any("watching" in line for line in tuple(self._lines))

    @property
    def events(self) -> tuple[Xid, ...]:
        """What was heard until now."""
        return understood(tuple(self._lines)).events

    def end(self) -> Watched:
        """Stop listening, and return what there was."""
        if self._child.stdin is not None:
            self._child.stdin.close()
        self._thread.join(_SECONDS_TO_END)
        leave(self._child)
        return understood(tuple(self._lines))


def understood(lines: Sequence[Mapping[str, Any]]) -> Watched:
    """Return what a child's lines say. Pure; lines that say something else are passed over."""
    begun = next((line for line in lines if "watching" in line), None)
    problem = next((line for line in lines if "problem" in line), None)
    lost = [str(line["lost"]) for line in lines if "lost" in line]
    why = None
    if problem is not None:
        why = str(problem.get("why"))
    elif begun is None or not any("end" in line for line in lines):
        why = _("the driver fell silent while it was watched")
    return Watched(
        events=tuple(Xid(code=int(line["xid"]), card=line.get("card")) for line in lines if "xid" in line),
        watched=tuple(begun["watching"]) if begun else (),
        deaf=tuple(begun["deaf"]) if begun else (),
        lost=why or (lost[-1] if lost else None),
        samples=tuple(line["sample"] for line in lines if isinstance(line.get("sample"), dict)),
    )


def judge(watched: Watched, cards: Sequence[Card]) -> Iterator[Finding]:
    """Return the findings: events, then what held a card back in the moments in which it had load."""
    yield from gpu_xid.judge(watched.events, watched.watched, watched.deaf, watched.lost)
    known = {one.name for one in fields(Card)}
    found: dict[tuple[str, str], Finding] = {}
    for sample in watched.samples:
        card = next((card for card in cards if card.index == sample.get("index")), None)
        if card is None:
            continue
        moment = replace(card, **{name: value for name, value in sample.items() if name in known})
        if moment.is_lost:
            found[("gpu_lost", str(card.index))] = _lost(card)
        elif (moment.use or 0) > UNDER_LOAD:
            for finding in (*gpu_heat.judge(moment), *gpu_link.judge(moment)):
                if finding.level in (Level.WARN, Level.FAIL):
                    found.setdefault((finding.code, finding.fact), finding)
    yield from found.values()


def _lost(card: Card) -> Finding:
    return Finding(
        code="gpu_lost",
        level=Level.FAIL,
        fact=_("GPU {index}").format(index=card.index),
        value=_("it has left the bus while it was watched"),
        consequence=_("the job hangs or ends when it touches this card"),
        next_step=_("give the machine back, and note its node id"),
    )

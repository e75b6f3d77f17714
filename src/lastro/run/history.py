"""What earlier attempts of a run were, read back from their streams on the disk."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from lastro.journal.events import EventType
from lastro.journal.streams import Event, read_stream
from lastro.locale import _
from lastro.paths import CampaignFolder, stream_of_attempt
from lastro.rules import Cause, End, Life, Stop, StopKind


def read_lives(campaign: CampaignFolder, run: str, last: int) -> list[Life]:
    """Return attempts 1 to `last` of a run; a claim that never started has no life."""
    lives = []
    for number in range(1, last + 1):
        life = life_of(read_stream(campaign.stream(stream_of_attempt(run, number))).events)
        if life is not None:
            lives.append(life)
    return lives


def life_of(events: Sequence[Event]) -> Life | None:
    """Return the life that one stream tells; one that does not tell its end was lost."""
    life: Life | None = None
    saves = _Saves()
    for event in events:
        saves.take_in(event)
        if event.type is EventType.ATTEMPT_STARTED:
            before = event.facts["committed_step"]
            life = Life(
                number=event.facts["attempt"],
                cause=Cause(end=End.LOST, why=_("its machine went away")),
                progress_before=before,
                progress_after=before,
            )
        elif life is not None and event.type is EventType.ITEMS_PUBLISHED:
            done = event.facts["done"]
            before = done if life.items_before is None else life.items_before
            life = replace(life, items_before=before, items_after=done)
        elif life is not None and event.type is EventType.ATTEMPT_ENDED:
            life = replace(life, cause=cause_from_json(event.facts["cause"]))
    if life is not None and saves.step is not None:
        life = replace(life, progress_after=saves.step)
    return life


class _Saves:
    """The last step that counts as saved: with a mirror what has arrived there, as the disk may be gone."""

    def __init__(self) -> None:
        self.step: int | None = None
        self._mirrored = False
        self._unhealthy: set[int] = set()

    def take_in(self, event: Event) -> None:
        if event.type is EventType.MIRROR_OPENED:
            self._mirrored = True
        elif event.type is EventType.CHECKPOINT_COMMITTED:
            if event.facts.get("healthy") is False:
                self._unhealthy.add(event.facts["step"])
            elif not self._mirrored:
                self.step = event.facts["step"]
        elif event.type is EventType.CHECKPOINT_MIRRORED and event.facts["step"] not in self._unhealthy:
            self.step = max(event.facts["step"], self.step or 0)


def committed_step(lives: Sequence[Life]) -> int | None:
    """Return the highest step that any of these lives has committed; None when none has."""
    steps = [life.progress_after for life in lives if life.progress_after is not None]
    return max(steps, default=None)


def cause_from_json(value: Mapping[str, Any]) -> Cause:
    """Read what `Cause.as_json` wrote."""
    stop = value.get("stop")
    return Cause(
        **{
            **value,
            "end": End(value["end"]),
            "stop": Stop(**{**stop, "kind": StopKind(stop["kind"])}) if stop else None,
        }
    )

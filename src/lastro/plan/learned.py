"""Hours of a campaign's runs as a plan keeps them when they were measured."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from lastro.plan.parts import Span
from lastro.records import dataclass


@dataclass(frozen=True, kw_only=True)
class Learned:
    """Hours of a run on one class of card, from what was measured. `gpu` None: no card is known.

    `stage`: the one that is the whole run. `declared`: what the campaign file says of it; None: nothing.
    `count`: observations that went in. `why`: how they were used.
    """

    run: str
    stage: str
    gpu: str | None
    hours: Span
    declared: Span | None
    count: int
    origin: str
    why: str

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> Learned:
        """Read what stands in `plan.json`."""
        declared = value["declared"]
        return cls(
            **{
                **value,
                "hours": Span(**value["hours"]),
                "declared": Span(**declared) if declared else None,
            }
        )

    def as_json(self) -> dict[str, Any]:
        return asdict(self)

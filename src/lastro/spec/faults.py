"""A script of lost machines, for rehearsals."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import Annotated

from pydantic import BeforeValidator, Field

from lastro.spec.base import DurationOrZero, Name, Strict, as_tuple


@dataclass(frozen=True, kw_only=True)
class FaultSpec:
    """One scripted loss: when the run named `run` is seen at `step` or later.

    `index` is its position in the file, from 0. `notice_seconds` None: without notice.
    """

    index: int
    run: str
    step: int
    notice_seconds: float | None


class Fault(Strict):
    """One loss as the file spells it."""

    run: Name
    step: Annotated[int, Field(ge=0)]
    notice: Annotated[
        DurationOrZero | None, BeforeValidator(lambda value: None if value == "none" else value)
    ] = None


class Faults(Strict):
    """A faults file."""

    faults: Annotated[tuple[Fault, ...], BeforeValidator(as_tuple)]

    def specs(self) -> tuple[FaultSpec, ...]:
        """Return the faults in the order of the file."""
        return tuple(
            FaultSpec(index=index, run=fault.run, step=fault.step, notice_seconds=_seconds(fault.notice))
            for index, fault in enumerate(self.faults)
        )


def _seconds(duration: timedelta | None) -> float | None:
    return None if duration is None else duration.total_seconds()

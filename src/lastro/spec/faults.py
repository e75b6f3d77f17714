"""A script of lost and refused machines, for rehearsals."""

from __future__ import annotations

from datetime import timedelta
from typing import Annotated

from pydantic import BeforeValidator, Field, model_validator

from lastro.locale import _
from lastro.records import dataclass
from lastro.spec.base import AlsoWritten, Contradiction, DurationOrZero, Name, Problem, Strict, as_tuple


@dataclass(frozen=True, kw_only=True)
class FaultSpec:
    """One scripted loss: when the run named `run` is seen at `step` or later.

    `index` is its position in the file, from 0. `notice_seconds` None: without notice. With `create` it is a
    refusal instead: that one of the campaign's machines, counted from 1, is not to be had. `silent`: the
    machine is not taken away but freezes, and says nothing any more.
    """

    index: int
    run: str = ""
    step: int = 0
    notice_seconds: float | None = None
    create: int | None = None
    silent: bool = False


class Fault(Strict):
    """One loss as the file spells it: run and step, or create alone."""

    run: Name | None = None
    step: Annotated[int, Field(ge=0)] | None = None
    create: Annotated[int, Field(ge=1)] | None = None
    notice: Annotated[
        DurationOrZero | None,
        BeforeValidator(lambda value: None if value == "none" else value),
        AlsoWritten({"const": "none"}),
    ] = None
    silent: bool = False

    @model_validator(mode="after")
    def _one_kind(self) -> Fault:
        if self.create is not None:
            for name, value in (("run", self.run), ("step", self.step), ("notice", self.notice)):
                if value is not None:
                    raise Contradiction(
                        Problem((name,), _("a machine that is never had has no {name}").format(name=name))
                    )
            if self.silent:
                raise Contradiction(Problem(("silent",), _("a machine that is never had cannot freeze")))
            return self
        if self.silent and self.notice is not None:
            raise Contradiction(Problem(("notice",), _("a machine that freezes gives no notice")))
        for name, value in (("run", self.run), ("step", self.step)):
            if value is None:
                raise Contradiction(
                    Problem(
                        (),
                        _("the key {key!r} is missing").format(key=name),
                        _("write {run: shift, step: 60}, or {create: 2} for a machine that is not to be had"),
                    )
                )
        return self


class Faults(Strict):
    """A faults file."""

    faults: Annotated[tuple[Fault, ...], BeforeValidator(as_tuple)]

    def specs(self) -> tuple[FaultSpec, ...]:
        """Return the faults in the order of the file."""
        return tuple(
            FaultSpec(
                index=index,
                run=fault.run or "",
                step=fault.step or 0,
                notice_seconds=_seconds(fault.notice),
                create=fault.create,
                silent=fault.silent,
            )
            for index, fault in enumerate(self.faults)
        )


def _seconds(duration: timedelta | None) -> float | None:
    return None if duration is None else duration.total_seconds()

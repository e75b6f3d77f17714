"""A script of lost and refused machines, for rehearsals."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from typing import Annotated, Literal

from pydantic import BeforeValidator, Field, model_validator

from lastro.locale import _
from lastro.records import dataclass
from lastro.spec.base import (
    AlsoWritten,
    Contradiction,
    DurationOrZero,
    Name,
    Problem,
    Strict,
    Text,
    as_tuple,
)


@dataclass(frozen=True, kw_only=True)
class FaultSpec:
    """One scripted loss: when the run named `run` is seen at `step` or later.

    `index` is its position in the file, from 0. `notice_seconds` None: without notice. With `create` it is a
    refusal instead: that one of the campaign's machines, counted from 1, is not to be had. `silent`: the
    machine is not taken away but freezes, and says nothing any more. `offer`: machines of that offer alone
    are counted. `never_up` and `finding`: that machine is had, and never boots; or preflight finds this code.
    """

    index: int
    run: str = ""
    step: int = 0
    notice_seconds: float | None = None
    create: int | None = None
    silent: bool = False
    offer: str | None = None
    never_up: bool = False
    finding: str | None = None


class Fault(Strict):
    """One loss as the file spells it: run and step, or create and what befalls that machine."""

    run: Name | None = None
    step: Annotated[int, Field(ge=0)] | None = None
    create: Annotated[int, Field(ge=1)] | None = None
    notice: Annotated[
        DurationOrZero | None,
        BeforeValidator(lambda value: None if value == "none" else value),
        AlsoWritten({"const": "none"}),
    ] = None
    silent: bool = False
    offer: Text | None = None
    boot: Literal["never"] | None = None
    preflight: Text | None = None

    @model_validator(mode="after")
    def _one_kind(self) -> Fault:
        problem = next(self._of_creation() if self.create is not None else self._of_loss(), None)
        if problem is not None:
            raise Contradiction(problem)
        return self

    def _of_creation(self) -> Iterator[Problem]:
        for name, value in (("run", self.run), ("step", self.step), ("notice", self.notice)):
            if value is not None:
                yield Problem((name,), _("a machine that is never had has no {name}").format(name=name))
        if self.silent:
            yield Problem(("silent",), _("a machine that is never had cannot freeze"))
        if self.boot is not None and self.preflight is not None:
            text = _("a machine that never comes up is not looked at by preflight")
            yield Problem(("preflight",), text)

    def _of_loss(self) -> Iterator[Problem]:
        for name, value in (("offer", self.offer), ("boot", self.boot), ("preflight", self.preflight)):
            if value is not None:
                yield Problem(
                    (name,),
                    _("{name} says what befalls a machine when it is asked for").format(name=name),
                    _("say which one, counted from 1: create: 1"),
                )
        if self.silent and self.notice is not None:
            yield Problem(("notice",), _("a machine that freezes gives no notice"))
        for name, missing in (("run", self.run is None), ("step", self.step is None)):
            if missing:
                yield Problem(
                    (),
                    _("the key {key!r} is missing").format(key=name),
                    _("write {run: shift, step: 60}, or {create: 2} for a machine that is not to be had"),
                )


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
                offer=fault.offer,
                never_up=fault.boot is not None,
                finding=fault.preflight,
            )
            for index, fault in enumerate(self.faults)
        )


def _seconds(duration: timedelta | None) -> float | None:
    return None if duration is None else duration.total_seconds()
